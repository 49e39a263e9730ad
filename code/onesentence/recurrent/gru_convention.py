"""The two places in which GRUs differ: what the update gate is a share of, and where the reset gate multiplies.

    update "writes":  h = (1 - z) * h_old + z * n        the course
    update "keeps":   h = z * h_old + (1 - z) * n        Cho et al. 2014, equation 7; torch.nn.GRU 2.13
    reset "before":   U (r * h_old) + b_n                the course; Cho et al. 2014, equation 8, without b_n
    reset "after":    r * (U h_old + b_n)                torch.nn.GRU 2.13

`z` and `r` are the gates, (..., H) with entries in [0, 1], `n` is the candidate, `U` (H, H) its recurrent matrix.
Sections 2.13 and 2.15 of the course; Cho et al. 2014 is arXiv:1406.1078 v3.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats

Update: TypeAlias = Literal["writes", "keeps"]
Reset: TypeAlias = Literal["before", "after"]


def mixed(old: ArrayLike, candidate: ArrayLike, z: ArrayLike, update: Update) -> FloatArray:
    """Return the new state: old state and candidate in the shares that the update gate gives them.

    Args:
        old: h_old, (..., H).
        candidate: n, (..., H).
        z: update gate, (..., H).
        update: "writes" if z is the candidate's share, "keeps" if it is the old state's.

    Raises:
        TypeError: if an array does not hold real numbers.
        ValueError: for another `update`.

    Example:
        >>> float(mixed(2.0, 6.0, 0.25, "writes")), float(mixed(2.0, 6.0, 0.25, "keeps"))
        (3.0, 5.0)
    """
    check_update(update)
    old, n, z = as_floats("old", old), as_floats("candidate", candidate), as_floats("z", z)
    new: FloatArray = (1 - z) * old + z * n if update == "writes" else z * old + (1 - z) * n
    return new


def recalled(h: ArrayLike, r: ArrayLike, U: ArrayLike, b_n: ArrayLike, reset: Reset) -> FloatArray:
    """Return what the old state adds to the candidate before its tanh.

    Args:
        h: h_old, (..., H).
        r: reset gate, (..., H).
        U: (H, H).
        b_n: (H,), or 0.
        reset: "before" to multiply h by the gate, "after" to multiply U h + b_n.

    Raises:
        TypeError: if an array does not hold real numbers.
        ValueError: for another `reset`.

    Example:
        >>> recalled([1, 2], [1, 0], [[1, 1], [1, -1]], 0, "before").tolist()
        [1.0, 1.0]
        >>> recalled([1, 2], [1, 0], [[1, 1], [1, -1]], 0, "after").tolist()
        [3.0, -0.0]
    """
    check_reset(reset)
    h, r, U, b_n = as_floats("h", h), as_floats("r", r), as_floats("U", U), as_floats("b_n", b_n)
    part: FloatArray = (r * h) @ U.T + b_n if reset == "before" else r * (h @ U.T + b_n)
    return part


def check_update(update: str) -> None:
    """Refuse an update convention that is neither of the two.

    Raises:
        ValueError: if it is not "writes" or "keeps".
    """
    if update not in ("writes", "keeps"):
        raise ValueError(f"update must be 'writes' or 'keeps', got {update!r}")


def check_reset(reset: str) -> None:
    """Refuse a reset convention that is neither of the two.

    Raises:
        ValueError: if it is not "before" or "after".
    """
    if reset not in ("before", "after"):
        raise ValueError(f"reset must be 'before' or 'after', got {reset!r}")
