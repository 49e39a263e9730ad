"""What skip-gram with negative sampling minimises in expectation, for scores that are free or of low rank.

With x_ij = w_i . c_j and k negative samples drawn from the noise q (Levy and Goldberg 2014, section 3.1)

    J(x) = - sum_ij [ C_ij log sigma(x_ij) + k N_i q_j log sigma(-x_ij) ]
    N_i = sum_j C_ij,  N_j = sum_i C_ij,  N = sum_ij C_ij

If every x_ij could be chosen by itself, the minimum would lie at x_ij = log(C_ij / (N_i q_j)) - log k. For noise
with the contexts' own frequencies, q_j = N_j / N, which is what `noise=None` means, that is PMI - log k. It needs a
width that lets the scores be free, and counts above 0: where C_ij = 0 the minimum is at minus infinity. Vectors of
a lower width minimise J under a constraint, in which each pair weighs what J gives it; the truncated SVD of
PMI - log k weighs all pairs alike. So the two need not agree.

Symbols: `C` counts, (V, K); `x` scores, (V, K), in nats. Sections 1.5 and 1.14 of the course.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from onesentence.activations import sigmoid, softplus
from onesentence.embed.optim import SGD, Adam
from onesentence.numerics import FloatArray, as_floats
from onesentence.text.cooccurrence import checked_counts


def expected_loss(
    scores: ArrayLike, counts: ArrayLike, negatives: float, noise: ArrayLike | None = None
) -> float:
    """The expected loss J of skip-gram with negative sampling over a whole corpus, in nats.

    Args:
        scores: x, (V, K), finite.
        counts: C, (V, K), non-negative, with a positive sum; their shares of that sum in their place give the
            loss per pair.
        negatives: k, positive.
        noise: q, (K,), positive; None takes the frequencies of the contexts.

    Raises:
        TypeError: an argument does not hold real numbers.
        ValueError: shapes differ, scores are not finite, counts are no counts, `negatives` or noise not positive.

    Example:
        >>> round(expected_loss([[0.0, 0.0]], [[1, 3]], negatives=1), 6)  # 8 log 2
        5.545177
    """
    seen, sampled = _weights(counts, negatives, noise)
    x = _checked_scores(scores, seen)
    return float((seen * softplus(-x) + sampled * softplus(x)).sum())


def expected_gradient(
    scores: ArrayLike, counts: ArrayLike, negatives: float, noise: ArrayLike | None = None
) -> FloatArray:
    """The derivative of `expected_loss` by each score; 0 at `cell_optimum`.

    Args:
        scores: as `expected_loss`.
        counts: as `expected_loss`.
        negatives: as `expected_loss`.
        noise: as `expected_loss`.

    Returns:
        (V, K).

    Raises:
        TypeError, ValueError: as `expected_loss`.

    Example:
        >>> expected_gradient([[0.0, 0.0]], [[1, 3]], negatives=1).tolist()
        [[0.0, 0.0]]
    """
    seen, sampled = _weights(counts, negatives, noise)
    return _gradient(_checked_scores(scores, seen), seen, sampled)


def cell_optimum(counts: ArrayLike, negatives: float, noise: ArrayLike | None = None) -> FloatArray:
    """The score at which the expected loss of each cell is smallest.

    Args:
        counts: C, (V, K), all positive.
        negatives: k, positive.
        noise: q, (K,), positive; None takes the frequencies of the contexts, which makes it PMI - log k.

    Returns:
        (V, K).

    Raises:
        TypeError: an argument does not hold real numbers.
        ValueError: as `expected_loss`; a count is 0.

    Example:
        >>> cell_optimum([[1, 1], [1, 1]], negatives=1).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    seen, sampled = _weights(counts, negatives, noise)
    _check_full(seen)
    optimum: FloatArray = np.log(seen / sampled)
    return optimum


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
    seen, sampled = _weights(counts, negatives, None)
    _checked_scores(w @ c.T, seen)
    tables, optimiser = {"w": w.copy(), "c": c.copy()}, SGD(rate=learning_rate)
    for _ in range(steps):
        optimiser.step(tables, _table_gradients(tables, seen, sampled))
    return tables["w"], tables["c"]


def fit_tables(
    counts: ArrayLike,
    width: int,
    negatives: float,
    rng: np.random.Generator,
    *,
    steps: int = 4000,
    rate: float = 0.05,
) -> tuple[FloatArray, FloatArray]:
    """Minimise the expected loss over two random tables by Adam, with the rate going to 0 in a straight line.

    Args:
        counts: C, (V, K), all positive.
        width: d, at least 1.
        negatives: k, positive.
        rng: source of the first values.
        steps: number of updates, at least 1.
        rate: first learning rate, positive.

    Returns:
        Vectors (V, d) and contexts (K, d).

    Raises:
        TypeError: `rng` is not a NumPy Generator, arguments that do not hold numbers.
        ValueError: as `cell_optimum`; `width` or `steps` below 1, `rate` not positive.

    Example:
        >>> w, c = fit_tables([[3, 1], [1, 3]], width=2, negatives=1, rng=np.random.default_rng(0))
        >>> bool(np.allclose(w @ c.T, cell_optimum([[3, 1], [1, 3]], 1), atol=1e-3))
        True
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
    if width < 1 or steps < 1:
        raise ValueError(f"width and steps must be at least 1, got {width} and {steps}")
    seen, sampled = _weights(counts, negatives, None)
    _check_full(seen)
    tables = {name: rng.normal(0, 0.3, (size, width)) for name, size in zip("wc", seen.shape, strict=True)}
    optimiser = Adam(rate=rate, eps=1e-9)
    for step in range(steps):
        optimiser.rate = rate * (1 - step / steps)
        optimiser.step(tables, _table_gradients(tables, seen, sampled))
    return tables["w"], tables["c"]


def _gradient(x: FloatArray, seen: FloatArray, sampled: FloatArray) -> FloatArray:
    slope: FloatArray = sampled * sigmoid(x) - seen * sigmoid(-x)
    return slope


def _table_gradients(
    tables: Mapping[str, FloatArray], seen: FloatArray, sampled: FloatArray
) -> dict[str, FloatArray]:
    """The gradient of J divided by the number of pairs, for both tables."""
    w, c = tables["w"], tables["c"]
    slope = _gradient(w @ c.T, seen, sampled) / seen.sum()
    return {"w": slope @ c, "c": slope.T @ w}


def _weights(counts: ArrayLike, negatives: float, noise: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Counts, and how many negative samples each pair is expected to get."""
    seen = checked_counts(counts)
    if not negatives > 0:
        raise ValueError(f"negatives must be positive, got {negatives}")
    columns = seen.shape[1]
    q = seen.sum(axis=0) / seen.sum() if noise is None else as_floats("noise", noise)
    if q.shape != (columns,) or not (noise is None or (q > 0).all()):
        raise ValueError(f"noise must be a vector of {columns} positive probabilities, got shape {q.shape}")
    sampled: FloatArray = negatives * np.outer(seen.sum(axis=1), q)
    return seen, sampled


def _checked_scores(scores: ArrayLike, seen: FloatArray) -> FloatArray:
    x = as_floats("scores", scores)
    if x.shape != seen.shape or not np.isfinite(x).all():
        raise ValueError(f"scores must be finite and of the shape {seen.shape} of counts, got {x.shape}")
    return x


def _check_full(seen: FloatArray) -> None:
    if not (seen > 0).all():
        raise ValueError("counts must all be positive: an empty cell has no optimum")
