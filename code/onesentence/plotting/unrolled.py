"""A recurrent network drawn out over time: inputs below, states in a chain, outputs above where there are any."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from onesentence.plotting.shapes import WHITE, arrow, box


def draw_unrolled(
    axes: Axes,
    inputs: Sequence[str],
    states: Sequence[str],
    *,
    outputs: Sequence[str] = (),
    start: str = "",
    dashed: Collection[int] = (),
    size: float = 11,
) -> None:
    """Draw T calls of one cell from left to right; the row of inputs is at height 0, states at 1, outputs at 2.

    Args:
        axes: where to draw; its frame is turned off.
        inputs: what each call reads, T texts; an empty text draws none.
        states: name of the state after each call, T texts.
        outputs: what is read off each state, T texts, empty where nothing is; none at all leaves the row out.
        start: name of the state before the first call; empty draws none.
        dashed: positions (from 0; -1 is the start, if drawn) whose state has no number, with a dashed outline.
        size: size of the text in points.

    Raises:
        ValueError: if there is no state, the lengths differ, or a dashed position is outside.
    """
    T = len(states)
    if T == 0 or len(inputs) != T or len(outputs) not in (0, T):
        raise ValueError(
            f"states: expected at least one and as many inputs and outputs (or no outputs), "
            f"got {T} states, {len(inputs)} inputs, {len(outputs)} outputs"
        )
    first = -1 if start else 0
    if any(not first <= position < T for position in dashed):
        raise ValueError(f"dashed: positions must lie in [{first}, {T}), got {sorted(dashed)}")
    state = partial(box, face=WHITE, size=size, width=1.1)
    between = partial(arrow, shrink=(10, 10.5))

    def dash(position: int) -> Any:
        return (0, (2.5, 2)) if position in dashed else "-"

    if start:
        state(axes, -1, 1, start, dash=dash(-1))
    for t in range(T):
        if t or start:
            between(axes, (t - 1, 1), (t, 1))
        state(axes, t, 1, states[t], edge="vermilion", dash=dash(t))
        if inputs[t]:
            box(axes, t, 0, inputs[t], size=size, width=1.1)
            between(axes, (t, 0), (t, 1))
        if outputs and outputs[t]:
            state(axes, t, 2, outputs[t], edge="teal")
            between(axes, (t, 1), (t, 2))
    axes.set_xlim(-1.5 if start else -0.5, T - 0.5)
    axes.set_ylim(-0.5, 2.5 if outputs else 1.5)
    axes.axis("off")
