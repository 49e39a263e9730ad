"""A recurrent network drawn once per step: what is read, the states, the losses, and both ways back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from onesentence.plotting.shapes import arrow, box
from onesentence.plotting.style import PALETTE

_READ, _STATE, _LOSS, _TOP = 0.0, 1.0, 2.0, 2.52
_DASHES = (0, (3, 1.5))
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
    tile = partial(box, axes, shape="round,pad=0.25,rounding_size=0.12")
    value = partial(arrow, axes, width=0.9, mutation_scale=8)
    error = partial(arrow, axes, width=1.5, mutation_scale=8)
    tile(0, _STATE, "$h_0$", dash="--")
    for t, (token, target) in enumerate(zip(read, predicted, strict=True), start=1):
        tile(t, _READ, token)
        tile(t, _STATE, f"$h_{{{t}}}$")
        tile(t, _LOSS, f"$\\ell_{{{t}}}$")
        axes.text(t, _TOP, target, ha="center", va="center", fontsize=11, color=PALETTE["ink"])
        value((t, _READ + 0.24), (t, _STATE - 0.24))
        value((t - _BACK, _STATE + 0.24), (t - _BACK, _LOSS - 0.24))
        value((t - 0.7, _STATE + _BACK), (t - 0.3, _STATE + _BACK))
        axes.text(
            t - 0.5, _STATE + 0.36, shared, ha="center", va="center", fontsize=9.5, color=PALETTE["ink"]
        )
        error((t + _BACK, _LOSS - 0.24), (t + _BACK, _STATE + 0.24), "vermilion")
        error((t - 0.3, _STATE - _BACK), (t - 0.7, _STATE - _BACK), "teal", dash=_DASHES)
    for y, name in ((_READ, "读入"), (_TOP, "预测")):
        axes.text(0, y, name, ha="center", va="center", fontsize=10.5, color=PALETTE["grey"])
    handles = [
        Line2D([], [], color=PALETTE["vermilion"], linewidth=1.6, label=own),
        Line2D([], [], color=PALETTE["teal"], linewidth=1.6, linestyle=_DASHES, label=later),
    ]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=1, fontsize=10.5)
    axes.set_xlim(-0.45, T + 0.45)
    axes.set_ylim(-0.35, _TOP + 0.25)
    axes.axis("off")
    return figure
