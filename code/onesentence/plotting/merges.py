"""Merging drawn as it happens: one row for each step, every word a row of pieces, the newest ones inked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from onesentence.plotting.style import PALETTE

_GAP = 0.6
_ROW = 0.44
_LETTER = 0.46
_LABELS = 1.25  # inches


def draw_merges(
    states: Sequence[Sequence[Sequence[str]]], labels: Sequence[str], heads: Sequence[str] = ()
) -> Figure:
    """Draw the words of a small corpus after each merge. A piece is as wide as the symbols that it was made of.

    A piece that the row above did not have in its place is new and drawn in vermilion with white text.

    Args:
        states: for each step, starting with the one before the first merge, the pieces of every word. From step
            to step pieces may only be joined.
        labels: one for each step, drawn left of it.
        heads: one for each word, drawn above it; none if empty.

    Returns:
        The figure, to be shown with `show`.

    Raises:
        ValueError: if there is no step, the numbers of labels, heads or words do not agree, or a word is not the
            word of the first step with pieces joined.
    """
    if not states:
        raise ValueError("states: expected at least one step, got none")
    if len(labels) != len(states):
        raise ValueError(f"labels: expected {len(states)}, one for each step, got {len(labels)}")
    if heads and len(heads) != len(states[0]):
        raise ValueError(f"heads: expected {len(states[0])}, one for each word, got {len(heads)}")
    spans = [[_spans(word, first) for word, first in _paired(state, states[0])] for state in states]
    edges, width = _edges(states[0])
    figure, axes = plt.subplots(figsize=(4.8, _ROW * (len(states) + bool(heads)) + 0.1))
    for row, state in enumerate(states):
        axes.text(-0.4, -row, labels[row], ha="right", va="center", fontsize=9.5)
        for number, word in enumerate(state):
            before = spans[max(row - 1, 0)][number]
            for piece, span in zip(word, spans[row][number], strict=True):
                left, right = (edges[number][end] for end in span)
                _piece(axes, left, right, -row, piece, new=span not in before)
    for head, edge in zip(heads, edges, strict=bool(heads)):
        axes.text((edge[0] + edge[-1]) / 2, 0.85, head, ha="center", va="center", fontsize=9.5)
    axes.set_xlim(-width * _LABELS / (4.8 - _LABELS), width)
    axes.set_ylim(-len(states) + 0.5, 1.3 if heads else 0.5)
    axes.axis("off")
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1)
    return figure


def _paired(
    state: Sequence[Sequence[str]], first: Sequence[Sequence[str]]
) -> zip[tuple[Sequence[str], Sequence[str]]]:
    if len(state) != len(first):
        raise ValueError(f"states: expected {len(first)} words in each step, got {len(state)}")
    return zip(state, first, strict=True)


def _edges(words: Sequence[Sequence[str]]) -> tuple[list[list[float]], float]:
    """Return where the symbols of each word begin and end, and the width of all."""
    edges, left = [], 0.0
    for word in words:
        edges.append(list(accumulate((max(1.0, _LETTER * len(symbol)) for symbol in word), initial=left)))
        left = edges[-1][-1] + _GAP
    return edges, max(left - _GAP, 1.0)


def _spans(word: Sequence[str], symbols: Sequence[str]) -> list[tuple[int, int]]:
    """Return from which to which symbol of the first step each piece of a word reaches.

    Example:
        >>> _spans(["lo", "w"], ["l", "o", "w"])
        [(0, 2), (2, 3)]
    """
    boundaries = {place: count for count, place in enumerate(accumulate(map(len, symbols), initial=0))}
    places = list(accumulate(map(len, word), initial=0))
    if "".join(word) != "".join(symbols) or not boundaries.keys() >= set(places):
        raise ValueError(f"states: {list(word)} is not made by joining {list(symbols)}")
    return list(pairwise(boundaries[place] for place in places))


def _piece(axes: Axes, start: float, end: float, y: float, text: str, *, new: bool) -> None:
    """Draw one piece as a tile from start to end."""
    axes.add_patch(
        FancyBboxPatch(
            (start + 0.09, y - 0.31),
            end - start - 0.18,
            0.62,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=PALETTE["vermilion"] if new else PALETTE["tile"],
            edgecolor=PALETTE["vermilion"] if new else PALETTE["grey"],
            linewidth=0.8,
        )
    )
    colour = "#ffffff" if new else PALETTE["ink"]
    axes.text((start + end) / 2, y - 0.02, text, ha="center", va="center", fontsize=9, color=colour)
