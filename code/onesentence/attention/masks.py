"""Masks: which query may read which key. `True = may read`, always; masks are joined with `&`.

Three rules, and no two of them are one (sections 4.6 and 4.13 of the course):

    causal      query i of T may read keys up to its own place; target self-attention only      (T, S)
    padding     nobody may read a key that fills up a shorter sentence; self- and cross-attention  (B, 1, 1, S)
    both        `causal(T) & padding(real)`                                                       (B, 1, T, S)

Symbols: `B` batch, `T` query length, `S` key length; scores are (B, H, T, S), rows queries, columns keys. PyTorch has
two conventions: `F.scaled_dot_product_attention` takes `True = may read` as here, `nn.MultiheadAttention` takes
`True = may not` in both of its masks. Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.3, set illegal scores to
-inf: `additive` gives that form. A query that may read nothing gets weights 0 and output 0 in this book.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import as_ids, checked_integer
from onesentence.numerics import FloatArray

Mask = NDArray[np.bool_]


def causal(T: int, S: int | None = None) -> Mask:
    """Return the mask of queries that stand at the end of the keys and read no key after themselves.

    Args:
        T: number of queries, tokens.
        S: number of keys, tokens; None means T. Query i stands at key S - T + i, so with S > T the first S - T keys
            are an older prefix that every query may read.

    Returns:
        (T, S); the diagonal, a query's own place, is True.

    Raises:
        TypeError: if a length is not an integer.
        ValueError: if `T` is less than 1 or `S` less than `T`: the first query would stand before the first key.

    Example:
        >>> causal(3).astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
        >>> causal(1, 3).tolist()
        [[True, True, True]]
    """
    T = checked_integer("T", T, 1)
    S = T if S is None else checked_integer("S", S, 1)
    if S < T:
        raise ValueError(f"S must be at least T = {T}, got {S}")
    return np.tri(T, S, S - T, dtype=np.bool_)


def real_units(lengths: ArrayLike, S: int, *, side: str = "right") -> Mask:
    """Return where a batch that was padded to one length has units of its own.

    Args:
        lengths: number of real units of each sentence, (B,).
        S: length of the padded batch.
        side: where the padding stands, `right` or `left`.

    Returns:
        (B, S).

    Raises:
        TypeError: if lengths or `S` are not integers.
        ValueError: if a length lies outside [0, S], or there is no such side.

    Example:
        >>> real_units([3, 1], 3).astype(int).tolist()
        [[1, 1, 1], [1, 0, 0]]
        >>> real_units([1], 3, side="left").astype(int).tolist()
        [[0, 0, 1]]
    """
    S = checked_integer("S", S, 1)
    counts = as_ids("lengths", lengths, S + 1)
    if counts.ndim != 1:
        raise ValueError(f"lengths must have shape (B,), got {counts.shape}")
    if side not in ("right", "left"):
        raise ValueError(f"side: expected right or left, got {side!r}")
    place = np.arange(S) if side == "right" else np.arange(S)[::-1]
    return place < counts[:, None]


def padding(real: ArrayLike) -> Mask:
    """Return the mask that lets every query of every head read the real keys only.

    Args:
        real: True at real units, (B, S).

    Returns:
        (B, 1, 1, S), which broadcasts over heads and queries.

    Raises:
        TypeError: if `real` is not boolean.
        ValueError: if it has other axes.

    Example:
        >>> padding([[True, False]]).shape
        (1, 1, 1, 2)
    """
    mask = np.asarray(real)
    if mask.dtype != np.bool_:
        raise TypeError(f"real must be boolean (True = a real unit), got {mask.dtype}")
    if mask.ndim != 2:
        raise ValueError(f"real must have shape (B, S), got {mask.shape}")
    return mask[:, None, None]


def additive(mask: ArrayLike) -> FloatArray:
    """Return what is added to scores before the softmax: 0 where may be read, -inf elsewhere.

    Args:
        mask: `True = may read`, any shape.

    Raises:
        TypeError: if it is not boolean.

    Example:
        >>> additive([[True, False], [True, True]]).tolist()
        [[0.0, -inf], [0.0, 0.0]]
    """
    may = np.asarray(mask)
    if may.dtype != np.bool_:
        raise TypeError(f"mask must be boolean (True = may read), got {may.dtype}")
    return np.where(may, 0.0, -np.inf)
