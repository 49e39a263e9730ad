"""An encoder and a decoder laid out in time: what each state reads, what it leads to, how the source gets across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onesentence.plotting.shapes import WHITE, arrow, box
from onesentence.plotting.style import PALETTE

_UNIT, _H, _BUS, _FED, _S, _NEXT = 0.0, 0.95, 1.75, 2.55, 3.6, 4.75
"""Where the columns stand: source units, h, the way across, what is read, s, what is predicted."""

_TILE: dict[str, Any] = {"size": 10.5, "shape": "round,pad=0.22", "width": 1}


def draw_encoder_decoder(
    source: Sequence[str], fed: Sequence[str], predicted: Sequence[str], *, inject: bool = False
) -> Figure:
    """Draw an encoder at the left and a decoder at the right, time running down.

    Args:
        source: units that the encoder reads.
        fed: tokens that the decoder reads, BOS first.
        predicted: what each step's state leads to; each but the last is what the next step reads.
        inject: whether the last encoder state goes to every step (dashed), not to s_0 alone.

    Returns:
        The figure, to be shown with `show`.

    Raises:
        ValueError: if there is nothing to draw, or not as many predictions as tokens that were read.
    """
    if not source or not fed or len(fed) != len(predicted):
        raise ValueError(
            f"fed and predicted must have one length from 1 up, and source a unit; "
            f"got {len(fed)}, {len(predicted)} and {len(source)}"
        )
    rows = max(len(source), len(fed))
    figure, axes = plt.subplots(figsize=(4.8, 0.45 * (rows + 1.7)))
    for j, unit in enumerate(source, start=1):
        box(axes, _UNIT, j, unit, **_TILE)
        arrow(axes, (_UNIT + 0.3, j), (_H - 0.25, j))
        _state(axes, _H, j, f"$h_{{{j}}}$", "vermilion")
        if j > 1:
            arrow(axes, (_H, j - 1 + 0.27), (_H, j - 0.27), "vermilion")
    _state(axes, _S, 0, "$s_0$", "teal")
    if inject:
        axes.text(_S + 0.3, 0, "= 0", va="center", fontsize=10, color=PALETTE["teal"])
    for i, (token, chosen) in enumerate(zip(fed, predicted, strict=True), start=1):
        box(axes, _FED, i, token, **_TILE)
        arrow(axes, (_FED + 0.1 + 0.052 * len(token), i), (_S - 0.25, i))
        arrow(axes, (_S, i - 1 + 0.27), (_S, i - 0.27), "teal")
        _state(axes, _S, i, f"$s_{{{i}}}$", "teal")
        arrow(axes, (_S + 0.25, i), (_NEXT - 0.1 - 0.06 * len(chosen), i))
        box(axes, _NEXT, i, chosen, edge="ochre", **_TILE)
        if i < len(fed):
            ends = [_NEXT - 0.25, _FED + 0.15 + 0.04 * len(fed[i])], [i + 0.27, i + 0.8]
            axes.plot(*ends, ":", color=PALETTE["ochre"], linewidth=1.3, zorder=1)
    _across(axes, len(source), len(fed), inject)
    for x, name in ((_UNIT, "源单位"), (_FED, "读入"), (_NEXT, "预测")):
        axes.text(x, -0.95, name, ha="center", va="center", fontsize=10, color=PALETTE["grey"])
    axes.set_xlim(-0.4, 5.35)
    axes.set_ylim(rows + 0.5, -1.25)
    axes.axis("off")
    return figure


def _across(axes: Axes, last: int, steps: int, inject: bool) -> None:
    """Draw the way of c_src from the last encoder state to the decoder."""
    style: dict[str, Any] = {"color": PALETTE["vermilion"], "linewidth": 1.6, "zorder": 1}
    top = 1.38 if inject else 0
    axes.plot([_H + 0.25, _BUS, _BUS], [last, last, top], "--" if inject else "-", **style)
    if inject:  # into each state from above its own input
        for i in range(1, steps + 1):
            axes.plot([_BUS, _S - 0.5], [i + 0.38, i + 0.38], "--", **style | {"linewidth": 1.0})
            arrow(axes, (_S - 0.5, i + 0.38), (_S - 0.2, i + 0.18), "vermilion")
    else:
        arrow(axes, (_BUS, 0), (_S - 0.25, 0), "vermilion", width=1.6)
    spot, label = ((_BUS - 0.1, 0.95), "$c_{src}$") if inject else ((_FED, -0.33), "$s_0=g(c_{src})$")
    axes.text(*spot, label, ha="center", va="center", fontsize=11, color=PALETTE["vermilion"])


def _state(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    style: dict[str, Any] = {"shape": "circle,pad=0.18", "size": 10, "width": 1.3}
    box(axes, x, y, text, face=WHITE, edge=colour, ink=PALETTE[colour], **style)
