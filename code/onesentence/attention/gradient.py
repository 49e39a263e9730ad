"""The way back through a read: from dL/dc to values, scores, queries and keys.

With weights alpha_ij = softmax_j(e_ij), context c_i = sum_j alpha_ij v_j and upstream gradient g_i = dL/dc_i

    dL/dv_j  = sum_i alpha_ij g_i
    dL/de_ij = alpha_ij g_i . (v_j - c_i)
    dL/dq_i  = scale * sum_j dL/de_ij k_j
    dL/dk_j  = scale * sum_i dL/de_ij q_i

The first two belong to softmax and sum and hold for any scorer; the last two are the dot product's. A score rises under
gradient descent where v_j points further against g_i than what is read now. Where alpha_ij is 0, masked or vanished,
nothing comes back. q, k and v are independent inputs here: where one x is projected to several of them, their
gradients go through the projections and add up.

Section 3.7 of the course; its formulas are for one query. Symbols as in `attention.read`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.inputs import finite, in_range, sum_to
from onesentence.attention.read import read
from onesentence.attention.scorers import Dot
from onesentence.numerics import FloatArray, as_floats


@dataclass(frozen=True, eq=False)
class ReadGradients:
    """dL by everything that a read was made of, each shaped like it.

    Attributes:
        scores: dL/de, (..., T, S).
        q: (..., T, D).
        k: (..., S, D).
        v: (..., S, Dv).
    """

    scores: FloatArray
    q: FloatArray
    k: FloatArray
    v: FloatArray


def weighted_sum_gradients(weights: ArrayLike, v: ArrayLike, g: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return dL/de and dL/dv of c = softmax(e) v, whatever the scores came from.

    Args:
        weights: alpha, (..., T, S); rows sum to 1, or are all 0 where nothing may be read.
        v: values, (..., S, Dv).
        g: dL/dc, (..., T, Dv).

    Returns:
        dL/de, the shape of the weights, each row summing to 0; dL/dv, the shape of the values.

    Raises:
        TypeError: if an argument does not hold real numbers.
        ValueError: if a shape does not fit, a number is not finite or a gradient too large to be.

    Example:
        >>> de, dv = weighted_sum_gradients([[0.5, 0.5]], [[2.0], [0.0]], [[1.0]])
        >>> de.tolist(), dv.tolist()
        ([[0.5, -0.5]], [[0.5], [0.5]])
    """
    alpha, v, g = (finite(name, x) for name, x in (("weights", weights), ("v", v), ("g", g)))
    _check_shapes(alpha, v, g)
    c = alpha @ v
    with np.errstate(over="ignore", invalid="ignore"):  # reported below, by name
        advantage = g @ v.mT - (g * c).sum(axis=-1, keepdims=True)  # g_i . (v_j - c_i)
        de, dv = sum_to(alpha * advantage, alpha.shape), sum_to(alpha.mT @ g, v.shape)
    return in_range("the gradient of the scores", de), in_range("the gradient of v", dv)


def read_gradients(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    g: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    scale: float | None = 1.0,
) -> ReadGradients:
    """Return the gradients of `read(q, k, v, mask=mask, scale=scale)`.

    Args:
        q: queries, (..., T, D).
        k: keys, (..., S, D).
        v: values, (..., S, Dv).
        g: dL/dc, (..., T, Dv).
        mask: as for `read`; where it is False the gradient of the score is exactly 0.
        scale: as for `read`.

    Returns:
        All zero for a query that may read nothing.

    Raises:
        TypeError, ValueError: as `read`, and if `g` does not have the shape of the context.

    Example:
        >>> of = read_gradients([[0.0]], [[1.0], [2.0]], [[2.0], [0.0]], [[1.0]])
        >>> of.scores.tolist(), of.q.tolist()
        ([[0.5, -0.5]], [[-0.5]])
    """
    q, k, v = as_floats("q", q), as_floats("k", k), as_floats("v", v)
    if q.ndim < 2:
        raise ValueError(f"q must have shape (..., T, D), got {q.shape}")
    weights = read(q, k, v, mask=mask, scale=scale).weights
    de, dv = weighted_sum_gradients(weights, v, g)
    of = Dot(q.shape[-1], scale).backward(q, k, de)
    return ReadGradients(de, of.q, of.k, dv)


def _check_shapes(alpha: FloatArray, v: FloatArray, g: FloatArray) -> None:
    if alpha.ndim < 2:
        raise ValueError(f"weights must have shape (..., T, S), got {alpha.shape}")
    if v.ndim < 2 or v.shape[-2] != alpha.shape[-1]:
        raise ValueError(f"v must have shape (..., {alpha.shape[-1]}, Dv), got {v.shape}")
    try:
        leading = np.broadcast_shapes(alpha.shape[:-2], v.shape[:-2])
    except ValueError as error:
        raise ValueError(f"leading axes must broadcast, got weights {alpha.shape}, v {v.shape}") from error
    shape = (*leading, alpha.shape[-2], v.shape[-1])
    if g.shape != shape:
        raise ValueError(f"g must have the shape of the context, {shape}, got {g.shape}")
