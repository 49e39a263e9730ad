"""Put a record into the outputs of the running notebook cell.

Records are JSON objects with a `kind` (`ledger`, `guard` or `file`). Where no notebook kernel runs (tests, scripts)
nothing is shown.
"""

from __future__ import annotations

import sys
from typing import Any

MIME = "application/vnd.onesentence.evidence+json"
"""The private MIME type that carries a record from a cell to the build."""


def emit(record: dict[str, Any], summary: str) -> None:
    """Display `record` in the running cell.

    Args:
        record: a JSON-serialisable object with the key `kind`.
        summary: one line for people, shown where the private type is not understood (JupyterLab).
    """
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if get_ipython() is not None:
        display({MIME: record, "text/plain": summary}, raw=True)  # type: ignore[no-untyped-call]


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
