"""Tables in cells: aligned numbers, a caption, the same rounding everywhere."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table, shown when it is the last expression of a cell.

    Attributes:
        columns: heads of the columns.
        rows: cells, row by row.
        caption: Chinese caption, which also names the table on the evidence page.
        digits: decimals of floating-point numbers.
        row_heads: whether the first column names its row.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str
    digits: int = 6
    row_heads: bool = True

    def __post_init__(self) -> None:
        if not self.caption.strip():
            raise ValueError("caption: expected text that says what the table shows, got nothing")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(f"rows: row {number} has {len(row)} cells, expected {len(self.columns)}")

    def format(self, value: Any) -> str:
        """Return the text of one cell: fixed decimals, a true minus sign, Chinese truth values."""
        if isinstance(value, bool) or type(value).__name__ == "bool":
            return "是" if value else "否"
        if hasattr(value, "item") and not isinstance(value, str):
            value = value.item()
        if isinstance(value, float):
            text = f"{value:.{self.digits}f}"
            return (text.removeprefix("-") if float(text) == 0 else text).replace("-", "−")
        if _is_number(value):
            return str(value).replace("-", "−")
        return "—" if value is None else str(value)

    def __repr__(self) -> str:
        lines = [" | ".join(self.columns), *(" | ".join(self.format(v) for v in row) for row in self.rows)]
        return "\n".join([self.caption, *lines])

    def _repr_html_(self) -> str:
        numeric = [i > 0 and all(_is_number(row[i]) for row in self.rows) for i in range(len(self.columns))]
        head = "".join(
            f'<th scope="col"{" class=num" if number else ""}>{html.escape(name)}</th>'
            for name, number in zip(self.columns, numeric, strict=True)
        )
        body = "".join(f"<tr>{self._row(row)}</tr>" for row in self.rows)
        caption = html.escape(self.caption)
        return (
            f'<div class="table-scroll" tabindex="0" role="region" aria-label="{html.escape(self.caption, quote=True)}">'
            f'<table class="table"><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def _row(self, row: tuple[Any, ...]) -> str:
        cells = []
        for position, value in enumerate(row):
            text = html.escape(self.format(value))
            if position == 0 and self.row_heads:
                cells.append(f'<th scope="row">{text}</th>')
            else:
                cells.append(f'<td class="num">{text}</td>' if _is_number(value) else f"<td>{text}</td>")
        return "".join(cells)


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool)


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str,
    digits: int = 6,
    row_heads: bool = True,
) -> Table:
    """Return a table to leave as the last expression of a cell.

    Args:
        columns: heads of the columns.
        rows: cells, row by row; numbers, text, booleans, None.
        caption: what the table shows.
        digits: decimals of floating-point numbers.
        row_heads: whether the first column names its row.

    Raises:
        ValueError: if a row has another number of cells than there are columns, or the caption is empty.

    Example:
        >>> table(["槽", "权重"], [["他", 0.25], ["书", -0.0]], caption="例", digits=2)
        例
        槽 | 权重
        他 | 0.25
        书 | 0.00
    """
    return Table(tuple(columns), tuple(tuple(row) for row in rows), caption, digits, row_heads)
