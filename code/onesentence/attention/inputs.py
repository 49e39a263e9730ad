"""Checked input of scorers and gradients, and the sum over what was broadcast.

Symbols: `T` queries of width `Dq`, `S` keys of width `Dk`; `...` are leading axes, which broadcast as in NumPy.
"""

from __future__ import annotations

from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats


def sum_to(gradient: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return the gradient of an array of `shape` that was broadcast: the sum over all its uses.

    Args:
        gradient: of the array as broadcast.
        shape: of the array itself.

    Raises:
        ValueError: if an array of `shape` does not broadcast to the gradient's.

    Example:
        >>> sum_to(np.ones((2, 3)), (3,)).tolist(), sum_to(np.ones((2, 3)), (2, 1)).tolist()
        ([2.0, 2.0, 2.0], [[3.0], [3.0]])
    """
    extra = gradient.ndim - len(shape)
    if extra < 0 or any(m not in (1, n) for n, m in zip(gradient.shape[extra:], shape, strict=True)):
        raise ValueError(f"shape must broadcast to the gradient's, {gradient.shape}, got {shape}")
    summed = gradient.sum(axis=tuple(range(extra)))
    stretched = tuple(
        i for i, (n, m) in enumerate(zip(summed.shape, shape, strict=True)) if m == 1 and n != 1
    )
    return np.asarray(summed.sum(axis=stretched, keepdims=True))


def finite(name: str, value: ArrayLike) -> FloatArray:
    """Return real, finite numbers.

    Raises:
        TypeError: if `value` does not hold real numbers.
        ValueError: if one is not finite.
    """
    array = as_floats(name, value)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in shape {array.shape}")
    return array


def in_range(made: str, array: FloatArray) -> FloatArray:
    """Return what was computed from finite numbers, if it is finite too.

    Args:
        made: what error messages call it.
        array: the result.

    Raises:
        ValueError: if a number is not finite.
    """
    if not np.isfinite(array).all():
        raise ValueError(f"{made} leaves the range of {array.dtype}; what it is made of must be smaller")
    return array


def checked_scale(scale: float | None, head_size: int) -> float:
    """Return the factor of a dot product; None means 1/sqrt(head_size).

    Raises:
        TypeError: if it is no number.
        ValueError: if it is not finite.
    """
    if scale is None:
        return float(1 / np.sqrt(head_size))
    if isinstance(scale, bool) or not isinstance(scale, Real):
        raise TypeError(f"scale must be a number or None, got {scale!r}")
    try:
        factor = float(scale)
    except OverflowError:
        raise ValueError("scale must be finite, got an integer beyond the range of floats") from None
    if not isfinite(factor):
        raise ValueError(f"scale must be finite, got {scale}")
    return factor


def checked_weights(name: str, value: ArrayLike, ndim: int) -> FloatArray:
    """Return a parameter with so many axes.

    Raises:
        TypeError: if it does not hold real numbers.
        ValueError: if it has other axes, an empty one, or a number that is not finite.
    """
    array = finite(name, value)
    if array.ndim != ndim or 0 in array.shape:
        raise ValueError(f"{name} must have {ndim} axes, none of them empty, got shape {array.shape}")
    return array


def checked_pair(q: ArrayLike, k: ArrayLike, Dq: int, Dk: int) -> tuple[FloatArray, FloatArray]:
    """Return queries (..., T, Dq) and keys (..., S, Dk).

    Raises:
        TypeError: if one does not hold real numbers.
        ValueError: if a shape does not fit or a number is not finite.
    """
    arrays = []
    for name, value, rows, width in (("q", q, "T", Dq), ("k", k, "S", Dk)):
        array = finite(name, value)
        if array.ndim < 2 or array.shape[-1] != width:
            raise ValueError(f"{name} must have shape (..., {rows}, {width}), got {array.shape}")
        arrays.append(array)
    _scores_shape(*arrays)
    return arrays[0], arrays[1]


def checked_upstream(de: ArrayLike, q: FloatArray, k: FloatArray) -> FloatArray:
    """Return dL/de, (..., T, S), for queries and keys that have been checked.

    Raises:
        TypeError: if it does not hold real numbers.
        ValueError: if it does not have the shape of the scores, or a number is not finite.
    """
    gradient, shape = finite("de", de), _scores_shape(q, k)
    if gradient.shape != shape:
        raise ValueError(f"de must have the shape of the scores, {shape}, got {gradient.shape}")
    return gradient


def _scores_shape(q: FloatArray, k: FloatArray) -> tuple[int, ...]:
    try:
        leading = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    except ValueError as error:
        raise ValueError(f"leading axes must broadcast, got q {q.shape}, k {k.shape}") from error
    return (*leading, q.shape[-2], k.shape[-2])
