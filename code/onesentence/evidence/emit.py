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
