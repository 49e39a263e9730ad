"""The cache that knows the code: which pages run after which change, and what damage does."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from bookkit.keys import page_imports
from onesentence.evidence import closure

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def coded(lay_once, tmp_path_factory: pytest.TempPathFactory):
    """The small book with its own copy of the package and the lock, built once; tests mend what they change."""
    book = lay_once(tmp_path_factory.mktemp("coded") / "book")
    book.own_code = True
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "code" / "onesentence", book.root / "code" / "onesentence", ignore=ignore)
    (book.root / "assets" / "fonts").symlink_to(ROOT / "assets" / "fonts")
    shutil.copy(ROOT / "requirements.txt", book.root)
    assert book.executed() == {"alpha", "beta"}
    return book


class Changed:
    """Appends a line to a file for the time of a `with` block."""

    def __init__(self, path: Path, line: str = "# changed\n") -> None:
        self.path, self.line, self.before = path, line, path.read_bytes()

    def __enter__(self) -> None:
        self.path.write_bytes(self.before + self.line.encode())

    def __exit__(self, *error: object) -> None:
        self.path.write_bytes(self.before)


CHANGES: tuple[tuple[str, set[str]], ...] = (
    ("code/onesentence/sentence/example.py", {"alpha"}),  # imported by the page
    ("code/onesentence/plotting/style.py", {"beta"}),
    ("code/onesentence/evidence/emit.py", {"alpha"}),  # imported by what it imports
    ("code/onesentence/plotting/__init__.py", {"beta"}),
    ("code/onesentence/evidence/data/sections.json", {"alpha"}),  # declared by a module that it imports
    ("code/onesentence/attention/read.py", set()),  # imported by no page here
    ("code/onesentence/__init__.py", {"alpha", "beta"}),
    ("code/onesentence/attention/__init__.py", set()),
    ("requirements.txt", {"alpha", "beta"}),
)


def test_changed_file_runs_the_pages_that_use_it_and_no_other(coded) -> None:
    """No two neighbours have a page in common: were one that is put back not still cached, the next build would run it."""
    assert not [pair for pair in pairwise(pages for _, pages in CHANGES) if pair[0] & pair[1]]
    for file, pages in CHANGES:
        with Changed(coded.root / file, "\n" if file.endswith(".json") else "# changed\n"):
            assert coded.executed() == pages, file
    assert coded.executed() == set(), "what was there before is still cached"


def test_changed_function_changes_the_page(coded) -> None:
    """The point of it all: no page keeps what other code has printed."""
    module = coded.root / "code" / "onesentence" / "numerics.py"
    before = module.read_text(encoding="utf-8")
    assert "0.881" in (coded.html / "book" / "beta.html").read_text(encoding="utf-8")
    assert before.count("return exponentials / np.where(total > 0, total, 1)") == 1
    module.write_text(
        before.replace("return exponentials / np", "return 0.5 * exponentials / np"), encoding="utf-8"
    )
    assert coded.executed() == {"beta"}
    page = (coded.html / "book" / "beta.html").read_text(encoding="utf-8")
    assert "0.44" in page
    assert "0.881" not in page
    module.write_text(before, encoding="utf-8")
    assert coded.executed() == set()
    assert "0.881" in (coded.html / "book" / "beta.html").read_text(encoding="utf-8")


def test_changed_text_runs_nothing(coded) -> None:
    with Changed(coded.page("alpha"), "\n新的一句话。\n"):
        assert coded.executed() == set()
        assert "新的一句话。" in (coded.html / "book" / "alpha.html").read_text(encoding="utf-8")
    assert coded.executed() == set()


def test_changed_style_reaches_the_site_and_runs_nothing(coded) -> None:
    with Changed(coded.root / "assets" / "css" / "book.css", "/* 新的样式 */\n"):
        assert coded.executed() == set()
        assert "新的样式" in (coded.html / "_static" / "css" / "book.css").read_text(encoding="utf-8")
    assert coded.executed() == set()


def test_added_page_runs_alone_and_a_removed_one_leaves_the_site(coded) -> None:
    text = coded.page("alpha").read_text(encoding="utf-8")
    head = text[: text.index("covers:")] + "---\n\n"
    coded.page("gamma").write_text(
        head + "(gamma)=\n# 丙页\n\n```{code-cell} ipython3\nprint(3)\n```\n", encoding="utf-8"
    )
    toc = coded.root / "_toc.yml"
    with Changed(toc, "  - file: book/gamma\n"):
        assert coded.executed() == {"gamma"}
        assert (coded.html / "book" / "gamma.html").is_file()
    coded.page("gamma").unlink()
    assert coded.executed() == set()
    assert not (coded.html / "book" / "gamma.html").exists()


def test_damaged_database_is_replaced_with_a_line_saying_so(coded) -> None:
    (coded.root / "_build" / ".jupyter_cache" / "global.db").write_bytes(b"this is no database" * 100)
    with Changed(coded.page("alpha"), "\n一句话。\n"):
        status, output = coded.build()
        assert status == 0, output
        assert "execution cache cannot be read" in output
        assert "executed 1 pages" in output
    assert coded.executed() == set()


def test_damaged_entry_is_run_again_with_a_line_saying_so(coded) -> None:
    entries = sorted((coded.root / "_build" / ".jupyter_cache" / "executed").glob("*/base.ipynb"))
    assert entries
    for entry in entries:
        entry.write_text("{", encoding="utf-8")
    with Changed(coded.page("alpha"), "\n又一句。\n"):
        status, output = coded.build()
        assert status == 0, output
        assert "cached outputs of book/alpha cannot be read" in output
        assert "executed 1 pages" in output
    assert coded.executed() == set()


@pytest.mark.parametrize(
    "cell",
    [
        " ```{code-cell} ipython3\n{code}\n ```",
        "```x```是行内代码。\n\n```{code-cell} ipython3\n{code}\n```",
        "```{code-cell} ipython3\n%%time\n{code}\n```",
        "```{code-cell} ipython3\n%%capture\n{code}\n```",
    ],
    ids=["indented-fence", "inline-code-of-three-backticks", "timed-cell", "captured-cell"],
)
def test_no_way_of_writing_a_cell_hides_its_imports(cell: str) -> None:
    code = 'from onesentence.attention import read\nprint("三")'
    assert "onesentence.attention.read" in page_imports(cell.replace("{code}", code))


def test_imports_by_name_are_followed_and_computed_names_refused() -> None:
    cell = "```{code-cell} ipython3\nimport importlib\nimportlib.import_module({name})\n```"
    assert "onesentence.late" in page_imports(cell.replace("{name}", '"onesentence.late"'))
    with pytest.raises(ValueError, match="import_module with a name that is computed"):
        page_imports(cell.replace("{name}", '"onesentence." + late'))


def test_module_beside_the_package_and_nested_data_are_seen(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("if True:\n    DATA_FILES = ('a.txt',)\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("1", encoding="utf-8")
    before = closure.code_key(["helper"], (tmp_path,))
    (tmp_path / "a.txt").write_text("2", encoding="utf-8")
    assert closure.code_key(["helper"], (tmp_path,)) != before
    (tmp_path / "helper.py").write_text("import numpy as", encoding="utf-8")
    with pytest.raises(closure.ClosureError, match=r"helper\.py: line 1: not valid Python"):
        closure.code_key(["helper"], (tmp_path,))


def during(book, change) -> tuple[int, str]:
    """Build, and change something while a page runs, which waits for it."""
    for name in ("running", "changed"):
        (book.root / name).unlink(missing_ok=True)
    build = book.start()
    until = time.monotonic() + 60
    while not (book.root / "running").exists() and time.monotonic() < until:
        time.sleep(0.05)
    change()
    (book.root / "changed").touch()
    return build.wait()


def test_what_changes_while_a_page_runs_is_not_kept(coded) -> None:
    """Code of one moment must not be published under the key of another; a page saved meanwhile is not run unseen."""
    page, module = coded.page("alpha"), coded.root / "code" / "onesentence" / "sentence" / "example.py"
    text, code = page.read_text(encoding="utf-8"), module.read_text(encoding="utf-8")
    slow = (
        f"import pathlib, time\n\nroot = pathlib.Path({str(coded.root)!r})\n(root / 'running').touch()\n"
        "while not (root / 'changed').exists():\n    time.sleep(0.05)\nprint(1)"
    )
    try:
        coded.edit("alpha", 'print("八步")', slow)
        status, output = during(coded, lambda: module.write_text(code + "\nLATE = 1\n", encoding="utf-8"))
        assert status == 1
        assert "book/alpha.md:1: ERROR: code or data that the page uses changed while it ran" in output
        assert "alpha" in coded.executed(), "nothing was kept"

        coded.edit("alpha", "print(1)", "print(2)")
        bad = page.read_text(encoding="utf-8").replace("print(2)", "print(object())")
        status, output = during(coded, lambda: page.write_text(bad, encoding="utf-8"))
        assert status == 1
        assert "the page was saved while the book was built" in output
        status, output = coded.build()
        assert status == 1
        assert "an object's address" in output
    finally:
        page.write_text(text, encoding="utf-8")
        module.write_text(code, encoding="utf-8")
    assert coded.executed() == set()


def test_cached_output_that_may_not_be_shown_is_run_again(coded) -> None:
    for entry in (coded.root / "_build" / ".jupyter_cache" / "executed").glob("*/base.ipynb"):
        entry.write_text(
            entry.read_text(encoding="utf-8").replace("八步", "<object at 0x7f00deadbeef>"), encoding="utf-8"
        )
    with Changed(coded.page("alpha"), "\n第三句。\n"):
        status, output = coded.build()
    assert status == 0, output
    assert "cached outputs of book/alpha cannot be read" in output
    assert "八步" in (coded.html / "book" / "alpha.html").read_text(encoding="utf-8")


def test_page_that_the_table_of_contents_names_in_vain_is_named(coded) -> None:
    text = coded.page("beta").read_text(encoding="utf-8")
    try:
        coded.page("beta").unlink()
        for _ in range(2):
            status, output = coded.build()
            assert status == 1
            assert "_toc.yml names book/beta, but there is no such page" in output
            assert "Traceback" not in output
    finally:
        coded.page("beta").write_text(text, encoding="utf-8")
    assert coded.executed() == set()


def killed(book, when: str) -> str:
    """Start a build, kill it once it has printed something, return what it printed."""
    build = book.start()
    seen = ""
    for line in build.stdout:
        seen += line
        if when in re.sub(r"\x1b\[[0-9;]*m", "", line):
            break
    else:
        pytest.fail(f"the build ended before it printed {when!r}: {seen}")
    build.kill()
    assert build.wait()[0] == -signal.SIGKILL
    return seen


def test_killed_build_is_made_good_by_the_next(coded) -> None:
    for when in (
        *("updating environment", "executed [1/", "reading sources... [ 67%]"),
        *("writing output... [ 33%]", "copying assets"),
    ):
        word = "被中断的一句" + "".join("甲乙丙丁戊己庚辛壬癸"[int(d)] for d in str(time.monotonic_ns()))
        with (
            Changed(coded.page("alpha"), f"\n{word}。\n"),
            Changed(coded.root / "code" / "onesentence" / "__init__.py", f"# {word}\n"),
        ):
            killed(coded, when)
            status, output = coded.build()
            assert status == 0, output
            for page in ("alpha", "beta", "index"):
                assert (coded.html / "book" / f"{page}.html").is_file()
            assert word in (coded.html / "book" / "alpha.html").read_text(encoding="utf-8")
            assert "八步" in (coded.html / "book" / "alpha.html").read_text(encoding="utf-8")
            assert "0.881" in (coded.html / "book" / "beta.html").read_text(encoding="utf-8")
    assert coded.build()[0] == 0


def test_interrupted_build_stops_at_once_with_its_kernels(coded) -> None:
    """Ctrl-C reaches the build alone: kernels live in sessions of their own."""
    page = coded.page("alpha").read_text(encoding="utf-8")
    try:
        coded.edit("alpha", 'print("八步")', "import time\n\ntime.sleep(100)\nprint(1)")
        process = subprocess.Popen(
            **coded.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # a shell that runs the tests in the background has Ctrl-C ignored, and so would the build
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        kernels: list[psutil.Process] = []
        until = time.monotonic() + 60
        while not kernels and time.monotonic() < until and process.poll() is None:
            children = psutil.Process(process.pid).children(recursive=True)
            kernels = [child for child in children if "ipykernel" in " ".join(child.cmdline())]
        assert kernels
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)  # the cell would sleep for longer
        assert process.returncode != 0, output
        assert psutil.wait_procs(kernels, timeout=30)[1] == []
    finally:
        coded.page("alpha").write_text(page, encoding="utf-8")
    assert coded.executed() <= {"beta"}


def test_five_clean_parallel_builds_in_a_row(lay, tmp_path: Path) -> None:
    book = lay(tmp_path / "book")
    for _ in range(5):
        shutil.rmtree(book.root / "_build", ignore_errors=True)
        assert book.executed() == {"alpha", "beta"}
