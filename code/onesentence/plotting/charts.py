"""Recurring charts: heat maps with their true range, grouped bars that start at zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from onesentence.plotting.legend import legend
from onesentence.plotting.style import PALETTE, SEQUENTIAL

HATCHES = ("", "///", "...", "xx")
MARKERS = (("vermilion", "o"), ("teal", "^"), ("ochre", "D"), ("plum", "*"))


def heatmap(
    axes: Axes,
    matrix: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limits: tuple[float, float] = (0.0, 1.0),
    digits: int = 2,
) -> Any:
    """Draw a matrix as coloured cells with their numbers.

    Args:
        axes: where to draw.
        matrix: shape (len(rows), len(columns)).
        rows: names of the rows, drawn at the left.
        columns: names of the columns, drawn at the bottom.
        limits: values of the palest and the deepest colour.
        digits: decimals printed in the cells.

    Returns:
        The image, for a colour bar.

    Raises:
        ValueError: if the names do not fit the matrix, or a value lies outside the limits.
    """
    values = np.asarray(matrix, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"matrix: shape {values.shape} does not fit {len(rows)} rows and {len(columns)} columns"
        )
    low, high = limits
    if not (low - 1e-9 <= values.min() and values.max() <= high + 1e-9):
        raise ValueError(
            f"limits: values reach from {values.min():g} to {values.max():g}, outside {low:g} to {high:g}"
        )
    image = axes.imshow(values, cmap=SEQUENTIAL, vmin=low, vmax=high, aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (i, j), value in np.ndenumerate(values):
        dark = (value - low) / (high - low) > 0.55
        axes.text(
            j,
            i,
            f"{value:.{digits}f}".replace("-", "−"),
            ha="center",
            va="center",
            color="#ffffff" if dark else PALETTE["ink"],
        )
    return image


def bars(
    axes: Axes,
    groups: Mapping[str, ArrayLike],
    names: Sequence[str],
    *,
    digits: int = 3,
    colours: Sequence[str] = ("vermilion", "teal", "ochre", "plum"),
) -> None:
    """Draw grouped horizontal bars from zero, each with its number; groups differ in colour and hatching.

    Args:
        axes: where to draw.
        groups: name of a group to its non-negative values, one per name.
        names: what the values belong to, drawn from the top down.
        digits: decimals printed at the bars.
        colours: names in `PALETTE`, one per group; source-side things are vermilion, target-side ones teal.

    Raises:
        ValueError: if a group has another number of values than there are names, or a negative one.
    """
    if len(groups) > len(colours):
        raise ValueError(f"groups: {len(groups)} groups but {len(colours)} colours")
    height = 0.8 / len(groups)
    top = max(float(np.max(np.asarray(values))) for values in groups.values())
    for order, (group, values) in enumerate(groups.items()):
        lengths = np.asarray(values, dtype=float)
        if lengths.shape != (len(names),):
            raise ValueError(f"groups: {group!r} has shape {lengths.shape}, expected ({len(names)},)")
        if lengths.min() < 0:
            raise ValueError(f"groups: {group!r} has a negative value {lengths.min():g}; bars start at zero")
        places = np.arange(len(names)) + (order - (len(groups) - 1) / 2) * height
        axes.barh(
            places,
            lengths,
            height * 0.92,
            label=group,
            color=PALETTE[colours[order]],
            edgecolor="#ffffff",
            hatch=HATCHES[order],
        )
        for place, length in zip(places, lengths, strict=True):
            axes.text(length + top * 0.02, place, f"{length:.{digits}f}", va="center", fontsize=9.5)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, top * 1.22)
    axes.tick_params(axis="y", length=0)


def plane(
    axes: Axes,
    values: ArrayLike,
    points: Mapping[str, ArrayLike],
    *,
    names: Sequence[str],
    after: ArrayLike | None = None,
) -> None:
    """Draw value vectors as squares joined to their hull, and the vectors read from them as points.

    Args:
        axes: where to draw, in a figure with layout="constrained": the legend goes below it.
        values: shape (S, 2), joined in order.
        points: name of each read to its context vector, shape (2,); at most four.
        names: what the values belong to.
        after: the values after an intervention, drawn dashed.

    Raises:
        ValueError: if there are more points than markers, or not a name for each value.
    """
    before = np.asarray(values, dtype=float)
    outlines = [(before, "-")]
    if after is not None:
        outlines.append((np.asarray(after, dtype=float), "--"))
    for corners, style in outlines:
        axes.plot(*np.vstack([corners, corners[:1]]).T, style, color=PALETTE["grey"], linewidth=1, zorder=1)
        axes.plot(*corners.T, "s", color=PALETTE["grey"], markersize=6, zorder=2)
    for name, corner in zip(names, before, strict=True):
        axes.annotate(name, corner, textcoords="offset points", xytext=(-8, -15), color=PALETTE["ink"])
    if len(points) > len(MARKERS):
        raise ValueError(f"points: expected at most {len(MARKERS)}, got {len(points)}")
    for (name, point), (colour, marker) in zip(points.items(), MARKERS, strict=False):
        spot = np.asarray(point, dtype=float)
        axes.plot(*spot, marker, color=PALETTE[colour], markersize=9, label=name, zorder=3)
    legend(axes)
    axes.set_xlabel("第一维")
    axes.set_ylabel("第二维")
    axes.margins(0.12)


def dots(
    axes: Axes, groups: Mapping[str, Sequence[ArrayLike]], names: Sequence[str], *, median: bool = False
) -> None:
    """Draw every value as a dot, one line per name: all seeds of all conditions, no average instead of them.

    Dots of one line are shifted up and down by turns, so that equal values can be told apart.

    Args:
        axes: where to draw.
        groups: name of a quantity to its values, for each name a vector with a value per seed, of any length; at
            most four quantities, each with its own colour and marker.
        names: the conditions, drawn from the top down.
        median: whether to add a short bar at the median of each vector.

    Raises:
        ValueError: if a group does not fit the names, a vector is empty, or there are none or more than four.
    """
    if not 1 <= len(groups) <= len(MARKERS):
        raise ValueError(f"groups: expected 1 to {len(MARKERS)}, got {len(groups)}")
    step = 0.5 / len(groups)
    for order, ((group, rows), (colour, marker)) in enumerate(zip(groups.items(), MARKERS, strict=False)):
        vectors = [np.asarray(row, dtype=float) for row in rows]
        if len(vectors) != len(names) or any(v.ndim != 1 or v.size == 0 for v in vectors):
            raise ValueError(
                f"groups: {group!r} must hold {len(names)} vectors of at least one value, "
                f"got shapes {[v.shape for v in vectors]}"
            )
        lines = np.arange(len(names)) + (order - (len(groups) - 1) / 2) * step
        axes.scatter(
            np.concatenate(vectors),
            np.concatenate([_apart(line, v.size, step) for line, v in zip(lines, vectors, strict=True)]),
            s=34,
            c=PALETTE[colour],
            marker=marker,
            alpha=0.75,
            clip_on=False,
            label=group,
            zorder=3,
        )
        if median:
            middles, reach = [np.median(v) for v in vectors], 0.64 * step
            axes.vlines(middles, lines - reach, lines + reach, color=PALETTE["ink"], linewidth=1.2, zorder=2)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", linewidth=0.8)
    axes.tick_params(axis="y", length=0)


def _apart(line: float, count: int, step: float) -> NDArray[np.floating[Any]]:
    """Return heights of the dots of one line, below, on and above it by turns; a lone dot stands on it."""
    return line + (0.24 * step * (np.arange(count) % 3 - 1) if count > 1 else np.zeros(count))
