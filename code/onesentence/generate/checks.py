"""What generation refuses before it starts: logits and probabilities that leave no choice, settings out of range."""

from __future__ import annotations

from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import Ids, as_ids
from onesentence.numerics import FloatArray, as_floats

_SUM = 1e-5  # how far from 1 a given distribution may sum; softmax in float32 is well inside


def checked_logits(logits: ArrayLike) -> FloatArray:
    """Return logits (..., V) as float64 after checking that each row leaves something to choose.

    Raises:
        TypeError: if they are not real.
        ValueError: if V is 0, or a row holds NaN or +inf or nothing but -inf.
    """
    scores = as_floats("logits", logits).astype(np.float64)
    if scores.ndim == 0 or scores.shape[-1] == 0:
        raise ValueError(f"logits must have shape (..., V) with V >= 1, got {scores.shape}")
    if not (scores < np.inf).all():  # false for NaN too
        raise ValueError("logits must be free of NaN and +inf")
    if not np.isfinite(scores).any(axis=-1).all():
        raise ValueError("logits must leave a finite value in each row, got a row of -inf only")
    return scores


def checked_distribution(p: ArrayLike) -> FloatArray:
    """Return probabilities (..., V) as float64, a copy, after checking that each row is a distribution.

    Raises:
        TypeError: if they are not real.
        ValueError: if V is 0, an entry is negative, NaN or infinite, or a row does not sum to 1 within 1e-5.
    """
    row = as_floats("p", p).astype(np.float64)
    if row.ndim == 0 or row.shape[-1] == 0:
        raise ValueError(f"p must have shape (..., V) with V >= 1, got {row.shape}")
    if not ((row >= 0) & (row < np.inf)).all():
        raise ValueError("p must be finite and not negative")
    totals = row.sum(axis=-1)
    if (np.abs(totals - 1) > _SUM).any():
        worst = totals.flat[np.abs(totals - 1).argmax()]
        raise ValueError(f"p must sum to 1 in each row, got a row that sums to {worst:g}")
    return row


def checked_temperature(name: str, value: float) -> float:
    """Return a temperature after checking it.

    Raises:
        TypeError: if it is not a number.
        ValueError: if it is negative, infinite or NaN.
    """
    number = _number(name, value)
    if not (isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be finite and at least 0, got {value}")
    return number


def checked_threshold(name: str, value: float) -> float:
    """Return a threshold of top-p after checking it.

    Raises:
        TypeError: if it is not a number.
        ValueError: if it lies outside (0, 1].
    """
    number = _number(name, value)
    if not 0 < number <= 1:
        raise ValueError(f"{name} must lie in (0, 1], got {value}")
    return number


def checked_first(bos: ArrayLike) -> Ids:
    """Return the ids (B,) that the rows of a batch read first, after checking them; one id is a single row.

    Raises:
        TypeError: if they are not integers.
        ValueError: if they are no vector, there is none, or one is negative.
    """
    ids = np.atleast_1d(as_ids("bos", bos))
    if ids.ndim != 1 or not ids.size or ids.min() < 0:
        raise ValueError(f"bos must be an id or ids (B,), none negative, got {ids.tolist()}")
    return ids


def _number(name: str, value: float) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)
