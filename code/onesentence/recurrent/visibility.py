"""Which outputs move when one input is changed: what each position of a model may see, measured and not claimed.

Section 2.13 of the course: going both ways changes what is visible.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.numerics import FloatArray, as_floats


def visibility(
    outputs: Callable[[FloatArray], ArrayLike], x: ArrayLike, *, change: float = 1.0, tolerance: float = 1e-12
) -> NDArray[np.bool_]:
    """Return at [t, s] whether adding `change` to input s moves output t.

    True proves that output t depends on input s; False says that this change at this point did not move it.

    Args:
        outputs: takes inputs (T, d), returns one row per position, (T, n).
        x: the inputs to start from, (T, d).
        change: what is added to all d numbers of one position.
        tolerance: an output has moved if any of its numbers changed by more.

    Raises:
        TypeError: if `x` or an output does not hold real numbers.
        ValueError: if `x` is not (T, d), `outputs` does not return T rows each time, or a number is NaN or infinite.

    Example:
        >>> visibility(lambda x: x.cumsum(axis=0), np.zeros((3, 1))).astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    inputs = as_floats("x", x)
    if inputs.ndim != 2:
        raise ValueError(f"x must have shape (T, d), got {inputs.shape}")
    T = len(inputs)
    base = _rows(outputs(inputs.copy()))
    if base.ndim != 2 or len(base) != T:
        raise ValueError(f"outputs must return {T} rows, got shape {base.shape}")
    seen = np.zeros((T, T), dtype=bool)
    for s in range(T):
        changed = inputs.copy()
        changed[s] += change
        moved = _rows(outputs(changed))
        if moved.shape != base.shape:
            raise ValueError(f"outputs must return shape {base.shape} each time, got {moved.shape}")
        seen[:, s] = (np.abs(moved - base) > tolerance).any(axis=1)
    return seen


def _rows(answer: ArrayLike) -> FloatArray:
    rows = as_floats("outputs", answer)
    if not np.isfinite(rows).all():  # NaN is no further than any tolerance: it would look unmoved
        raise ValueError("outputs must be finite, got NaN or infinity")
    return rows
