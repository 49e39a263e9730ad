"""Attention of several blocks and heads in one figure: a column per block, a row per head, one scale from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from onesentence.plotting.style import SEQUENTIAL


def draw_heads(tables: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, height: float) -> Figure:
    """Draw the weights of all heads of all blocks, named by number only.

    Args:
        tables: (L, H, len(rows), len(columns)), each value from 0 to 1.
        rows: what asks, drawn at the left.
        columns: what is read, drawn below the last heads; Latin words stand upright.
        height: of the figure, in inches.

    Returns:
        The figure.

    Raises:
        ValueError: if the names do not fit the tables, or a value lies outside 0 to 1.
    """
    values = np.asarray(tables, dtype=float)
    if values.ndim != 4 or values.shape[2:] != (len(rows), len(columns)):
        expected = f"(L, H, {len(rows)}, {len(columns)})"
        raise ValueError(f"tables must have shape {expected}, got {values.shape}")
    if values.min() < 0 or values.max() > 1 + 1e-5:
        raise ValueError(f"tables must lie in [0, 1], got {values.min():g} to {values.max():g}")
    L, H = values.shape[:2]
    shape: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False, "layout": "constrained"}
    figure: Figure
    figure, axes = plt.subplots(H, L, figsize=(4.8, height), **shape)
    upright = any(name.isascii() for name in columns)
    for (layer, head), panel in np.ndenumerate(axes.T):
        image = panel.imshow(values[layer, head], cmap=SEQUENTIAL, vmin=0, vmax=1, aspect="auto")
        panel.set_title(f"第{layer + 1}块，第{head + 1}头", fontsize=9, loc="left")
        panel.set_xticks(range(len(columns)), columns, fontsize=8, rotation=90 if upright else 0)
        panel.set_yticks(range(len(rows)), rows, fontsize=8)
        panel.tick_params(length=0)
    figure.colorbar(image, ax=axes, location="bottom", shrink=0.5, ticks=[0, 1])
    return figure
