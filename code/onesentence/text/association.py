"""Which pairs of words a measure of association puts first. Section 1.14 of the course."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import as_floats
from onesentence.text.cooccurrence import Cooccurrence


class Pair(NamedTuple):
    """Two words, how often they met, and the score of the pair."""

    centre: str
    context: str
    times: float
    score: float


def strongest_pairs(counts: Cooccurrence, scores: ArrayLike, n: int) -> tuple[Pair, ...]:
    """The n pairs of words with the highest scores, each pair once.

    Args:
        counts: symmetric counts, from a window with `side="both"`.
        scores: (V, V), symmetric; for instance PMI. Pairs that score `-inf` are left out.
        n: how many, at least 1; fewer are returned where there are fewer.

    Returns:
        The pairs, the strongest first; the earlier word of the vocabulary is the centre. Equal scores are put in
        the order of the vocabulary.

    Raises:
        TypeError: `scores` does not hold real numbers.
        ValueError: `scores` does not fit, or is not symmetric, or `n` is below 1.

    Example:
        >>> from onesentence.text.cooccurrence import Window, count_pairs, pmi
        >>> counts = count_pairs([["茶", "水", "水", "书"]], Window(1))
        >>> [(pair.centre, pair.context, pair.times) for pair in strongest_pairs(counts, pmi(counts.matrix), 2)]
        [('茶', '水', 1.0), ('水', '书', 1.0)]
    """
    values, size = as_floats("scores", scores), len(counts.vocabulary)
    if values.shape != (size, size):
        raise ValueError(f"scores must have shape {(size, size)}, got {values.shape}")
    if not np.allclose(values, values.T):  # windows with weights 1/d leave differences of rounding
        raise ValueError("scores must be symmetric; count with side='both'")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    upper = np.where(np.triu(np.ones((size, size), dtype=bool)), values, -np.inf).ravel()
    order = np.argsort(-upper, kind="stable")[:n]
    places = [divmod(int(at), size) for at in order if upper[at] > -np.inf]
    words = counts.vocabulary
    return tuple(Pair(words[i], words[j], float(counts.matrix[i, j]), float(values[i, j])) for i, j in places)
