"""Sequences of tokens drawn as rows of tiles, one under the other, with the tokens that differ filled in."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from onesentence.plotting.style import PALETTE

_EDGE = 0.5
_GAP = 0.25
_INCH = 0.133
"""Width of one Chinese character at the size of the tokens."""


def draw_sequences(rows: Sequence[Sequence[str]], ends: Sequence[str] = ()) -> Figure:
    """Draw token sequences of the same length under each other.

    Places where the rows do not agree are drawn in vermilion with white text, with a line around each.

    Args:
        rows: at least one sequence, all of one length.
        ends: what follows each row, an answer, set off by an arrow; none if empty.

    Returns:
        The figure, as wide as the tokens need, to be shown with `show`.

    Raises:
        ValueError: if there is no token, the lengths differ, or there is not one end for each row.
    """
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(f"rows: expected sequences of one length, at least 1, got {[len(r) for r in rows]}")
    if ends and len(ends) != len(rows):
        raise ValueError(f"ends: expected {len(rows)}, one for each row, got {len(ends)}")
    widths = [max(map(len, column)) + _EDGE for column in zip(*rows, strict=True)]
    lefts = [sum(widths[:i]) + i * _GAP for i in range(len(widths))]
    right = lefts[-1] + widths[-1]
    room = max(map(len, ends)) + 2.4 if ends else 0.2
    figure = plt.figure(figsize=(_INCH * (right + room + 0.2), 0.42 * len(rows) + 0.1))
    axes = figure.add_axes((0, 0, 1, 1))
    for line, row in enumerate(rows):
        for place, token in enumerate(row):
            differs = any(other[place] != token for other in rows)
            _tile(axes, lefts[place], widths[place], -line, token, differs)
        if ends:
            axes.text(
                right + 0.5, -line, f"→ {ends[line]}", va="center", fontsize=10.5, color=PALETTE["teal"]
            )
    axes.set_xlim(-0.2, right + room)
    axes.set_ylim(0.5 - len(rows), 0.5)
    axes.axis("off")
    return figure


def _tile(axes: Axes, left: float, width: float, y: float, token: str, differs: bool) -> None:
    box = FancyBboxPatch(
        (left, y - 0.34),
        width,
        0.68,
        boxstyle="round,pad=0,rounding_size=0.14",
        facecolor=PALETTE["vermilion"] if differs else PALETTE["tile"],
        edgecolor=PALETTE["ink"] if differs else PALETTE["rule"],
        linewidth=1.4 if differs else 0.8,
    )
    axes.add_patch(box)
    colour = "#ffffff" if differs else PALETTE["ink"]
    axes.text(left + width / 2, y, token, ha="center", va="center", fontsize=9.5, color=colour)
