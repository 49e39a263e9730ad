"""How often a word counts: dropping frequent words before training, drawing noise words during it.

Subsampling discards each occurrence of word w with probability 1 - sqrt(t / f(w)), f its relative frequency and
t a threshold; noise words follow f(w)^(3/4), normalised. Both are from Mikolov et al. 2013 (arXiv:1310.4546),
equation 5 of section 2.3 and section 2.2. Difference: the paper's formula is negative for f < t, where nothing
is discarded; their released program uses another formula than the paper, which is not used here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import as_ids
from onesentence.numerics import FloatArray, as_floats


def discard_probability(frequency: ArrayLike, threshold: float) -> FloatArray:
    """Probability 1 - sqrt(t / f) that an occurrence is dropped, 0 for words rarer than the threshold.

    Args:
        frequency: f, relative frequencies in (0, 1], any shape.
        threshold: t, positive.

    Returns:
        Probabilities of the same shape.

    Raises:
        TypeError: `frequency` does not hold real numbers.
        ValueError: a frequency outside (0, 1], a threshold that is not positive.

    Example:
        >>> discard_probability([0.25, 0.01, 0.001], threshold=0.01).tolist()
        [0.8, 0.0, 0.0]
    """
    f = as_floats("frequency", frequency)
    if not ((f > 0) & (f <= 1)).all():
        raise ValueError("frequency must lie in (0, 1]")
    if not (isfinite(threshold) and threshold > 0):
        raise ValueError(f"threshold must be positive and finite, got {threshold}")
    dropped: FloatArray = np.maximum(0.0, 1.0 - np.sqrt(threshold / f))
    return dropped


def subsample(
    sentences: Iterable[Sequence[int]], size: int, threshold: float, rng: np.random.Generator
) -> tuple[tuple[int, ...], ...]:
    """Drop occurrences of frequent words; what is left moves together, so windows reach further.

    Args:
        sentences: sequences of word IDs in [0, size).
        size: V, the number of words.
        threshold: t of the discard probability, positive.
        rng: source of randomness; the same state gives the same result.

    Returns:
        As many sentences, in order, some of them shorter or empty.

    Raises:
        TypeError: IDs that are no integers, `rng` is not a NumPy Generator.
        ValueError: an empty corpus, an ID outside [0, size), a threshold that is not positive.

    Example:
        >>> subsample([[0, 1], [0, 0]], 2, threshold=1.0, rng=np.random.default_rng(0))
        ((0, 1), (0, 0))
    """
    _check_rng(rng)
    kept_sentences = [as_ids("sentences", list(sentence), size) for sentence in sentences]
    counts = np.bincount(np.concatenate([np.empty(0, np.intp), *kept_sentences]), minlength=size)
    if counts.sum() == 0:
        raise ValueError("sentences must hold at least one word, got none")
    dropped = np.zeros(size)
    seen = counts > 0
    dropped[seen] = discard_probability(counts[seen] / counts.sum(), threshold)
    return tuple(
        tuple(int(word) for word in words[rng.random(len(words)) >= dropped[words]])
        for words in kept_sentences
    )


def noise_distribution(counts: ArrayLike, power: float = 0.75) -> FloatArray:
    """Probabilities proportional to counts^power, for drawing noise words.

    Args:
        counts: (V,), not negative, at least one positive.
        power: 1 keeps the frequencies, 0 makes all words that occur equal; at least 0.

    Returns:
        (V,), summing to 1; a word that never occurs is never drawn, also at power 0.

    Raises:
        TypeError: `counts` does not hold real numbers.
        ValueError: `counts` is not a vector with a positive entry and none below 0, `power` below 0.

    Example:
        >>> noise_distribution([16, 1]).round(6).tolist()
        [0.888889, 0.111111]
    """
    n = as_floats("counts", counts)
    if n.ndim != 1 or not np.isfinite(n).all() or (n < 0).any() or not (n > 0).any():
        raise ValueError("counts must be a vector with a positive entry and none below 0")
    if not (isfinite(power) and power >= 0):
        raise ValueError(f"power must be finite and at least 0, got {power}")
    n = n.astype(np.float64) / n.max()  # neither the power nor the sum can overflow
    weights = np.where(n > 0, n, 1.0) ** power * (n > 0)
    share: FloatArray = weights / weights.sum()
    return share


class NoiseSampler:
    """Draws word IDs by their probabilities: one uniform number, one search in the running sum.

    Args:
        probabilities: (V,), not negative, summing to 1.

    Raises:
        TypeError: `probabilities` does not hold real numbers.
        ValueError: not a vector, a negative entry, or a sum that is not 1.

    Example:
        >>> NoiseSampler([0.0, 1.0]).draw((2, 3), np.random.default_rng(0)).tolist()
        [[1, 1, 1], [1, 1, 1]]
    """

    def __init__(self, probabilities: ArrayLike) -> None:
        p = as_floats("probabilities", probabilities)
        if p.ndim != 1 or not (p >= 0).all() or abs(float(p.sum()) - 1) > 1e-6:
            raise ValueError("probabilities must be a vector of non-negative numbers that sum to 1")
        running = np.cumsum(p, dtype=np.float64)
        self._cumulative = running / running[-1]
        self._last = int(np.flatnonzero(p)[-1])

    def draw(self, shape: int | tuple[int, ...], rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw IDs, with replacement.

        Args:
            shape: shape of the result.
            rng: source of randomness.

        Raises:
            TypeError: `rng` is not a NumPy Generator.
        """
        _check_rng(rng)
        drawn = np.searchsorted(self._cumulative, rng.random(shape), side="right")
        return np.minimum(drawn, self._last)  # the running sum may end a rounding error below 1


def _check_rng(rng: np.random.Generator) -> None:
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
