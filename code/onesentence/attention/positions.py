"""Position vectors that are computed, not learned.

    PE(p, 2r) = sin(p / base^(2r / C)),    PE(p, 2r + 1) = cos(p / base^(2r / C)),    base = 10000

Symbols: `p` position from 0, `C` width, `r` number of a frequency. Pair r turns by base^(-2r/C) radians a position.
Vaswani et al. 2017 (arXiv:1706.03762), section 3.5. An odd width ends in a sine whose cosine has no place. The formula
can be computed for any position; whether a model can use one that its training never had is another question.
Section 4.5 of the course.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import as_ids, checked_integer, checked_number
from onesentence.numerics import FloatArray


def frequencies(C: int, *, base: float = 10000.0) -> FloatArray:
    """Return how many radians each pair of components turns per position.

    Args:
        C: width.
        base: larger than 1; the slowest pair turns by about 1/base.

    Returns:
        (ceil(C / 2),), falling from 1.

    Raises:
        TypeError: if `C` is not an integer or `base` no number.
        ValueError: if `C` is less than 1 or `base` not a finite number above 1.

    Example:
        >>> frequencies(4).tolist()
        [1.0, 0.01]
    """
    C = checked_integer("C", C, 1)
    base = checked_number("base", base)
    if base <= 1:
        raise ValueError(f"base must be larger than 1, got {base}")
    return base ** -(np.arange(0, C, 2) / C)


def sinusoidal(positions: ArrayLike, C: int, *, base: float = 10000.0) -> FloatArray:
    """Return sine and cosine of each position at each frequency, sines in the even components.

    Args:
        positions: integers from 0, any shape (...).
        C: width, even or odd.
        base: as `frequencies`.

    Returns:
        (..., C).

    Raises:
        TypeError: if positions or `C` are not integers or `base` is no number.
        ValueError: if a position is negative, `C` less than 1, or `base` no finite number above 1.

    Example:
        >>> sinusoidal([0, 1], 3).round(6).tolist()
        [[0.0, 1.0, 0.0], [0.841471, 0.540302, 0.002154]]
    """
    p = as_ids("positions", positions)
    if p.size and p.min() < 0:
        raise ValueError(f"positions must be at least 0, got {p.min()}")
    angles = p[..., None] * frequencies(C, base=base)  # (..., ceil(C / 2))
    out = np.empty((*p.shape, C))
    out[..., 0::2] = np.sin(angles)
    out[..., 1::2] = np.cos(angles[..., : C // 2])
    return out
