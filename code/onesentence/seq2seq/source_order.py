"""How many recurrent steps lie between a source word and its translation, in the given order and in the reversed one.

A recurrent translator without reading runs through one line of steps: the S source words, then BOS and the target words
but the last. Positions count from 1. Source word j is read in step j; target word i is predicted in step S + i, the one
that reads target word i - 1 (BOS for i = 1). So between reading j and predicting i lie

    forward:   d  = S + i - j
    reversed:  d' = S + i - (S + 1 - j) = i + j - 1             the target keeps its order
    change:    d' - d = 2 j - (S + 1)                           of j alone

A pair gets nearer if and only if its source word stands in the first half, and the average distance changes by twice
the mean of j minus (S + 1): not at all where the aligned source positions lie evenly around the middle, as in a one to
one alignment, monotone or not. The smallest distance of a monotone one to one alignment falls from S to 1.

Section 3.8 of the course; reversed sources, and the smallest of these distances under the name of minimal time lag:
Sutskever, Vinyals and Le 2014 (arXiv:1409.3215), section 3.3. They end the source with a symbol that is read too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from onesentence.checks import as_ids
from onesentence.text.parallel import ParallelPair

Steps = NDArray[np.int64]


def links(alignment: Iterable[tuple[int, int]]) -> Steps:
    """Return an alignment as rows (j, i) counted from 1, in the order of the target.

    Args:
        alignment: pairs (source position, target position) counted from 0, as in `ParallelPair`; at least one.

    Returns:
        Integers, (N, 2).

    Raises:
        TypeError: if a position is no integer.
        ValueError: if there is no pair, something that is none, or a position is negative.

    Example:
        >>> links({(1, 2), (0, 0)}).tolist()
        [[1, 1], [2, 3]]
    """
    array = as_ids("alignment", list(alignment))
    if not len(array):
        raise ValueError("alignment: expected at least one pair of positions, got none")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"alignment: expected pairs of positions, got shape {array.shape}")
    if array.min() < 0:
        raise ValueError(f"alignment: expected positions from 0 up, got {array.min()}")
    return np.add(array[np.lexsort(array.T)], 1)  # by i, then by j


def recurrent_distances(pair: ParallelPair, *, reverse: bool = False) -> Steps:
    """Return the number of steps between each source word and the word aligned to it, in the order of `links`.

    Args:
        pair: a sentence pair with its alignment.
        reverse: whether the encoder reads the source from its end.

    Returns:
        Integers from 1 up, (N,).

    Raises:
        ValueError: if nothing is aligned.

    Example:
        >>> pair = ParallelPair(("A", "B", "C"), ("X", "Y", "Z"), frozenset({(0, 0), (1, 1), (2, 2)}))
        >>> recurrent_distances(pair).tolist(), recurrent_distances(pair, reverse=True).tolist()
        ([3, 3, 3], [1, 3, 5])
    """
    j, i = links(pair.alignment).T
    steps: Steps = i + j - 1 if reverse else len(pair.source) + i - j
    return steps


def reversed_source(pair: ParallelPair) -> ParallelPair:
    """Return the pair with its source from the end to the beginning, the target as it was, the links kept.

    Args:
        pair: a sentence pair with its alignment.

    Example:
        >>> pair = ParallelPair(("A", "B"), ("X",), frozenset({(0, 0)}))
        >>> reversed_source(pair).source, sorted(reversed_source(pair).alignment)
        (('B', 'A'), [(1, 0)])
    """
    last = len(pair.source) - 1
    moved = frozenset((last - j, i) for j, i in pair.alignment)
    return ParallelPair(pair.source[::-1], pair.target, moved)
