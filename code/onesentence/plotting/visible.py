"""A boolean matrix of who may read whom, or who does: filled squares for True, small dots for False."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from onesentence.plotting.style import PALETTE


def visible(
    axes: Axes, matrix: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, colour: str = "teal"
) -> None:
    """Draw a boolean matrix as a grid of squares.

    Args:
        axes: where to draw.
        matrix: booleans, (len(rows), len(columns)); the first row is drawn at the top.
        rows: names of the rows, drawn at the left; empty texts leave a row unnamed.
        columns: names of the columns, drawn at the bottom.
        colour: of the palette, for True.

    Raises:
        TypeError: if the matrix is not boolean.
        ValueError: if the names do not fit the matrix.
    """
    values = np.asarray(matrix)
    if values.dtype != np.bool_:
        raise TypeError(f"matrix must be boolean, got dtype {values.dtype}")
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"matrix: shape {values.shape} does not fit {len(rows)} rows and {len(columns)} columns"
        )
    for (row, column), value in np.ndenumerate(values):
        if value:
            square = Rectangle((column - 0.42, row - 0.42), 0.84, 0.84, color=PALETTE[colour], linewidth=0)
            axes.add_patch(square)
        else:
            axes.plot(column, row, ".", color=PALETTE["grey"], markersize=2.5)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
