"""Setting formulas: what KaTeX gives, what it refuses, and that its process ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookkit.maths import FormulaError, Katex

SCRIPT = Path(__file__).resolve().parents[2] / "assets" / "vendor" / "katex" / "katex.min.js"


@pytest.fixture
def katex():
    katex = Katex(SCRIPT)
    yield katex
    katex.close()


def test_render_gives_html_and_mathml(katex: Katex) -> None:
    html = katex.render(r"\alpha_{ij}")
    assert "katex-html" in html
    assert "<math" in html
    assert "katex-display" not in html
    assert "katex-display" in katex.render(r"\alpha", display=True)


def test_render_refuses_an_unknown_command_and_goes_on(katex: Katex) -> None:
    with pytest.raises(FormulaError, match=r"Undefined control sequence: \\unknown"):
        katex.render(r"\unknown")
    assert "katex-html" in katex.render("x")


def test_render_keeps_line_breaks_and_chinese_apart(katex: Katex) -> None:
    assert "书" in katex.render("\\text{书}\n+ 1")


def test_close_ends_the_process(katex: Katex) -> None:
    katex.render("x")
    process = katex.process
    assert process is not None
    katex.close()
    assert process.returncode == 0


def test_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"katex\.min\.js is not in .*make vendor"):
        Katex(tmp_path / "katex.min.js").render("x")
