"""A table of weights beside a gold alignment, and beside what an intervention did.

Rows are target positions, columns source positions; a row of weights sums to 1, a row of a gold alignment has as many
True as the word has units aligned to it, also none. Section 3.9 of the course.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onesentence.numerics import FloatArray
from onesentence.text.parallel import ParallelPair


def gold_of(pair: ParallelPair, *, eos: bool = False) -> NDArray[np.bool_]:
    """Return the gold alignment as a table, True at (target position, source position).

    Args:
        pair: a sentence pair with its alignment.
        eos: whether EOS has a row too, the last one, aligned to nothing.

    Example:
        >>> pair = ParallelPair(("我", "给", "了"), ("I", "gave"), frozenset({(0, 0), (1, 1), (2, 1)}))
        >>> gold_of(pair).astype(int).tolist()
        [[1, 0, 0], [0, 1, 1]]
    """
    gold = np.zeros((len(pair.target) + eos, len(pair.source)), dtype=bool)
    for j, i in pair.alignment:
        gold[i, j] = True
    return gold


def agreement(weights: FloatArray, gold: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], FloatArray]:
    """Compare the weights of target words with the units aligned to them.

    Args:
        weights: (..., T, S), each row summing to 1.
        gold: True where aligned, (..., T, S); rows without any are left out.

    Returns:
        For each row that has a unit aligned to it, in one vector: whether its largest weight lies on one, and the weight
        of all.

    Raises:
        ValueError: if the shapes differ.

    Example:
        >>> gold = np.array([[True, True, False], [False, False, False], [False, True, False]])
        >>> agreement(np.array([[0.3, 0.1, 0.6], [1, 0, 0], [0, 0.75, 0.25]]), gold)
        (array([False,  True]), array([0.4 , 0.75]))
    """
    if weights.shape != gold.shape:
        raise ValueError(f"weights must have the shape of gold, {gold.shape}, got {weights.shape}")
    rows = gold.any(axis=-1)
    hits = np.take_along_axis(gold, weights.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return hits[rows], (weights * gold).sum(axis=-1)[rows]


def disagreements(
    weights: FloatArray, added: FloatArray, *, heavy: float = 0.5, light: float = 0.1, much: float = 1.0
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the cells at which a map of weights and an intervention tell different stories.

    Args:
        weights: (T, S).
        added: what the intervention at each unit adds to each loss, in nats, (T, S).
        heavy: a weight from here on counts as large.
        light: a weight below counts as small; an added loss below it too.
        much: an added loss from here on counts as large.

    Returns:
        Cells (target, source) that are read without need, weight large and added loss small, and cells that are needed
        without being read, weight small and added loss large.

    Raises:
        ValueError: if the shapes differ.

    Example:
        >>> disagreements(np.array([[0.9, 0.1], [0.0, 1.0]]), np.array([[0.0, 0.2], [3.0, 2.0]]))
        ([(0, 0)], [(1, 0)])
    """
    if weights.shape != added.shape:
        raise ValueError(f"added must have the shape of weights, {weights.shape}, got {added.shape}")
    idle = np.argwhere((weights >= heavy) & (added < light))
    unseen = np.argwhere((weights < light) & (added >= much))
    return [(int(i), int(j)) for i, j in idle], [(int(i), int(j)) for i, j in unseen]
