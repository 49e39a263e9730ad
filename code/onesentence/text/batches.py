"""Sentences of different lengths in one array: filled with PAD at the right, with a mask that tells PAD from words.

Symbols: B sentences, T tokens of the longest. Masks are True at real tokens. NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import Ids, as_ids, checked_integer


@dataclass(frozen=True)
class PaddedBatch:
    """Ids and where they are real.

    Attributes:
        ids: int64, (B, T), PAD behind the end of each sentence.
        mask: bool, (B, T), True at real tokens.
    """

    ids: Ids
    mask: NDArray[np.bool_]

    @property
    def lengths(self) -> Ids:
        """Real tokens of each sentence, (B,)."""
        lengths: Ids = self.mask.sum(axis=1, dtype=np.int64)
        return lengths


def padded(sequences: Sequence[ArrayLike], pad: int, *, length: int | None = None) -> PaddedBatch:
    """Put sentences under each other, filled up at the right.

    Args:
        sequences: B vectors of ids, any of them may be empty.
        pad: the id of PAD, which no sentence holds.
        length: T; None takes the longest sentence.

    Raises:
        TypeError: if ids, `pad` or `length` are not integers.
        ValueError: if there is no sentence, one is no vector, holds PAD or is longer than `length`, or `pad` is negative.

    Example:
        >>> batch = padded([[5, 6, 7], [8]], pad=0)
        >>> batch.ids.tolist(), batch.mask.tolist()
        ([[5, 6, 7], [8, 0, 0]], [[True, True, True], [True, False, False]])
    """
    checked_integer("pad", pad, 0)
    rows = [id_vector(f"sequences[{i}]", row) for i, row in enumerate(sequences)]
    if not rows:
        raise ValueError("sequences: expected at least one, got none")
    for i, row in enumerate(rows):
        if (row == pad).any():
            raise ValueError(f"sequences[{i}]: holds {pad}, the id of PAD")
    longest = max(row.size for row in rows)
    if length is not None and longest > checked_integer("length", length, 0):
        raise ValueError(f"length: expected at least {longest}, the longest sequence, got {length}")
    sizes = np.array([row.size for row in rows])
    mask = np.arange(longest if length is None else length) < sizes[:, None]
    ids = np.full(mask.shape, pad, dtype=np.int64)
    ids[mask] = np.concatenate(rows)
    return PaddedBatch(ids, mask)


def batches(count: int, size: int, rng: np.random.Generator | None = None) -> Iterator[Ids]:
    """Yield the numbers 0 to count - 1 in groups, the last one smaller if need be.

    Args:
        count: how many sentences.
        size: sentences per batch.
        rng: shuffles the numbers first; None keeps their order.

    Raises:
        ValueError: if a number is below 1.

    Example:
        >>> [rows.tolist() for rows in batches(5, 2)]
        [[0, 1], [2, 3], [4]]
    """
    for name, value in (("count", count), ("size", size)):
        if value < 1:
            raise ValueError(f"{name}: expected at least 1, got {value}")
    order = np.arange(count) if rng is None else rng.permutation(count)
    return (order[start : start + size] for start in range(0, count, size))


def id_vector(name: str, value: ArrayLike) -> Ids:
    """Return a vector of ids, int64.

    Args:
        name: what error messages call it.
        value: integers, (T,); may be empty.

    Raises:
        TypeError: if the ids are not integers.
        ValueError: if they are no vector.

    Example:
        >>> id_vector("ids", []).shape
        (0,)
    """
    ids = as_ids(name, value)
    if ids.ndim != 1:
        raise ValueError(f"{name} must have shape (T,), got {ids.shape}")
    return ids
