"""The legend of a chart below its axes, where none of its marks can be taken for a value."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def legend(axes: Axes, *, columns: int = 3) -> None:
    """Name the marks of some axes in a legend below everything that the figure holds.

    Args:
        axes: what holds the labelled marks, in a figure with layout="constrained", which makes room for it.
        columns: names in a row, at most.

    Raises:
        ValueError: if nothing is labelled, columns is not positive, or the figure would not make room.
    """
    handles, labels = axes.get_legend_handles_labels()
    figure = axes.get_figure()
    if not handles:
        raise ValueError("axes: expected labelled marks, got none")
    if columns < 1:
        raise ValueError(f"columns: expected at least 1, got {columns}")
    if not isinstance(figure, Figure) or figure.get_layout_engine() is None:
        raise ValueError('axes: expected a figure with layout="constrained", got one without a layout')
    figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(handles)))
