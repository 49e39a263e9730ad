"""Several quantities over one axis, told apart by colour, line and marker."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from onesentence.plotting.style import PALETTE

LINES = (
    ("vermilion", "-", "o"),
    ("teal", "--", "^"),
    ("ochre", "-.", "D"),
    ("plum", ":", "s"),
    ("grey", "-", "x"),
    ("ink", "--", "v"),
)


def curves(axes: Axes, x: ArrayLike, lines: Mapping[str, ArrayLike], *, markers: bool = True) -> None:
    """Draw lines over one axis; the caller sets scales, labels and the legend.

    Args:
        axes: where to draw.
        x: shape (n,).
        lines: name of a quantity to its values, (n,) each; at most six.
        markers: whether each value gets a marker, which a line with many values does not need.

    Raises:
        ValueError: if there are none or more than six, or one does not fit `x`.
    """
    places = np.asarray(x, dtype=float)
    if not 1 <= len(lines) <= len(LINES):
        raise ValueError(f"lines: expected 1 to {len(LINES)}, got {len(lines)}")
    for (name, values), (colour, style, marker) in zip(lines.items(), LINES, strict=False):
        heights = np.asarray(values, dtype=float)
        if heights.shape != places.shape or places.ndim != 1:
            raise ValueError(f"lines: {name!r} has shape {heights.shape}, x has {places.shape}")
        axes.plot(
            places,
            heights,
            style,
            color=PALETTE[colour],
            marker=marker if markers else None,
            markersize=5,
            label=name,
        )
