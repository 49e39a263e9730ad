"""A tree of prefixes as a beam search went through it: kept, ended, pruned and never looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from onesentence.plotting.style import PALETTE


class BeamNode(NamedTuple):
    """One prefix of the tree.

    Attributes:
        path: its tokens; the last one is written on it.
        note: text below the token, its probability for example.
        fate: "kept", "ended", "pruned", or "unseen" where the search never formed it.
    """

    path: tuple[str, ...]
    note: str
    fate: str


_LOOKS = {  # colour, line style, line width, name
    "kept": ("vermilion", "-", 1.8, "保留"),
    "ended": ("teal", "-", 1.8, "已结束"),
    "pruned": ("grey", (0, (4, 2.5)), 1.2, "被剪掉"),
    "unseen": ("grey", (0, (1, 2)), 1.1, "没有展开到"),
}


def draw_beam_tree(
    axes: Axes, nodes: Sequence[BeamNode], *, best: tuple[str, ...] = (), size: float = 9.5
) -> None:
    """Draw the tree from left to right, one column for each round; the root stands at the left edge.

    Kept prefixes have solid lines, ended ones rectangular boxes, pruned ones dashed and unseen ones dotted lines, so
    that the picture can be read without colour. The legend names those that occur.

    Args:
        axes: where to draw; its frame is turned off.
        nodes: all prefixes but the empty one, each after the one that it continues; siblings from top to bottom.
        best: the path that the search returned, drawn filled; empty fills none.
        size: size of the text in points.

    Raises:
        ValueError: if there is no node, a path stands twice or before its beginning, a fate is unknown, or `best` is
            not among the paths.
    """
    paths = [node.path for node in nodes]
    _check(nodes, paths, best)
    leaves = [path for path in paths if not any(p[:-1] == path for p in paths)]
    order = sorted(leaves, key=lambda leaf: [paths.index(leaf[: i + 1]) for i in range(len(leaf))])
    height = {leaf: -float(row) for row, leaf in enumerate(order)}
    for path in [*sorted(paths, key=len, reverse=True), ()]:
        if path not in height:
            below = [height[p] for p in paths if p[:-1] == path]
            height[path] = (max(below) + min(below)) / 2
    for node in nodes:
        colour, line, width, _ = _LOOKS[node.fate]
        tail, head = node.path[:-1], node.path
        x = [len(tail) + (0.27 if tail else 0.04), len(head) - 0.24]
        axes.plot(x, [height[tail], height[head]], color=PALETTE[colour], linestyle=line, linewidth=width)
    for node in nodes:
        _box(axes, len(node.path), height[node.path], node, filled=node.path == best, size=size)
    depth = max(map(len, paths))
    axes.plot([0], [height[()]], "o", color=PALETTE["ink"], markersize=5)
    for number in range(1, depth + 1):
        axes.text(
            number, 0.85, f"第{number}轮", ha="center", va="center", fontsize=size, color=PALETTE["grey"]
        )
    present = [fate for fate in _LOOKS if any(node.fate == fate for node in nodes)]
    lines = [Line2D([], [], color=PALETTE[_LOOKS[f][0]], ls=_LOOKS[f][1], lw=_LOOKS[f][2]) for f in present]
    names = [_LOOKS[fate][3] for fate in present]
    axes.legend(
        lines, names, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(names), fontsize=size,
        handlelength=2.2, columnspacing=1.2,
    )  # fmt: skip
    axes.set(xlim=(-0.1, depth + 0.4), ylim=(-len(leaves) + 0.4, 1.2))
    axes.axis("off")


def _check(nodes: Sequence[BeamNode], paths: list[tuple[str, ...]], best: tuple[str, ...]) -> None:
    if not nodes:
        raise ValueError("nodes: expected at least one, got none")
    for number, node in enumerate(nodes):
        if node.fate not in _LOOKS:
            raise ValueError(f"nodes: fate must be one of {', '.join(_LOOKS)}, got {node.fate!r}")
        if not node.path or node.path in paths[:number]:
            raise ValueError(f"nodes: paths must be different and not empty, got {node.path} again or empty")
        if len(node.path) > 1 and node.path[:-1] not in paths[:number]:
            raise ValueError(f"nodes: {node.path} stands before the path that it continues")
    if best and best not in paths:
        raise ValueError(f"best: expected one of the paths, got {best}")


def _box(axes: Axes, x: float, y: float, node: BeamNode, *, filled: bool, size: float) -> None:
    colour, line, width, _ = _LOOKS[node.fate]
    style = {
        "boxstyle": "square,pad=0.25" if node.fate == "ended" else "round,pad=0.25,rounding_size=0.5",
        "facecolor": PALETTE[colour] if filled else "#ffffff",
        "edgecolor": PALETTE[colour],
        "linestyle": line,
        "linewidth": width * 0.8,
    }
    ink = "#ffffff" if filled else PALETTE["ink"] if node.fate in ("kept", "ended") else PALETTE["grey"]
    text = f"{node.path[-1]} {node.note}".strip()
    axes.text(x, y, text, ha="center", va="center", fontsize=size, color=ink, bbox=style, zorder=3)
