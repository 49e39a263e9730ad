"""How much of a cache outlives an edit: keys and values up to the first token that differs.

From there on every key and value depends on the changed token, through all layers above the first, even where later tokens
are the same again. Sections 7.1, 7.2 and 7.15 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from onesentence.checks import as_ids, checked_integer


def common_prefix(old: Iterable[ArrayLike], new: Iterable[ArrayLike], *, again: int = 0) -> Tensor:
    """Return how many tokens of each row may stay: what `KVCache.truncate` takes.

    Args:
        old: ids that the cache has read, row by row, (n,) each, without padding; rows may differ in length.
        new: ids that it should have read, likewise.
        again: number of last tokens of `new` that are to be computed again even where nothing has changed; 1 for a model
            that is asked what comes next, because a cache keeps no output.

    Returns:
        Lengths (B,), int64.

    Raises:
        TypeError: if ids or `again` are not integers.
        ValueError: if `old` and `new` have different numbers of rows, a row is no list of ids, or `again` is negative.

    Example:
        >>> common_prefix([[5, 6, 7, 8], [1, 2]], [[5, 6, 9, 8], [1, 2, 3]]).tolist()
        [2, 2]
        >>> common_prefix([[5, 6, 7]], [[5, 6]], again=1).tolist()
        [1]
    """
    again = checked_integer("again", again, 0)
    before, after = _rows("old", old), _rows("new", new)
    if len(before) != len(after):
        raise ValueError(f"new must have the {len(before)} rows of old, got {len(after)}")
    lengths = []
    for one, other in zip(before, after, strict=True):
        shorter = min(len(one), len(other))
        differ = np.flatnonzero(one[:shorter] != other[:shorter])
        same = int(differ[0]) if len(differ) else shorter
        lengths.append(max(0, min(same, len(other) - again)))
    return torch.tensor(lengths, dtype=torch.int64)


def _rows(name: str, rows: Iterable[ArrayLike]) -> list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Return each row as ids."""
    ids = [as_ids(f"row {number} of {name}", row) for number, row in enumerate(rows)]
    for number, row in enumerate(ids):
        if row.ndim != 1:
            raise ValueError(f"row {number} of {name} must have shape (n,), got {row.shape}")
    return ids
