"""A recurrent network drawn out over time: inputs below, states in a chain, outputs above where there are any."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes

from onesentence.plotting.style import PALETTE


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
    if start:
        _box(axes, -1, 1, start, "#ffffff", PALETTE["grey"], size, dashed=-1 in dashed)
    for t in range(T):
        if t or start:
            _arrow(axes, (t - 1, 1), (t, 1))
        _box(axes, t, 1, states[t], "#ffffff", PALETTE["vermilion"], size, dashed=t in dashed)
        if inputs[t]:
            _box(axes, t, 0, inputs[t], PALETTE["tile"], PALETTE["grey"], size)
            _arrow(axes, (t, 0), (t, 1))
        if outputs and outputs[t]:
            _box(axes, t, 2, outputs[t], "#ffffff", PALETTE["teal"], size)
            _arrow(axes, (t, 1), (t, 2))
    axes.set_xlim(-1.5 if start else -0.5, T - 0.5)
    axes.set_ylim(-0.5, 2.5 if outputs else 1.5)
    axes.axis("off")


def _box(
    axes: Axes, x: float, y: float, text: str, face: str, edge: str, size: float, *, dashed: bool = False
) -> None:
    style = {
        "boxstyle": "round,pad=0.3,rounding_size=0.12",
        "facecolor": face,
        "edgecolor": edge,
        "linewidth": 1.1,
    }
    if dashed:
        style["linestyle"] = (0, (2.5, 2))
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=PALETTE["ink"], bbox=style, zorder=3)


def _arrow(axes: Axes, tail: tuple[float, float], head: tuple[float, float]) -> None:
    style = {"arrowstyle": "-|>", "color": PALETTE["grey"], "linewidth": 1, "shrinkA": 10, "shrinkB": 10.5}
    axes.annotate("", xy=head, xytext=tail, arrowprops=style, zorder=1)
