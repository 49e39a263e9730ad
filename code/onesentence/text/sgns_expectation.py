"""What skip-gram with negative sampling minimises in expectation, for scores that are free or of low rank.

With x_ij = w_i . c_j and k negative samples drawn with the contexts' own frequencies (Levy and Goldberg 2014,
section 3.1)

    J(x) = - sum_ij [ C_ij log sigma(x_ij) + k N_i N_j / N log sigma(-x_ij) ]
    N_i = sum_j C_ij,  N_j = sum_i C_ij,  N = sum_ij C_ij

If every x_ij could be chosen by itself, the minimum would lie at x = PMI - log k. That needs a width that lets the
scores be free, these negative samples and no others, and counts above 0: where C_ij = 0 the minimum is at minus
infinity. Vectors of a lower width minimise J under a constraint, in which each pair weighs what J gives it; the
truncated SVD of PMI - log k weighs all pairs alike. So the two need not agree.

Symbols: `C` counts, (V, K); `x` scores, (V, K), in nats.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats
from onesentence.text.cooccurrence import checked_counts


def expected_loss(scores: ArrayLike, counts: ArrayLike, negatives: float) -> float:
    """The expected loss J of skip-gram with negative sampling over a whole corpus, in nats.

    Args:
        scores: x, (V, K), finite.
        counts: C, (V, K), non-negative, with a positive sum.
        negatives: k, positive.

    Raises:
        TypeError: `scores` or `counts` does not hold real numbers.
        ValueError: shapes differ, scores are not finite, counts are no counts, `negatives` is not positive.

    Example:
        >>> round(expected_loss([[0.0, 0.0]], [[1, 3]], negatives=1), 6)  # 8 log 2
        5.545177
    """
    x, seen, sampled = _checked(scores, counts, negatives)
    return float((seen * np.logaddexp(0.0, -x) + sampled * np.logaddexp(0.0, x)).sum())


def expected_gradient(scores: ArrayLike, counts: ArrayLike, negatives: float) -> FloatArray:
    """The derivative of `expected_loss` by each score; 0 at PMI - log k where the count is positive.

    Args:
        scores: x, (V, K), finite.
        counts: C, (V, K), non-negative, with a positive sum.
        negatives: k, positive.

    Returns:
        (V, K).

    Raises:
        TypeError, ValueError: as `expected_loss`.

    Example:
        >>> expected_gradient([[0.0, 0.0]], [[1, 3]], negatives=1).tolist()
        [[0.0, 0.0]]
    """
    x, seen, sampled = _checked(scores, counts, negatives)
    right = 0.5 * (1.0 + np.tanh(x / 2))  # sigma(x)
    result: FloatArray = sampled * right - seen * (1.0 - right)
    return result


def descend(
    vectors: ArrayLike,
    contexts: ArrayLike,
    counts: ArrayLike,
    negatives: float,
    *,
    learning_rate: float,
    steps: int,
) -> tuple[FloatArray, FloatArray]:
    """Lower the expected loss of vectors of a fixed width by plain gradient descent.

    Args:
        vectors: w, (V, d), where to start.
        contexts: c, (K, d).
        counts: C, (V, K), non-negative, with a positive sum.
        negatives: k, positive.
        learning_rate: step, positive; of J divided by the sum of the counts.
        steps: number of steps, at least 1.

    Returns:
        The vectors and contexts after the last step.

    Raises:
        TypeError, ValueError: as `expected_loss`; a step or a number of steps that is not positive.

    Example:
        >>> w, c = descend([[0.5]], [[-0.5]], [[1]], negatives=2, learning_rate=0.5, steps=100)
        >>> (w @ c.T).round(3).tolist()  # PMI - log 2
        [[-0.693]]
    """
    w, c = as_floats("vectors", vectors), as_floats("contexts", contexts)
    if w.ndim != 2 or c.ndim != 2 or w.shape[1] != c.shape[1]:
        raise ValueError(f"vectors and contexts must be of one width, got shapes {w.shape} and {c.shape}")
    if not learning_rate > 0 or steps < 1:
        raise ValueError(
            f"learning_rate and steps must be positive, got learning_rate={learning_rate}, steps={steps}"
        )
    rate = learning_rate / float(checked_counts(counts).sum())
    for _ in range(steps):
        slope = expected_gradient(w @ c.T, counts, negatives)
        w, c = w - rate * slope @ c, c - rate * slope.T @ w
    return w, c


def _checked(
    scores: ArrayLike, counts: ArrayLike, negatives: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Scores, counts, and how many negative samples each pair is expected to get."""
    x, seen = as_floats("scores", scores), checked_counts(counts)
    if x.shape != seen.shape or not np.isfinite(x).all():
        raise ValueError(f"scores must be finite and of the shape {seen.shape} of counts, got {x.shape}")
    if not negatives > 0:
        raise ValueError(f"negatives must be positive, got {negatives}")
    sampled = negatives * np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    return x, seen, sampled
