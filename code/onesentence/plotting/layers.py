"""Layers of recurrent cells over time steps: depth upwards, time to the right, one colour and sign per layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from onesentence.plotting.shapes import arrow, box
from onesentence.plotting.style import PALETTE

_COLOURS = ("teal", "vermilion", "plum", "ochre")


def draw_layers(axes: Axes, inputs: Sequence[str], layers: Sequence[str]) -> None:
    """Draw a grid of states; arrows of one layer along time have its colour and name, those between layers are grey.

    Args:
        axes: where to draw; its frame is turned off.
        inputs: what is read at each step, at least one text.
        layers: name of each layer's parameters, the lowest first; one to four.

    Raises:
        ValueError: if there is no input, or no layer or more than four.
    """
    if not inputs:
        raise ValueError("inputs: expected at least one, got none")
    if not 1 <= len(layers) <= len(_COLOURS):
        raise ValueError(f"layers: expected 1 to {len(_COLOURS)}, got {len(layers)}")
    style: dict[str, Any] = {"shape": "round,pad=0.35", "width": 1}
    for t, text in enumerate(inputs, start=1):
        box(axes, t, 0, text, **style)
        for depth, (name, colour) in enumerate(zip(layers, _COLOURS, strict=False), start=1):
            box(axes, t, depth, f"$h_{{{t}}}^{{({depth})}}$", edge=colour, **style)
            arrow(axes, (t, depth - 1 + 0.28), (t, depth - 0.3), width=1.3)
            if t > 1:
                arrow(axes, (t - 0.7, depth), (t - 0.3, depth), colour, width=1.3)
                axes.text(
                    t - 0.5,
                    depth + 0.16,
                    name,
                    ha="center",
                    va="center",
                    fontsize=10,
                    color=PALETTE[colour],
                )
    axes.set_xlim(0.55, len(inputs) + 0.45)
    axes.set_ylim(-0.4, len(layers) + 0.45)
    axes.axis("off")
