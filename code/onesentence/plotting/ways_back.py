"""A recurrent network drawn once per step: what is read, the states, the losses, and both ways back."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onesentence.plotting.style import PALETTE

_READ, _STATE, _LOSS, _TOP = 0.0, 1.0, 2.0, 2.52
_BACK = 0.13  # how far a gradient's arrow stands beside the value's


def draw_ways_back(
    read: Sequence[str], predicted: Sequence[str], *, own: str, later: str, shared: str = "$W_h$"
) -> Figure:
    """Draw T steps: grey arrows are values, a solid one down is a step's own error, a dashed one left that of later ones.

    Args:
        read: what each step reads, T short texts.
        predicted: what each step is to predict, T short texts.
        own: what the legend calls the solid arrows from losses to states.
        later: what the legend calls the dashed arrows from states to the states before them.
        shared: the parameter that stands at every arrow between states.

    Returns:
        The figure, to be shown with `show`.

    Raises:
        ValueError: if there is no step, or the two have different lengths.
    """
    if not read or len(read) != len(predicted):
        raise ValueError(f"predicted must have one text per step, got {len(read)} and {len(predicted)}")
    T = len(read)
    figure, axes = plt.subplots(figsize=(4.8, 3.1))
    _tile(axes, 0, _STATE, "$h_0$", dashed=True)
    for t, (token, target) in enumerate(zip(read, predicted, strict=True), start=1):
        _tile(axes, t, _READ, token)
        _tile(axes, t, _STATE, f"$h_{{{t}}}$")
        _tile(axes, t, _LOSS, f"$\\ell_{{{t}}}$")
        axes.text(t, _TOP, target, ha="center", va="center", fontsize=11, color=PALETTE["ink"])
        _arrow(axes, (t, _READ + 0.24), (t, _STATE - 0.24))
        _arrow(axes, (t - _BACK, _STATE + 0.24), (t - _BACK, _LOSS - 0.24))
        _arrow(axes, (t - 0.7, _STATE + _BACK), (t - 0.3, _STATE + _BACK))
        axes.text(
            t - 0.5, _STATE + 0.36, shared, ha="center", va="center", fontsize=9.5, color=PALETTE["ink"]
        )
        _arrow(axes, (t + _BACK, _LOSS - 0.24), (t + _BACK, _STATE + 0.24), "vermilion")
        _arrow(axes, (t - 0.3, _STATE - _BACK), (t - 0.7, _STATE - _BACK), "teal", dashed=True)
    for y, name in ((_READ, "读入"), (_TOP, "预测")):
        axes.text(0, y, name, ha="center", va="center", fontsize=10.5, color=PALETTE["grey"])
    handles = [
        Line2D([], [], color=PALETTE["vermilion"], linewidth=1.6, label=own),
        Line2D([], [], color=PALETTE["teal"], linewidth=1.6, linestyle=(0, (3, 1.5)), label=later),
    ]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=1, fontsize=10.5)
    axes.set_xlim(-0.45, T + 0.45)
    axes.set_ylim(-0.35, _TOP + 0.25)
    axes.axis("off")
    return figure


def _tile(axes: Axes, x: float, y: float, text: str, *, dashed: bool = False) -> None:
    axes.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=11,
        color=PALETTE["ink"],
        bbox={
            "boxstyle": "round,pad=0.25,rounding_size=0.12",
            "facecolor": PALETTE["tile"],
            "edgecolor": PALETTE["grey"],
            "linewidth": 0.9,
            "linestyle": "--" if dashed else "-",
        },
        zorder=3,
    )


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str = "grey",
    *,
    dashed: bool = False,
) -> None:
    axes.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": PALETTE[colour],
            "linewidth": 0.9 if colour == "grey" else 1.5,
            "linestyle": (0, (3, 1.5)) if dashed else "-",
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 8,
        },
        zorder=2,
    )
