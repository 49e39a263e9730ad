"""Rotary positions (RoPE): a query and a key are turned by their own places, and their product feels the distance only.

    (x_{2i}, x_{2i+1})  ->  (x_{2i} cos a - x_{2i+1} sin a,  x_{2i} sin a + x_{2i+1} cos a),     a = position * frequency_i
    R_m q . R_n k = q . R_{n-m} k          |R_m q| = |q|

Pairs are neighbours, (2i, 2i+1), as in Su et al. 2021 (arXiv:2104.09864), sections 3.2.2 and 3.4.2. Many programs pair i
with i + D/2 instead: the same rotation of components in another order, which `halves_order` gives; weights must be kept in
the order that they were trained in. All D components turn; an odd D has a component without a partner and is refused.
Values are not turned. That scores depend on distances does not say that lengths never trained on work. Frequencies are
those of `positions`. Sections 5.12 and 7.2 of the course.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.positions import frequencies
from onesentence.checks import Ids, as_ids, checked_integer
from onesentence.numerics import FloatArray, as_floats


def checked_pairs(D: int) -> int:
    """Return a head size after checking that its components make pairs.

    Raises:
        TypeError: if it is not an integer.
        ValueError: if it is odd or less than 2.

    Example:
        >>> checked_pairs(4)
        4
    """
    if checked_integer("D", D, 2) % 2:
        raise ValueError(f"D must be even, as components turn in pairs, got {D}")
    return int(D)


def rotated(x: ArrayLike, positions: ArrayLike, *, base: float = 10000.0) -> FloatArray:
    """Turn each vector by its position.

    Args:
        x: (..., D), D even.
        positions: integers, also negative ones, broadcastable to (...).
        base: of the frequencies, larger than 1.

    Returns:
        (..., D), vectors as long as those of x.

    Raises:
        TypeError: if x is not real, positions are not integers or `base` is no number.
        ValueError: if D is odd or 0, positions do not fit, or `base` is no finite number above 1.

    Example:
        >>> rotated([[1.0, 0.0], [1.0, 0.0]], [0, 1]).round(6).tolist()
        [[1.0, 0.0], [0.540302, 0.841471]]
    """
    vectors, p = as_floats("x", x), as_ids("positions", positions)
    if not vectors.ndim:
        raise ValueError("x must have shape (..., D), got a single number")
    rates = frequencies(checked_pairs(vectors.shape[-1]), base=base)
    try:
        places = np.broadcast_to(p, vectors.shape[:-1])
    except ValueError as error:
        raise ValueError(f"positions must broadcast to {vectors.shape[:-1]}, got {p.shape}") from error
    angles = places[..., None] * rates  # (..., D / 2)
    even, odd = vectors[..., 0::2], vectors[..., 1::2]
    out = np.empty(vectors.shape)
    out[..., 0::2] = even * np.cos(angles) - odd * np.sin(angles)
    out[..., 1::2] = even * np.sin(angles) + odd * np.cos(angles)
    return out


def halves_order(D: int) -> Ids:
    """Return which component stands where for programs that pair i with i + D/2.

    With x' = x[halves_order(D)], their rotation of x' is `rotated(x)[halves_order(D)]`, so all scores are the same.

    Args:
        D: even.

    Raises:
        TypeError, ValueError: as `checked_pairs`.

    Example:
        >>> halves_order(6).tolist()
        [0, 2, 4, 1, 3, 5]
    """
    return np.arange(checked_pairs(D)).reshape(-1, 2).T.ravel()
