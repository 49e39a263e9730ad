"""What the argument for 1/sqrt(D) assumes, made to order, and how far a row of weights has closed in on one key.

    components     q_r with variance 1, mean m, correlation rho between any two of one vector
    entropy        -sum_j alpha_j ln alpha_j
    sensitivity    sum_j d alpha_j / d e_j = sum_j alpha_j (1 - alpha_j)

For q and k drawn so, independently of each other, Var(q . k) is D where m = rho = 0; D (1 + 2 m^2) where rho = 0;
D (1 + (D - 1) rho^2) where m = 0. Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.1, footnote 4, has the first.
Section 4.4 of the course.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import checked_integer, checked_number
from onesentence.numerics import FloatArray, as_floats


def components(
    shape: tuple[int, ...], rng: np.random.Generator, *, mean: float = 0.0, correlation: float = 0.0
) -> FloatArray:
    """Return normal vectors whose components have variance 1.

    Args:
        shape: (..., D).
        rng: source of all randomness.
        mean: m, of every component.
        correlation: rho, between any two components of one vector, in [0, 1].

    Returns:
        float32 of this shape.

    Raises:
        TypeError: if a size is not an integer, a parameter no number, `rng` no generator.
        ValueError: if there is no axis, a size is less than 1 or the correlation lies outside.

    Example:
        >>> components((2, 3), np.random.default_rng(0), correlation=1.0).std(axis=-1).round(6).tolist()
        [0.0, 0.0]
    """
    m, rho = checked_number("mean", mean), checked_number("correlation", correlation)
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
    if not shape:
        raise ValueError("shape must have at least one axis, got ()")
    sizes = tuple(checked_integer("shape", size, 1) for size in shape)
    if not 0 <= rho <= 1:
        raise ValueError(f"correlation must lie in [0, 1], got {rho}")
    own = rng.standard_normal(sizes, dtype=np.float32)
    if rho:
        common = rng.standard_normal((*sizes[:-1], 1), dtype=np.float32)
        own = np.float32(rho**0.5) * common + np.float32((1 - rho) ** 0.5) * own
    return own + np.float32(m)


def entropy(weights: ArrayLike) -> FloatArray:
    """Return the entropy of each row of weights, nats.

    Args:
        weights: (..., S), non-negative, each row with sum 1; 0 ln 0 is 0.

    Raises:
        TypeError: if `weights` does not hold real numbers.
        ValueError: if there is no axis, a number is negative or NaN, or the sum of a row is not 1.

    Example:
        >>> entropy([[1.0, 0.0], [0.5, 0.5]]).round(6).tolist()
        [0.0, 0.693147]
    """
    alpha = _checked(weights)
    return np.asarray(0 - (alpha * np.log(np.where(alpha > 0, alpha, 1))).sum(axis=-1))


def sensitivity(weights: ArrayLike) -> FloatArray:
    """Return how much the weights of a row move with their own scores: the trace of the softmax's Jacobian.

    Args:
        weights: (..., S), non-negative, each row with sum 1.

    Raises:
        TypeError, ValueError: as `entropy`.

    Example:
        >>> sensitivity([[1.0, 0.0], [0.5, 0.5]]).tolist()
        [0.0, 0.5]
    """
    alpha = _checked(weights)
    return np.asarray((alpha * (1 - alpha)).sum(axis=-1))


def _checked(weights: ArrayLike) -> FloatArray:
    alpha = as_floats("weights", weights)
    if alpha.ndim == 0 or not (alpha >= 0).all():
        raise ValueError(f"weights must be non-negative with at least one axis, got shape {alpha.shape}")
    sums = alpha.sum(axis=-1)
    if wrong := [float(total) for total in sums.flat if not abs(total - 1) < 1e-3]:
        raise ValueError(f"weights must have rows with sum 1, got {wrong[0]:g}")
    return alpha
