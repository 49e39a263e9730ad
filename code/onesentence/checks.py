"""What functions refuse before they start: sizes, ids and names that are out of range, what is no generator.

`numerics.as_floats` and `numerics.as_mask` do the same for real numbers and masks. NumPy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ids: TypeAlias = NDArray[np.int64]
"""Ids of tokens, of any shape."""


def checked_integer(name: str, value: int, least: int) -> int:
    """Return an integer after checking that it is at least `least`.

    Args:
        name: what error messages call it.
        value: a Python or NumPy integer.
        least: the smallest that will do.

    Raises:
        TypeError: if it is not an integer; True and 2.0 are none.
        ValueError: if it is smaller.

    Example:
        >>> checked_integer("limit", 3, 1)
        3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def checked_number(name: str, value: float) -> float:
    """Return a number after checking that it is real and finite.

    Args:
        name: what error messages call it.
        value: a Python or NumPy number.

    Raises:
        TypeError: if it is no real number; True is none.
        ValueError: if it is not finite.

    Example:
        >>> checked_number("eps", 1)
        1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)


def checked_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Refuse a name that is not among those there are.

    Args:
        name: what the error message calls it.
        value: what was asked for.
        known: what there is.

    Raises:
        ValueError: if it is none of them.

    Example:
        >>> checked_choice("cell", "mlp", ("rnn", "gru"))
        Traceback (most recent call last):
        ValueError: cell: expected one of rnn, gru, got 'mlp'
    """
    if value not in known:
        raise ValueError(f"{name}: expected one of {', '.join(known)}, got {value!r}")


def checked_sizes(rng: np.random.Generator, **sizes: int) -> None:
    """Refuse sizes that are not integers from 1 up, and anything but a generator.

    Args:
        rng: a NumPy generator.
        sizes: by name, as error messages call them.

    Raises:
        TypeError: if a size is not an integer or `rng` is not a generator.
        ValueError: if a size is less than 1.

    Example:
        >>> checked_sizes(np.random.default_rng(0), hidden=0)
        Traceback (most recent call last):
        ValueError: hidden must be at least 1, got 0
    """
    for name, size in sizes.items():
        checked_integer(name, size, 1)
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")


def as_ids(name: str, value: ArrayLike, size: int | None = None) -> Ids:
    """Return ids as int64.

    Args:
        name: what error messages call them.
        value: integers of any shape; nothing at all, of whatever dtype, counts as no ids.
        size: V, if they must lie in [0, V).

    Raises:
        TypeError: if they are not integers: booleans (among integers, too), 2.0, 2+0j and objects are none; if it is
            a masked array, whose mask would be lost.
        ValueError: if it is a ragged nested list, an id lies outside, or does not fit into int64; a negative one does
            not count from the end.

    Example:
        >>> as_ids("ids", [2, 0], 3)
        array([2, 0])
    """
    try:
        ids = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array, got rows of different lengths") from error
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array")
    if ids.size == 0:
        ids = np.zeros(ids.shape, dtype=np.int64)
    if ids.dtype.kind == "O":  # what NumPy makes of Python integers from 2^64 up, and of what is no number
        large = [one for one in ids.flat if type(one) is int and not -(2**63) <= one < 2**63]
        if large:
            raise ValueError(f"{name} must fit into int64, got {large[0]}")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got dtype {ids.dtype}")
    if (boolean := _first_boolean(value)) is not None:
        raise TypeError(f"{name} must hold integers, got {boolean}")
    if size is not None and ids.size and not (ids.min() >= 0 and ids.max() < size):
        raise ValueError(f"{name} must lie in [0, {size}), got {ids[(ids < 0) | (ids >= size)].flat[0]}")
    if ids.dtype == np.uint64 and ids.size and ids.max() >= 2**63:
        raise ValueError(f"{name} must fit into int64, got {ids[ids >= 2**63].flat[0]}")
    return ids.astype(np.int64)


def _first_boolean(value: object) -> bool | np.bool_ | None:
    """Return the first boolean in nested lists, which NumPy would make an integer beside integers; None without one."""
    if isinstance(value, bool | np.bool_):
        return value
    if isinstance(value, np.ndarray) and value.dtype == np.bool_ and value.size:
        return np.bool_(value.flat[0])
    if isinstance(value, list | tuple) and not set(map(type, value)) <= {int}:  # the common case, told fast
        return next((found for item in value if (found := _first_boolean(item)) is not None), None)
    return None
