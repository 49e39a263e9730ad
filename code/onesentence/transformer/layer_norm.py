"""LayerNorm of one position, over its features: NumPy, with its gradient.

    mu = mean_r x_r,   var = mean_r (x_r - mu)^2,   LN(x) = gamma * (x - mu) / sqrt(var + eps) + beta

Symbols: `C` width; `...` positions, batch, whatever else: no mean goes over them. The variance divides by C, and eps
keeps the output's variance below 1 even where gamma is 1 and beta 0. Ba, Kiros and Hinton 2016 (arXiv:1607.06450),
equations 3 and 4, without eps; section 4.9 of the course. `transformer.norms` has the one that trains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.inputs import finite
from onesentence.checks import checked_number
from onesentence.numerics import FloatArray


def layer_norm(
    x: ArrayLike, gamma: ArrayLike | None = None, beta: ArrayLike | None = None, *, eps: float = 1e-5
) -> FloatArray:
    """Return each position with its features centred, scaled to about unit variance, and then moved.

    Args:
        x: (..., C).
        gamma: scale, (C,); None means 1.
        beta: shift, (C,); None means 0.
        eps: added to the variance, positive.

    Returns:
        (..., C).

    Raises:
        TypeError: if something does not hold real numbers or eps is none.
        ValueError: if a shape does not fit, a number is not finite or eps not positive.

    Example:
        >>> layer_norm([[1.0, 3.0], [10.0, 30.0]]).round(4).tolist()
        [[-1.0, 1.0], [-1.0, 1.0]]
    """
    x, g, b = _checked(x, gamma, beta, eps)
    return g * _standardised(x, eps)[0] + b


def layer_norm_gradients(
    x: ArrayLike, upstream: ArrayLike, gamma: ArrayLike | None = None, *, eps: float = 1e-5
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the gradients with respect to x, gamma and beta.

    With z = (x - mu) / sqrt(var + eps) and h = gamma * upstream:
    dL/dx = (h - mean(h) - z mean(h z)) / sqrt(var + eps), means over the features.

    Args:
        x: (..., C).
        upstream: dL/dLN(x), (..., C).
        gamma: as for `layer_norm`.
        eps: as for `layer_norm`.

    Returns:
        (..., C), (C,) and (C,).

    Raises:
        TypeError, ValueError: as `layer_norm`.
    """
    x, g, _ = _checked(x, gamma, None, eps)
    up = finite("upstream", upstream)
    if up.shape != x.shape:
        raise ValueError(f"upstream must have the shape of x, {x.shape}, got {up.shape}")
    z, spread = _standardised(x, eps)
    h = g * up
    dx = (h - h.mean(axis=-1, keepdims=True) - z * (h * z).mean(axis=-1, keepdims=True)) / spread
    rest = tuple(range(x.ndim - 1))
    return dx, (up * z).sum(axis=rest), up.sum(axis=rest)


def _standardised(x: FloatArray, eps: float) -> tuple[FloatArray, FloatArray]:
    """Return z and the divisor sqrt(var + eps), (..., 1)."""
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    return centred / spread, spread


def _checked(
    x: ArrayLike, gamma: ArrayLike | None, beta: ArrayLike | None, eps: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    x = finite("x", x)
    if x.ndim < 1 or not x.shape[-1]:
        raise ValueError(f"x must have shape (..., C) with C >= 1, got {x.shape}")
    if checked_number("eps", eps) <= 0:
        raise ValueError(f"eps must be positive, got {eps}")
    C = x.shape[-1]
    g = np.ones(C, x.dtype) if gamma is None else finite("gamma", gamma)
    b = np.zeros(C, x.dtype) if beta is None else finite("beta", beta)
    for name, vector in (("gamma", g), ("beta", b)):
        if vector.shape != (C,):
            raise ValueError(f"{name} must have shape ({C},), got {vector.shape}")
    return x, g, b
