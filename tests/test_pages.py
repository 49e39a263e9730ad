"""The sources of the pages: how they are written, and that JupyterLab keeps what stands in them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import LargeFileManager
from jupytext.config import load_jupytext_configuration_file
from jupytext.sync_contentsmanager import build_sync_jupytext_contents_manager_class

from bookkit import sources
from bookkit.lint import cell_faults, main, page_faults

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / "book").rglob("*.md") if "/." not in path.as_posix()
)
EXECUTED = [page for page in PAGES if sources.has_cells((ROOT / page).read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES)
def test_page_is_written_by_the_rules(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert page_faults(text) == []
    assert cell_faults(text, page) == []


@pytest.mark.parametrize("page", EXECUTED)
def test_page_saved_in_jupyterlab_keeps_its_keys_and_cells(page: str, tmp_path: Path) -> None:
    """Open a page as a notebook and save it, as a double click and Ctrl+S do."""
    target = tmp_path / page
    target.parent.mkdir(parents=True)
    shutil.copy(ROOT / page, target)
    shutil.copy(ROOT / "jupytext.toml", tmp_path)
    assert load_jupytext_configuration_file(str(tmp_path / "jupytext.toml"))
    manager = build_sync_jupytext_contents_manager_class(LargeFileManager)(root_dir=str(tmp_path))
    model = manager.get(page, type="notebook")
    model["content"]["metadata"]["kernelspec"]["display_name"] = "Python 3 (ipykernel)"
    manager.save(model, page)
    before, after = (path.read_text(encoding="utf-8") for path in (ROOT / page, target))
    matters = [sources.front_matter(text) for text in (before, after)]
    for key in ("identity", "covers"):
        assert matters[0].get(key) == matters[1].get(key)
    assert sources.header_faults(after) == []
    cells = [[(cell.source, cell.tags) for cell in sources.read_cells(text)] for text in (before, after)]
    assert cells[0] == cells[1]
    assert [line for line in sources.prose(before).split("\n") if line] == [
        line for line in sources.prose(after).split("\n") if line
    ]


def test_lint_passes_over_hidden_folders_and_names_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hidden = tmp_path / ".ipynb_checkpoints"
    hidden.mkdir()
    (hidden / "a.md").write_text("第一行，\n第二行。\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 0
    header = (ROOT / EXECUTED[0]).read_text(encoding="utf-8").split("\n---\n")[0] + "\n---\n"
    text = header + "\n```{code-cell} ipython3\nx = 1\n```\n\n```{code-cell} ipython3\ny = missing\n```\n"
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    line = text.split("\n").index("y = missing") + 1
    assert f"a.md:{line}: F821" in capsys.readouterr().out
