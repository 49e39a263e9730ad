"""A translator of encoder and decoder blocks, drawn once from the tokens at the bottom to the predicted word."""

from __future__ import annotations

from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from onesentence.plotting.shapes import WHITE, arrow, box
from onesentence.plotting.style import PALETTE

_LEFT, _RIGHT, _MIDDLE = 1.17, 3.77, 2.25
"""Where the encoder, the decoder and the way from one to the other stand."""
_TEXT, _EMBEDDED, _FIRST = 0.0, 1.0, 2.05
"""Heights of tokens, embeddings and the first sublayer."""
_STEP, _GAP = 1.05, 0.5
"""From one sublayer to the next, and from a sublayer to its addition."""
_NORM = "相加，归一化"


def draw_translator(
    source: str,
    target: str,
    predicted: str,
    *,
    layers: tuple[int, int],
    shapes: tuple[str, str, str] = ("", "", ""),
) -> Figure:
    """Draw the encoder at the left in vermilion, the decoder at the right in teal, and how the source gets across.

    Args:
        source: what the encoder reads, one short text or several lines.
        target: what the decoder reads, likewise.
        predicted: what the last row is to predict.
        layers: numbers of encoder and decoder blocks.
        shapes: of the memory, of the decoder's rows and of the logits.

    Returns:
        The figure, to be shown with `show`.

    Raises:
        ValueError: if a text is empty or a number of blocks is less than 1.
    """
    if not source or not target or not predicted:
        raise ValueError(
            f"source, target, predicted must not be empty, got {source!r}, {target!r}, {predicted!r}"
        )
    if min(layers) < 1:
        raise ValueError(f"layers: expected at least 1 block on each side, got {layers}")
    figure, axes = plt.subplots(figsize=(4.1, 5.2))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1)  # as large as a phone can show it
    memory, rows, logits = shapes
    top = _side(axes, _LEFT, source, ("自注意力", "前馈层"), "vermilion", "编码器块", layers[0])
    box(axes, _LEFT, top, f"记忆{memory}", face=WHITE, edge="vermilion", width=1.6, size=10.5)
    sublayers = ("因果自注意力", "交叉注意力", "前馈层")
    high = _side(axes, _RIGHT, target, sublayers, "teal", "解码器块", layers[1])
    box(axes, _RIGHT, high, f"输出矩阵{logits}", size=10.5)
    box(axes, _RIGHT, high + 0.75, predicted, edge="ochre", width=1.6)
    arrow(axes, (_RIGHT, high + 0.2), (_RIGHT, high + 0.53))
    axes.text(_RIGHT + 0.12, high + 0.38, "softmax", va="center", fontsize=10, color=PALETTE["ink"])
    axes.text(_RIGHT + 0.1, _FIRST - 0.62, rows, va="center", fontsize=10, color=PALETTE["teal"])
    _across(axes, top)
    axes.set_xlim(0.05, 4.95)
    axes.set_ylim(-0.55, high + 1.1)
    axes.axis("off")
    return figure


def _side(
    axes: Axes, x: float, text: str, sublayers: tuple[str, ...], colour: str, name: str, blocks: int
) -> float:
    """Draw one column; return the height of what stands above its frame."""
    style: dict[str, Any] = {"size": 10.5, "shape": "round,pad=0.3,rounding_size=0.1"}
    box(axes, x, _TEXT, text, **style)
    box(axes, x, _EMBEDDED, "嵌入×√C＋位置", **style)
    arrow(axes, (x, _TEXT + 0.33), (x, _EMBEDDED - 0.22))
    y, below = _FIRST, _EMBEDDED
    for sublayer in sublayers:
        arrow(axes, (x, below + 0.2), (x, y - 0.2))
        box(axes, x, y, sublayer, face=PALETTE[colour], edge=colour, ink=WHITE, **style)
        arrow(axes, (x, y + 0.2), (x, y + _GAP - 0.17))
        box(axes, x, y + _GAP, _NORM, face=WHITE, edge=colour, **style | {"size": 10})
        _residual(axes, x, y, colour)
        y, below = y + _STEP, y + _GAP
    bottom, last = _FIRST - 0.42, below + 0.26
    frame = FancyBboxPatch(
        (x - 0.98, bottom),
        1.96,
        last - bottom,
        boxstyle="round,pad=0,rounding_size=0.12",
        facecolor="none",
        edgecolor=PALETTE[colour],
        linestyle=(0, (4, 2)),
    )
    axes.add_patch(frame)
    for side, words in (("left", name), ("right", f"×{blocks}")):
        end = x - 0.98 if side == "left" else x + 0.98
        axes.text(end, last + 0.15, words, ha=side, va="center", fontsize=10, color=PALETTE[colour])
    arrow(axes, (x, below + 0.2), (x, last + 0.38))
    return last + 0.6


def _residual(axes: Axes, x: float, y: float, colour: str) -> None:
    """Draw the way around a sublayer, at the right."""
    around, start, end = x + 0.85, y - 0.3, y + _GAP
    line: dict[str, Any] = {"color": PALETTE[colour], "linewidth": 1.0, "zorder": 1}
    axes.plot([x, around, around], [start, start, end], **line)
    arrow(axes, (around, end), (x + 0.6, end), colour)


def _across(axes: Axes, memory: float) -> None:
    """Draw the way of keys and values from the memory to the cross-attention, and name what the query is made of."""
    cross = _FIRST + _STEP
    line: dict[str, Any] = {"color": PALETTE["vermilion"], "linewidth": 1.8, "zorder": 1}
    axes.plot([_LEFT + 0.5, _MIDDLE, _MIDDLE], [memory, memory, cross], **line)
    arrow(axes, (_MIDDLE, cross), (_RIGHT - 0.62, cross), "vermilion", width=1.8)
    axes.text(_MIDDLE + 0.06, cross + 0.2, "K、V", va="center", fontsize=10.5, color=PALETTE["vermilion"])
    axes.text(_RIGHT - 0.08, cross - 0.3, "Q", va="center", ha="right", fontsize=10.5, color=PALETTE["teal"])
