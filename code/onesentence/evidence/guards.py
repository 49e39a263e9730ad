"""Guards: what the prose claims of a run is asserted in the same page.

A guard states directions, orders and intervals, never digits, so that it holds on every machine.
"""

from __future__ import annotations

from typing import Any

from onesentence.evidence.emit import emit
from onesentence.evidence.ledger import LedgerError, row


class GuardError(AssertionError):
    """A sentence of the book that the run no longer supports."""


def guard(claim: str, condition: Any, *, covers: str | None = None) -> None:
    """Assert that the run supports a sentence of the page.

    Args:
        claim: the sentence, as a reader should read it.
        condition: a Python or NumPy boolean, computed by the run.
        covers: id of the `property` row of the ledger that this guard stands for, if any.

    Raises:
        ValueError: if the claim is empty.
        TypeError: if the condition is not one boolean (an array wants `.all()` or `.any()`).
        LedgerError: if `covers` names no row, or a row that is not a property.
        GuardError: if the condition is false.

    Example:
        >>> guard("权重之和为 1", abs(0.25 + 0.75 - 1) < 1e-12)
        >>> guard("一大于二", 1 > 2)
        Traceback (most recent call last):
            ...
        onesentence.evidence.guards.GuardError: 这次运行不支持：「一大于二」
    """
    if not isinstance(claim, str) or not claim.strip():
        raise ValueError(f"claim: expected a sentence, got {claim!r}")
    if not isinstance(condition, bool) and type(condition).__name__ not in ("bool", "bool_"):
        raise TypeError(
            f"condition: expected one boolean, got {type(condition).__name__}; "
            "reduce an array with .all() or .any(), compare a number with an interval"
        )
    if covers is not None and row(covers).check != "property":
        raise LedgerError(
            f"{covers}: a {row(covers).check} row is checked with ledger.check or ledger.cite, not guarded"
        )
    ok = bool(condition)
    record = {"kind": "guard", "claim": claim, "covers": covers, "ok": ok}
    emit(record, f"{'✓' if ok else '✗'} {claim}")
    if not ok:
        raise GuardError(f"这次运行不支持：「{claim}」")
