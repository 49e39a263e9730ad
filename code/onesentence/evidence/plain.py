"""Values as plain JSON data: what records of runs and of cells are kept in."""

from __future__ import annotations

from typing import Any


def plain(value: Any) -> Any:
    """Return `value` as plain JSON data: arrays and tuples become lists, NumPy scalars become Python's.

    Args:
        value: numbers, strings, booleans, None, arrays, or lists, tuples, sets and mappings of them.

    Returns:
        The same as lists, dicts, str, int, float, bool and None. Sets are sorted.

    Raises:
        TypeError: for anything else, naming its type.

    Example:
        >>> import numpy as np
        >>> plain((np.float64(0.5), np.arange(2), "书"))
        [0.5, [0, 1], '书']
    """
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if hasattr(value, "detach"):  # a torch tensor, without importing torch
        value = value.detach().cpu()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(
        f"value: a {type(value).__name__} cannot be kept in a record; give numbers, text or arrays"
    )
