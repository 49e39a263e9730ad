"""Keeping one step of an optimiser short: the gradient of all parameters cut to a length, or each entry to a range.

With g all the gradients put end to end and tau the threshold,

    by norm      g * min(1, tau / ||g||_2)          the same factor for every entry: the direction stays
    by element   min(max(g_i, -tau), tau)           entry by entry: the direction changes as soon as one is cut

A zero gradient stays zero. A gradient with NaN or infinity has no length to cut to and is refused before anything is
changed. `torch.nn.utils.clip_grad_norm_` divides by ||g|| + 1e-6 instead, so its result is a hair shorter, works in
place, and lets NaN through unless told otherwise.

Section 2.11 of the course; Pascanu, Mikolov and Bengio 2013 (arXiv:1211.5063), algorithm 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, sqrt
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats

_ONE = "gradients"
"""What an error calls a gradient that was given without a name."""


@overload
def clip_norm(
    gradients: Mapping[str, FloatArray], threshold: float
) -> tuple[dict[str, FloatArray], float]: ...
@overload
def clip_norm(gradients: ArrayLike, threshold: float) -> tuple[FloatArray, float]: ...


def clip_norm(
    gradients: Mapping[str, FloatArray] | ArrayLike, threshold: float
) -> tuple[dict[str, FloatArray] | FloatArray, float]:
    """Shorten a gradient to a length where it is longer; over all parameters together.

    Args:
        gradients: name to gradient, or one array; not changed.
        threshold: tau, positive, in the unit of the gradient.

    Returns:
        The clipped gradients, new arrays of the same names, shapes and dtypes; and the norm before, over all of them.

    Raises:
        TypeError: if a gradient does not hold real numbers.
        ValueError: if a gradient is not finite, naming its parameter; if the norm of all is too large for a float64;
            if the threshold is not positive and finite.

    Example:
        >>> clipped, norm = clip_norm([3.0, 4.0], 1.0)
        >>> clipped.round(6).tolist(), norm
        ([0.6, 0.8], 5.0)
        >>> clip_norm({"W_h": np.zeros(2)}, 1.0)
        ({'W_h': array([0., 0.])}, 0.0)
    """
    arrays = _checked(gradients, threshold)
    norm = global_norm(arrays)
    factor = min(1.0, threshold / norm) if norm > 0 else 1.0
    clipped: dict[str, FloatArray] = {
        name: (array * np.float64(factor)).astype(array.dtype) for name, array in arrays.items()
    }
    return (clipped if isinstance(gradients, Mapping) else clipped[_ONE]), norm


@overload
def clip_elements(gradients: Mapping[str, FloatArray], threshold: float) -> dict[str, FloatArray]: ...
@overload
def clip_elements(gradients: ArrayLike, threshold: float) -> FloatArray: ...


def clip_elements(
    gradients: Mapping[str, FloatArray] | ArrayLike, threshold: float
) -> dict[str, FloatArray] | FloatArray:
    """Cut every entry of a gradient to [-threshold, threshold] by itself.

    Args:
        gradients: name to gradient, or one array; not changed.
        threshold: tau, positive.

    Raises:
        TypeError: if a gradient does not hold real numbers.
        ValueError: if a gradient is not finite, naming its parameter; if the threshold is not positive and finite.

    Example:
        >>> clip_elements([3.0, -0.5], 1.0).tolist()
        [1.0, -0.5]
    """
    clipped: dict[str, FloatArray] = {}
    for name, array in _checked(gradients, threshold).items():
        bound = min(threshold, float(np.finfo(array.dtype).max))  # beyond it there is nothing to cut
        clipped[name] = np.clip(array, -bound, bound)
    return clipped if isinstance(gradients, Mapping) else clipped[_ONE]


def global_norm(gradients: Mapping[str, FloatArray]) -> float:
    """Return the Euclidean length of all gradients put end to end.

    Args:
        gradients: name to gradient, finite.

    Raises:
        ValueError: if it is not finite, or too large for a float64.

    Example:
        >>> global_norm({"W": np.array([[3.0]]), "b": np.array([4.0])})
        5.0
    """
    tops = [float(np.abs(array).max(initial=0.0)) for array in gradients.values()]
    largest = float(np.max(tops, initial=0.0))  # unlike the max of Python, NaN wherever there is one
    if largest == 0:
        return 0.0
    squares = sum(float(np.square(array / largest, dtype=np.float64).sum()) for array in gradients.values())
    norm = largest * sqrt(squares)  # by way of the largest entry: squaring 1e200 would give infinity
    if not isfinite(norm):
        raise ValueError(f"gradients: the norm must be finite, got entries up to {largest:g}")
    return norm


def _checked(gradients: Mapping[str, FloatArray] | ArrayLike, threshold: float) -> dict[str, FloatArray]:
    if not (isfinite(threshold) and threshold > 0):
        raise ValueError(f"threshold must be positive and finite, got {threshold}")
    named = gradients if isinstance(gradients, Mapping) else {_ONE: gradients}
    arrays = {name: as_floats(name, value) for name, value in named.items()}
    for name, array in arrays.items():
        broken = int((~np.isfinite(array)).sum())
        if broken:
            raise ValueError(
                f"the gradient of {name!r} must be finite, got {broken} of {array.size} entries that are not"
            )
    return arrays
