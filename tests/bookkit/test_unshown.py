"""Tables that a cell drops."""

from __future__ import annotations

import pytest

from bookkit.sources import Cell
from bookkit.unshown import unshown_tables


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("plotting.table(h, r)\nguard('claim', x)", [20]),
        ("a = 1\nplotting.table(h, r)\nplotting.table(h, r)", [21]),
        ("for r in rows:\n    plotting.table(h, r)", [21]),
        ("if x:\n    plotting.table(h, r)\na", [21]),
        ("table(h, r)\nprint(1)", [20]),
    ],
)
def test_unshown_tables_finds(code: str, lines: list[int]) -> None:
    faults = unshown_tables([Cell(3, "x = 1"), Cell(20, code)])
    assert [line for line, _ in faults] == lines
    assert "not the last expression of its cell" in faults[0][1]


@pytest.mark.parametrize(
    "code",
    [
        "guard('claim', x)\nplotting.table(h, r)",
        "t = plotting.table(h, r)\nprint(t)",
        "display(plotting.table(h, r))\nprint(1)",
        "plotting.show(figure)\nprint(1)",
        "not python (",
        "",
    ],
)
def test_unshown_tables_lets_through(code: str) -> None:
    assert unshown_tables([Cell(20, code)]) == []
