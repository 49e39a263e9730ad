"""Reading pages as text: front matter, cells, headers."""

from __future__ import annotations

import pytest

from bookkit.lint import page_faults
from bookkit.sources import Cell, front_matter, header_faults, read_cells

HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---
"""


def test_cells_carry_lines_and_tags() -> None:
    text = HEADER + (
        "# 题\n\n```{code-cell} ipython3\n:tags: [hide-input, solution]\n\nx = 1\ny = 2\n```\n\n"
        "```{code-cell} ipython3\n---\nmystnb:\n  image:\n    alt: 图\n---\nz = 3\n```\n"
    )
    cells = read_cells(text)
    assert [(c.source, c.tags) for c in cells] == [
        ("x = 1\ny = 2", ("hide-input", "solution")),
        ("z = 3", ()),
    ]
    for cell in cells:
        assert text.split("\n")[cell.line - 1] == cell.source.split("\n")[0]


def test_code_shown_in_a_longer_fence_is_no_cell() -> None:
    assert read_cells("````\n```{code-cell}\n1\n```\n````\n") == []


def test_unclosed_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1: this code cell is not closed"):
        read_cells("```{code-cell}\n1\n")


def test_front_matter_that_is_no_yaml_is_refused() -> None:
    with pytest.raises(ValueError, match="front matter: not valid YAML"):
        front_matter("---\na: [1\n---\n")
    with pytest.raises(ValueError, match="front matter: expected keys and values, got list"):
        front_matter("---\n- 1\n---\n")


def test_full_header_has_no_fault() -> None:
    assert header_faults(HEADER + "```{code-cell}\n1\n```\n") == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("jupytext:", "jupy:", "no jupytext header"),
        ("    format_name: myst\n", "", "format_name must be myst, got None"),
        ("format_version: 0.13", "format_version: 0.12", "format_version must be 0.13, got 0.12"),
        ("extension: .md", "extension: .myst", "extension must be .md, got .myst"),
        ("  name: python3", "  name: venv", "name must be python3, got venv"),
        ("display_name: Python 3", 'display_name: "Python 3"', "without quotes"),
        ("display_name: Python 3", "display_name: Python 3  # mine", "without quotes"),
        ("jupytext:", "mystnb:\n  execution_mode: off\njupytext:", "may not set mystnb options"),
        (
            "display_name: Python 3",
            "display_name: mine",
            "write `display_name: Python 3` on a line of its own, without quotes; got 'mine'",
        ),
    ],
)
def test_header_fault_is_named(old: str, new: str, reason: str) -> None:
    faults = header_faults(HEADER.replace(old, new) + "```{code-cell}\n1\n```\n")
    assert len(faults) == 1
    assert reason in faults[0]


def test_page_without_cells_needs_no_header() -> None:
    assert header_faults("# 题\n") == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("```{code-cell}\n" + "x = 1\n" * 19 + "```\n", "cell of 19 lines"),
        ("```{code-cell}\nx = '" + "书" * 40 + "'\n```\n", "line of 86 columns"),
        ("第一行，\n第二行。\n", "goes on in a second line"),
    ],
)
def test_lint_names_what_is_wrong(body: str, reason: str) -> None:
    faults = page_faults(HEADER + body)
    assert len(faults) == 1
    assert reason in faults[0][1]


def test_lint_lets_lists_tables_and_code_be() -> None:
    body = "- 一；\n- 二。\n\n| 甲 | 乙 |\n|---|---|\n| 书 | 书 |\n\n```{note}\n中文\n中文\n```\n\nEnglish\nlines\n"
    assert page_faults(HEADER + body) == []


def test_cell_reader_matches_the_type() -> None:
    assert isinstance(read_cells("```{code-cell}\n1\n```")[0], Cell)
