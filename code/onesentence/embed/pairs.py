"""Training examples from neighbours: the text supplies the question and the answer.

Skip-gram asks a centre word for each word of its window, one pair (centre, context) at a time; CBOW asks the
whole window for the centre. Windows end at the ends of the sequence. Section 1.5; Mikolov et al. 2013
(arXiv:1301.3781, sections 3.1 and 3.2). Difference: their program draws the radius of every window from 1 to R,
which weighs near words higher; here every window has the full radius.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from onesentence.checks import checked_integer
from onesentence.text.cooccurrence import Side

Token = TypeVar("Token")


def skip_gram_pairs(
    tokens: Sequence[Token], radius: int, side: Side = "both"
) -> tuple[tuple[Token, Token], ...]:
    """Pairs (centre, context) of a sequence: centres from left to right, contexts from left to right.

    Args:
        tokens: the sequence; may be empty.
        radius: how many places a window reaches to a side, at least 1.
        side: `"left"` keeps only contexts before the centre, `"right"` only those after it.

    Returns:
        The pairs. A word that stands twice in a window makes two pairs.

    Raises:
        TypeError: `radius` is not an integer.
        ValueError: `radius` below 1, an unknown side.

    Example:
        >>> skip_gram_pairs("abc", 1)
        (('a', 'b'), ('b', 'a'), ('b', 'c'), ('c', 'b'))
        >>> skip_gram_pairs("abc", 2, side="left")
        (('b', 'a'), ('c', 'a'), ('c', 'b'))
    """
    windows = cbow_examples(tokens, radius, side)
    return tuple((centre, context) for window, centre in windows for context in window)


def cbow_examples(
    tokens: Sequence[Token], radius: int, side: Side = "both"
) -> tuple[tuple[tuple[Token, ...], Token], ...]:
    """Examples (window, centre) of a sequence; a centre without neighbours gives none.

    Args:
        tokens: the sequence; may be empty.
        radius: how many places a window reaches to a side, at least 1.
        side: which side of the centre is used.

    Returns:
        For each centre its window, without the centre itself, in order.

    Raises:
        TypeError: `radius` is not an integer.
        ValueError: `radius` below 1, an unknown side.

    Example:
        >>> cbow_examples("abc", 1)
        ((('b',), 'a'), (('a', 'c'), 'b'), (('b',), 'c'))
    """
    left, right = _reach(radius, side)
    examples = []
    for at, centre in enumerate(tokens):
        window = (*tokens[max(0, at - left) : at], *tokens[at + 1 : at + 1 + right])
        if window:
            examples.append((window, centre))
    return tuple(examples)


def _ids(values: Sequence[object]) -> NDArray[np.intp]:
    """Return word IDs as an array; -1 is kept for the places that a window lacks."""
    array = np.array(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"sentences must hold integer IDs, got {array.dtype}")
    if array.min() < 0:
        raise ValueError(f"sentences must hold IDs of at least 0, got {array.min()}")
    return array.astype(np.intp)


def skip_gram_arrays(
    sentences: Iterable[Sequence[int]], radius: int, side: Side = "both"
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pairs of a corpus of IDs as arrays for training; windows never cross a sentence.

    Args:
        sentences: sequences of word IDs.
        radius: how many places a window reaches to a side, at least 1.
        side: which side of the centre is used.

    Returns:
        Inputs (N, 1), the centres, and outputs (N,), the contexts.

    Raises:
        TypeError: IDs that are no integers.
        ValueError: a negative ID, the corpus gives no pair; or as `skip_gram_pairs`.

    Example:
        >>> inputs, outputs = skip_gram_arrays([[5, 7], [8]], 1)
        >>> inputs.tolist(), outputs.tolist()
        ([[5], [7]], [7, 5])
    """
    pairs = [pair for sentence in sentences for pair in skip_gram_pairs(sentence, radius, side)]
    if not pairs:
        raise ValueError("sentences must hold at least one pair of neighbours, got none")
    array = _ids(pairs)
    return array[:, :1], array[:, 1]


def cbow_arrays(
    sentences: Iterable[Sequence[int]], radius: int, side: Side = "both"
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The windows of a corpus of IDs as arrays for training, short ones filled up with -1.

    Args:
        sentences: sequences of word IDs.
        radius: how many places a window reaches to a side, at least 1.
        side: which side of the centre is used.

    Returns:
        Inputs (N, C) with C the widest window and -1 where a window is shorter, and outputs (N,), the centres.

    Raises:
        TypeError: IDs that are no integers.
        ValueError: a negative ID, the corpus gives no window; or as `cbow_examples`.

    Example:
        >>> inputs, outputs = cbow_arrays([[5, 7, 8]], 1)
        >>> inputs.tolist(), outputs.tolist()
        ([[7, -1], [5, 8], [7, -1]], [5, 7, 8])
    """
    examples = [example for sentence in sentences for example in cbow_examples(sentence, radius, side)]
    if not examples:
        raise ValueError("sentences must hold at least one pair of neighbours, got none")
    centres = _ids([centre for _, centre in examples])
    _ids([word for window, _ in examples for word in window])
    inputs = np.full((len(examples), max(len(window) for window, _ in examples)), -1, dtype=np.intp)
    for row, (window, _) in zip(inputs, examples, strict=True):
        row[: len(window)] = window
    return inputs, centres


def _reach(radius: int, side: Side) -> tuple[int, int]:
    """Return how far a window reaches to the left and to the right."""
    radius = checked_integer("radius", radius, 1)
    if side not in ("both", "left", "right"):
        raise ValueError(f"side must be 'both', 'left' or 'right', got {side!r}")
    return (0 if side == "right" else radius), (0 if side == "left" else radius)
