"""What negative sampling would learn if every pair of words had a number of its own.

With #(c, o) the count of a pair, #(c) that of the centre and P(o) the noise, the expected loss of a cell is

    -#(c, o) log sigma(x) - K #(c) P(o) log sigma(-x),  x = v_c . u_o

and is smallest at x = log(#(c, o) / (#(c) P(o))) - log K. With noise P(o) = #(o) / N, the frequencies themselves,
that is PMI(c, o) - log K (Levy and Goldberg 2014, section 3.1). It holds cell by cell only where the tables are
wide enough to give every cell its own value (d = V) and every count is positive: an empty cell runs to -infinity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.embed.table import as_matrix
from onesentence.embed.word2vec import sigmoid, softplus
from onesentence.numerics import FloatArray, as_floats


def cell_optimum(counts: ArrayLike, negatives: int, noise: ArrayLike | None = None) -> FloatArray:
    """The value of v_c . u_o at which the expected loss of each cell is smallest.

    Args:
        counts: #(c, o), (V, V), all positive.
        negatives: K, at least 1.
        noise: P(o), (V,), positive; None takes the frequencies of the contexts, which makes it PMI - log K.

    Returns:
        (V, V).

    Raises:
        TypeError: arguments that do not hold numbers.
        ValueError: counts or noise that are not positive, `negatives` below 1.

    Example:
        >>> cell_optimum([[1, 1], [1, 1]], negatives=1).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    observed, expected = _weights(counts, negatives, noise)
    optimum: FloatArray = np.log(observed / expected)
    return optimum


def expected_loss(
    scores: ArrayLike, counts: ArrayLike, negatives: int, noise: ArrayLike | None = None
) -> float:
    """Loss of negative sampling in expectation over the noise, per observed pair.

    Args:
        scores: v_c . u_o, (V, V).
        counts: #(c, o), (V, V), all positive.
        negatives: K, at least 1.
        noise: P(o), (V,); None takes the frequencies of the contexts.

    Returns:
        Nats per pair.

    Raises:
        TypeError: arguments that do not hold numbers.
        ValueError: shapes that do not fit, counts or noise not positive, `negatives` below 1.

    Example:
        >>> round(expected_loss([[0, 0], [0, 0]], [[1, 1], [1, 1]], negatives=1), 6)
        1.386294
    """
    x = as_matrix("scores", scores)
    observed, expected = _weights(counts, negatives, noise)
    if x.shape != observed.shape:
        raise ValueError(f"scores must have the shape {observed.shape} of counts, got {x.shape}")
    return float((observed * softplus(-x) + expected * softplus(x)).sum())


def fit_tables(
    counts: ArrayLike,
    width: int,
    negatives: int,
    rng: np.random.Generator,
    *,
    steps: int = 4000,
    rate: float = 0.05,
) -> tuple[FloatArray, FloatArray]:
    """Minimise the expected loss over two tables by Adam, with the rate going to 0 in a straight line.

    Args:
        counts: #(c, o), (V, V), all positive.
        width: d, at least 1.
        negatives: K, at least 1.
        rng: source of the first values.
        steps: number of updates.
        rate: first learning rate.

    Returns:
        Centre table and context table, both (V, d).

    Raises:
        TypeError: `rng` is not a NumPy Generator, arguments that do not hold numbers.
        ValueError: counts not positive, `width`, `negatives` or `steps` below 1.

    Example:
        >>> v, u = fit_tables([[3, 1], [1, 3]], width=2, negatives=1, rng=np.random.default_rng(0))
        >>> bool(np.allclose(v @ u.T, cell_optimum([[3, 1], [1, 3]], 1), atol=1e-3))
        True
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
    if width < 1 or steps < 1:
        raise ValueError(f"width and steps must be at least 1, got {width} and {steps}")
    observed, expected = _weights(counts, negatives, None)
    size = len(observed)
    tables = rng.normal(0, 0.3, (2, size, width))
    mean, square = np.zeros_like(tables), np.zeros_like(tables)
    for step in range(1, steps + 1):
        v, u = tables
        x = v @ u.T
        error = expected * sigmoid(x) - observed * sigmoid(-x)
        gradient = np.stack([error @ u, error.T @ v])
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        direction = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-9)
        tables = tables - rate * (1 - (step - 1) / steps) * direction
    return tables[0], tables[1]


def _weights(counts: ArrayLike, negatives: int, noise: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Return the weights of the two terms of each cell, per observed pair."""
    n = as_matrix("counts", counts)
    if n.shape[0] != n.shape[1] or not (n > 0).all():
        raise ValueError("counts must be a square matrix of positive numbers: an empty cell has no optimum")
    if isinstance(negatives, bool) or not isinstance(negatives, (int, np.integer)):
        raise TypeError(f"negatives must be an integer, got {negatives!r}")
    if negatives < 1:
        raise ValueError(f"negatives must be at least 1, got {negatives}")
    total = n.sum()
    p = n.sum(axis=0) / total if noise is None else as_floats("noise", noise)
    if p.shape != (len(n),) or not (p > 0).all():
        raise ValueError(f"noise must be a vector of {len(n)} positive probabilities, got shape {p.shape}")
    return n / total, negatives * np.outer(n.sum(axis=1) / total, p)
