"""What diagrams are made of: a text in a box, an arrow between two points."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Text

from onesentence.plotting.style import PALETTE

WHITE = "#ffffff"


def box(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    face: str = PALETTE["tile"],
    edge: str = "grey",
    ink: str = PALETTE["ink"],
    size: float = 11,
    shape: str = "round,pad=0.3,rounding_size=0.12",
    width: float = 0.9,
    dash: Any = "-",
) -> Text:
    """Draw a text in the middle of a box that is as large as the text.

    Args:
        axes: where to draw.
        x: middle, in data coordinates.
        y: likewise.
        text: what stands in it.
        face: colour of the ground.
        edge: name in `PALETTE` of the outline's colour.
        ink: colour of the text.
        size: of the text, in points.
        shape: matplotlib's box style.
        width: of the outline, in points.
        dash: matplotlib's line style of the outline.

    Returns:
        The text, whose box arrows may end at.

    Raises:
        KeyError: if the palette has no such colour.
    """
    style = {
        "boxstyle": shape,
        "facecolor": face,
        "edgecolor": PALETTE[edge],
        "linewidth": width,
        "linestyle": dash,
    }
    return axes.text(x, y, text, ha="center", va="center", fontsize=size, color=ink, bbox=style, zorder=3)


def arrow(
    axes: Axes,
    tail: tuple[float, float],
    head: tuple[float, float],
    colour: str = "grey",
    *,
    width: float = 1.0,
    dash: Any = "-",
    shrink: tuple[float, float] = (0, 0),
    **more: Any,
) -> None:
    """Draw an arrow below the boxes.

    Args:
        axes: where to draw.
        tail: where it begins, in data coordinates.
        head: where it points.
        colour: name in `PALETTE`.
        width: of the line, in points.
        dash: matplotlib's line style.
        shrink: by how much it is shorter at tail and head, in points.
        **more: further properties of matplotlib's arrow.

    Raises:
        KeyError: if the palette has no such colour.
    """
    style = {"arrowstyle": "-|>", "color": PALETTE[colour], "linewidth": width, "linestyle": dash}
    ends = {"shrinkA": shrink[0], "shrinkB": shrink[1]}
    axes.annotate("", xy=head, xytext=tail, arrowprops=style | ends | more, zorder=2)
