"""Tables that others published, as the book quotes them: numbers with their paper, version and table.

`data/literature.json` holds the cells that were confirmed, and null where the paper's cell is empty; nothing is filled
in. The book has not run any of it.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

DATA_FILES = ("data/literature.json",)


class LiteratureError(ValueError):
    """A table or a column that is not quoted here."""


@dataclass(frozen=True)
class Published:
    """One published table.

    Attributes:
        id: stable name.
        source: paper, version and table, what the columns measure.
        columns: their names.
        rows: cells, None where the paper's is empty.
        note: what a reader of the numbers must know.
    """

    id: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str

    def __post_init__(self) -> None:
        if wrong := [row for row in self.rows if len(row) != len(self.columns)]:
            raise LiteratureError(f"{self.id}: expected {len(self.columns)} cells, got {wrong[0]!r}")

    def column(self, name: str) -> tuple[Any, ...]:
        """Return the cells of one column, in the order of the rows.

        Args:
            name: one of `columns`.

        Raises:
            LiteratureError: if there is no such column.
        """
        if name not in self.columns:
            raise LiteratureError(f"{self.id}: expected one of {', '.join(self.columns)}, got {name!r}")
        return tuple(row[self.columns.index(name)] for row in self.rows)


@cache
def _load() -> dict[str, Any]:
    text = resources.files("onesentence.evidence").joinpath("data", "literature.json").read_text("utf-8")
    tables: dict[str, Any] = json.loads(text)
    return tables


def published(name: str) -> Published:
    """Return one published table.

    Args:
        name: its id.

    Raises:
        LiteratureError: if no table has this id.

    Example:
        >>> published("transformer-v1-table2").rows[0][:3]
        ('ByteNet', False, 23.75)
    """
    tables = _load()
    if name not in tables:
        near = difflib.get_close_matches(name, tables, n=1)
        raise LiteratureError(
            f"no published table {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    table = tables[name]
    rows = tuple(tuple(row) for row in table["rows"])
    return Published(name, table["source"], tuple(table["columns"]), rows, table["note"])
