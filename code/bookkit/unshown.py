"""Tables that a cell makes and nobody sees: Jupyter shows the value of a cell's last expression and drops the others."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from bookkit.sources import Cell, python_of

MAKERS = ("plotting.table", "table")
"""What returns a table to be shown; a figure shows itself (`plotting.show`)."""


def unshown_tables(cells: Iterable[Cell]) -> list[tuple[int, str]]:
    r"""Return (line of the page, reason) for every table that is made as a statement and not the last of its cell.

    Args:
        cells: of one page; a cell that is no Python is passed over, it fails when it is run.

    Example:
        >>> unshown_tables([Cell(7, "plotting.table([], [])\nprint(1)")])[0][0]
        7
        >>> unshown_tables([Cell(7, "print(1)\nplotting.table([], [])")])
        []
    """
    faults = []
    for cell in cells:
        try:
            body = ast.parse(python_of(cell.source)).body
        except SyntaxError:
            continue
        for node in (node for statement in body for node in ast.walk(statement)):
            if not isinstance(node, ast.Expr) or node is body[-1] or not isinstance(node.value, ast.Call):
                continue
            name = ast.unparse(node.value.func)
            if name in MAKERS:
                faults.append(
                    (
                        cell.line + node.lineno - 1,
                        f"{name} is not the last expression of its cell, so its table is not shown",
                    )
                )
    return faults
