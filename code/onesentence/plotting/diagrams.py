"""Diagrams of structure: constituency trees and role graphs, drawn with the book's tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from onesentence.plotting.shapes import WHITE, box
from onesentence.plotting.style import PALETTE


class TreeLike(Protocol):
    """A label with children."""

    @property
    def label(self) -> str:
        """Name of the node."""

    @property
    def children(self) -> Sequence[TreeLike]:
        """Nodes below, in order; empty in a leaf."""


def _tile(axes: Axes, x: float, y: float, text: str, *, active: bool = False, size: float = 13) -> Text:
    shape = "round,pad=0.32,rounding_size=0.12"
    if not active:
        return box(axes, x, y, text, size=size, shape=shape)
    vermilion = PALETTE["vermilion"]
    return box(axes, x, y, text, face=vermilion, edge="vermilion", ink=WHITE, size=size, shape=shape)


def draw_tree(tree: TreeLike, *, lit: Sequence[str] = ()) -> Figure:
    """Draw a constituency tree: constituents above, the units of the sentence as tiles in one row below.

    Args:
        tree: the root.
        lit: labels of constituents to draw in vermilion.

    Returns:
        The figure, to be shown with `show`.
    """
    leaves = _count_leaves(tree)
    depth = _depth(tree)
    figure, axes = plt.subplots(figsize=(max(3.6, 0.55 * leaves), 0.66 * depth))
    next_leaf = iter(range(leaves))

    def place(node: TreeLike, level: int) -> float:
        if not node.children:
            x = float(next(next_leaf))
            _tile(axes, x, 0, node.label)
            return x
        spots = [(place(child, level + 1), child) for child in node.children]
        x = (spots[0][0] + spots[-1][0]) / 2
        y = float(depth - 1 - level)
        for child_x, child in spots:
            child_y = float(depth - 2 - level) if child.children else 0.0
            axes.plot([x, child_x], [y - 0.18, child_y + 0.24], color=PALETTE["grey"], linewidth=1, zorder=1)
        colour = PALETTE["vermilion"] if node.label in lit else PALETTE["teal"]
        label = _wrapped(
            node.label, 2 * _count_leaves(node)
        )  # beside a neighbour, two characters fit over a leaf
        axes.text(x, y, label, ha="center", va="center", fontsize=11, linespacing=1.1, color=colour, zorder=3)
        return x

    place(tree, 0)
    axes.set_xlim(-0.7, leaves - 0.3)
    axes.set_ylim(-0.6, depth - 0.6)
    axes.axis("off")
    return figure


def _wrapped(label: str, width: int) -> str:
    return "\n".join(label[start : start + width] for start in range(0, len(label), width))


def _count_leaves(node: TreeLike) -> int:
    return sum(_count_leaves(child) for child in node.children) if node.children else 1


def _depth(node: TreeLike) -> int:
    return 1 + max((_depth(child) for child in node.children), default=0)


def draw_roles(event: str, edges: Sequence[tuple[str, str]], *, lit: Sequence[str] = ()) -> Figure:
    """Draw an event in the middle and the words that fill its roles around it.

    Args:
        event: the word that names the event.
        edges: (role, words), clockwise from the left.
        lit: roles whose words are drawn as active tiles.

    Returns:
        The figure, to be shown with `show`.
    """
    figure, axes = plt.subplots(figsize=(4.8, 2.9))
    middle = _tile(axes, 0, 0, event, size=15)
    for number, (role, words) in enumerate(edges):
        angle = math.pi - 2 * math.pi * number / len(edges)
        x, y = 2.3 * math.cos(angle), 1.15 * math.sin(angle)
        filler = _tile(axes, x, y, words, active=role in lit)
        label = axes.text(
            x * 0.48, y * 0.5, role, ha="center", va="center", fontsize=10.5, color=PALETTE["teal"]
        )
        label.set_bbox({"boxstyle": "round,pad=0.2", "facecolor": "none", "edgecolor": "none"})
        line = {"color": PALETTE["grey"], "linewidth": 1.1, "shrinkA": 2, "shrinkB": 3}
        spots = ((0.0, 0.0), (x * 0.48, y * 0.5), (x, y))
        patches = (middle.get_bbox_patch(), label.get_bbox_patch(), filler.get_bbox_patch())
        for part, style in enumerate(
            ("-", "-|>")
        ):  # from the event to the role's name, from there to its words
            ends = {"patchA": patches[part], "patchB": patches[part + 1], "arrowstyle": style}
            axes.annotate("", xy=spots[part + 1], xytext=spots[part], arrowprops=line | ends)
    axes.set_xlim(-2.8, 2.9)
    axes.set_ylim(-1.6, 1.6)
    axes.axis("off")
    return figure
