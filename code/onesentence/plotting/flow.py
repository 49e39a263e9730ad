"""Matrices that are computed one from another, drawn from the top down with their numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from onesentence.plotting.shapes import arrow
from onesentence.plotting.style import PALETTE, SEQUENTIAL

WIDTH = 345.6
"""Width of the axes: as many points as there are in 4.8 inches."""

_CELL_WIDTH, _CELL_HEIGHT, _HEAD, _GAP = 35.0, 18.0, 19.0, 18.0


@dataclass(frozen=True)
class _Place:
    """Where a matrix stands; its label lies between `top` and the first row."""

    left: float
    right: float
    top: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def flow_height(levels: Mapping[str, ArrayLike]) -> float:
    """Return the height that the axes must have, in points: 72 of them are an inch.

    Args:
        levels: as for `draw_flow`.
    """
    rows = [int(np.shape(values)[-2]) for values in levels.values()]
    return len(rows) * (_HEAD + _GAP) + sum(rows) * _CELL_HEIGHT


def draw_flow(
    axes: Axes,
    names: Sequence[str],
    levels: Mapping[str, ArrayLike],
    *,
    parts: Sequence[str] = (),
    shaded: Collection[str] = (),
    skips: Mapping[str, str] | None = None,
) -> None:
    """Draw matrices below each other, with arrows from each level to the next and every number to two decimals.

    Args:
        axes: where to draw, with `flow_height` points of height and `WIDTH` of width; its frame is turned off.
        names: of the rows that all matrices share, drawn at the left of each.
        levels: label, mathtext allowed, to a matrix (rows, columns) or to two that stand side by side, (2, rows,
            columns), from the top down.
        parts: what the two of such a pair are called; part of their labels.
        shaded: labels of matrices with values from 0 to 1, shown by the ground of their entries.
        skips: label of a matrix to that of one further down, joined by a line along the left margin: what is added
            again there.

    Raises:
        ValueError: if a matrix has not one row for each name, there is a pair without two parts, or a label of
            `shaded` or `skips` is unknown, or a skip does not go down between single matrices.
    """
    skips = {} if skips is None else skips
    _check(names, levels, parts, shaded, skips)
    places: dict[str, list[_Place]] = {}
    y = 0.0
    for label, values in levels.items():
        array = np.asarray(values, dtype=float)
        heads = [f"{part}　{label}" for part in parts] if array.ndim == 3 else [label]
        centres = (WIDTH * 0.3, WIDTH * 0.8) if array.ndim == 3 else (WIDTH * 0.54,)
        matrices = array if array.ndim == 3 else array[None]
        places[label] = []
        for head, matrix, centre in zip(heads, matrices, centres, strict=True):
            axes.text(centre, y + _HEAD / 2, head, ha="center", va="center", fontsize=12)
            places[label].append(_matrix(axes, names, matrix, (centre, y), shaded=label in shaded))
        y += _HEAD + len(names) * _CELL_HEIGHT + _GAP
    for above, below in pairwise(places.values()):
        straight = len(above) == len(below)  # two above two do not cross
        for a, b in zip(above, below, strict=True) if straight else product(above, below):
            arrow(axes, (a.middle, a.bottom + 1), (b.middle, b.top), width=1.1)
    for start, stop in skips.items():
        _skip(axes, places[start][0], places[stop][0])
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(y, 0)
    axes.axis("off")


def _matrix(
    axes: Axes, names: Sequence[str], values: NDArray[np.float64], place: tuple[float, float], *, shaded: bool
) -> _Place:
    """Draw the entries and the names of the rows below a label at `place`, its middle and top."""
    centre, y = place
    width, height = _CELL_WIDTH, _CELL_HEIGHT
    left, top = centre - values.shape[1] * width / 2, y + _HEAD
    for i, name in enumerate(names):
        axes.text(left - 4, top + (i + 0.5) * height, name, ha="right", va="center", fontsize=11.5)
    for (i, j), value in np.ndenumerate(values):
        x, row = left + j * width, top + i * height
        face = SEQUENTIAL(value) if shaded else PALETTE["tile"]
        axes.add_patch(Rectangle((x, row), width, height, facecolor=face, edgecolor="#ffffff", linewidth=1))
        text = f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")
        ink = "#ffffff" if shaded and value > 0.55 else PALETTE["ink"]
        axes.text(x + width / 2, row + height / 2, text, ha="center", va="center", fontsize=11, color=ink)
    return _Place(left, left + values.shape[1] * width, y, top + len(names) * height)


def _skip(axes: Axes, start: _Place, stop: _Place) -> None:
    """Draw from the left of one matrix, round the outside, to the arrow above another."""
    outside, red = 6.0, PALETTE["vermilion"]
    level, join = (start.top + _HEAD + start.bottom) / 2, stop.top - _GAP / 2
    corners = [start.left - 21, outside, outside], [level, level, join]
    axes.plot(*corners, color=red, linewidth=1.4, linestyle="--")
    arrow(axes, (outside, join), (stop.middle - 6, join), "vermilion", width=1.4, dash="--")
    ground = {"boxstyle": "circle,pad=0.08", "facecolor": "#ffffff", "edgecolor": red}
    axes.text(stop.middle, join, "+", ha="center", va="center", fontsize=11, color=red, bbox=ground, zorder=4)


def _check(
    names: Sequence[str],
    levels: Mapping[str, ArrayLike],
    parts: Sequence[str],
    shaded: Collection[str],
    skips: Mapping[str, str],
) -> None:
    for label, values in levels.items():
        shape = np.shape(values)
        if len(shape) not in (2, 3) or shape[-2] != len(names) or shape[:-2] not in ((), (2,)):
            expected = f"(2, {len(names)}, columns) or ({len(names)}, columns)"
            raise ValueError(f"levels: {label!r} must have shape {expected}, got {shape}")
        if len(shape) == 3 and len(parts) != 2:
            raise ValueError(f"parts: {label!r} is a pair, so two names are needed, got {len(parts)}")
    order = list(levels)
    for label in (*shaded, *skips, *skips.values()):
        if label not in levels:
            raise ValueError(f"no level is called {label!r}; there are {', '.join(order)}")
    for start, stop in skips.items():
        if order.index(start) >= order.index(stop) or {np.ndim(levels[start]), np.ndim(levels[stop])} != {2}:
            raise ValueError(f"skips: {start!r} to {stop!r} must go down from one single matrix to another")
