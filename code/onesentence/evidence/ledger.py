"""The ledger: every worked or quoted figure of the course, and what the book computes for it.

`data/ledger.json` has one row per figure. A row's `check` says what the book owes it: `value` and `arithmetic`
rows are computed by a cell (`check`), `property` rows are guarded (`guard(..., covers=id)`), `cited` rows are
quoted with their source (`cite`). Where the course misprinted a figure, `expected` is the right one, `printed`
the one that was printed, and `erratum` says why.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from onesentence.evidence.emit import emit
from onesentence.evidence.plain import plain

DATA_FILES = ("data/ledger.json", "data/sections.json")


class LedgerError(ValueError):
    """A figure that is not in the ledger, or that does not agree with it."""


@dataclass(frozen=True)
class Row:
    """One figure of the ledger.

    Attributes:
        id: stable name, `<section>-<name>`.
        section: section id of the course.
        label: Chinese, for readers.
        what: English, for contributors.
        inputs: what the figure is computed from.
        expected: the right figure: a number, text, boolean, or lists and mappings of them.
        tolerance: largest absolute difference allowed, or a list of them beside a list `expected`.
        relative: whether the tolerance is relative to the expected number.
        identity: kind of evidence, see `onesentence.evidence.identity`.
        check: `value`, `arithmetic`, `property` or `cited`.
        note: remark for contributors.
        printed: what the course printed, where that is a misprint; else None.
        erratum: Chinese sentence on the misprint; else None.
    """

    id: str
    section: str
    label: str
    what: str
    inputs: Mapping[str, Any]
    expected: Any
    tolerance: Any
    identity: str
    check: str
    relative: bool = False
    note: str = ""
    printed: Any = None
    erratum: str | None = field(default=None)


def _load(name: str) -> Any:
    return json.loads(
        resources.files("onesentence.evidence").joinpath("data", name).read_text(encoding="utf-8")
    )


@cache
def rows() -> Mapping[str, Row]:
    """Return all rows of the ledger by id, in the order of the course."""
    return MappingProxyType({data["id"]: Row(**data) for data in _load("ledger.json")})


@cache
def sections() -> Mapping[str, Mapping[str, Any]]:
    """Return the sections of the course by id: `topic` (Chinese), `topic_en`, `evidence`."""
    return MappingProxyType({data["id"]: MappingProxyType(data) for data in _load("sections.json")})


def row(row_id: str) -> Row:
    """Return one row.

    Raises:
        LedgerError: if there is no such id, naming the nearest ones.
    """
    try:
        return rows()[row_id]
    except KeyError:
        near = difflib.get_close_matches(str(row_id), rows(), n=3)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise LedgerError(f"unknown ledger id {row_id!r}{hint}") from None


def difference(value: Any, expected: Any) -> float | None:
    """Return the largest absolute difference of the numbers in two values of one shape.

    Args:
        value: what was computed, plain data (see `plain`).
        expected: what the ledger holds.

    Returns:
        The difference; 0 where text and booleans agree and no number stands; None where shape, text or
        booleans differ, so that no difference can be stated.

    Example:
        >>> difference([1.0, [2.0, "书"]], [1, [2.5, "书"]])
        0.5
        >>> difference([1.0], [1.0, 2.0]) is None
        True
    """
    pairs = list(_pairs(value, expected, 0.0))
    if any(pair is None for pair in pairs):
        return None
    return max((pair[0] for pair in pairs if pair), default=0.0)


def agrees(value: Any, expected: Any, tolerance: Any, *, relative: bool = False) -> bool:
    """Say whether two values of one shape agree number by number within a tolerance.

    Args:
        value: what was computed, plain data.
        expected: what the ledger holds. Text and booleans must be equal; a boolean never equals a number.
        tolerance: largest difference allowed, inclusive, or a list of them beside a list `expected`.
        relative: the tolerance counts in units of the expected number.
    """
    for pair in _pairs(value, expected, tolerance):
        if pair is None:
            return False
        gap, allowed, size = pair
        if not gap <= allowed * (size if relative else 1.0):
            return False
    return True


def _pairs(value: Any, expected: Any, tolerance: Any) -> Any:
    """Yield (difference, tolerance, |expected|) for each number, and None for each disagreement of kind."""
    if isinstance(expected, dict):
        if not isinstance(value, dict) or set(value) != set(expected):
            yield None
            return
        for key in expected:
            yield from _pairs(value[key], expected[key], tolerance)
    elif isinstance(expected, list):
        if not isinstance(value, list) or len(value) != len(expected):
            yield None
            return
        parts = tolerance if isinstance(tolerance, list) else [tolerance] * len(expected)
        for item, want, part in zip(value, expected, parts, strict=True):
            yield from _pairs(item, want, part)
    elif isinstance(expected, bool | str) or expected is None:
        yield (0.0, 0.0, 0.0) if type(value) is type(expected) and value == expected else None
    elif isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        yield None
    else:
        gap = 0.0 if value == expected else abs(value - expected)
        yield gap, float(tolerance), abs(float(expected))


def check(row_id: str, value: Any) -> None:
    """Compare a computed figure with its row and leave the result in the cell's outputs.

    Args:
        row_id: id of a `value` or `arithmetic` row.
        value: number, text, boolean, array, or lists, tuples and mappings of them, shaped like the row.

    Raises:
        LedgerError: if the id is unknown, belongs to a property or cited row, or the figure is off.

    Example:
        >>> check("1.3-onehot-dot", 0.0)
        >>> check("1.3-onehot-dot", 0.5)
        Traceback (most recent call last):
            ...
        onesentence.evidence.ledger.LedgerError: 1.3-onehot-dot: computed 0.5, expected 0 within 0
    """
    entry = row(row_id)
    if entry.check not in ("value", "arithmetic"):
        how = "guard(..., covers=id)" if entry.check == "property" else "ledger.cite"
        raise LedgerError(f"{row_id}: a {entry.check} row is not computed; use {how}")
    computed = plain(value)
    ok = agrees(computed, entry.expected, entry.tolerance, relative=entry.relative)
    _emit(entry, computed, "checked", ok)
    if not ok:
        raise LedgerError(
            f"{row_id}: computed {computed}, expected {entry.expected} within {entry.tolerance}"
        )


def cite(row_id: str) -> Any:
    """Quote a figure that this book does not compute, and leave the quotation in the cell's outputs.

    Args:
        row_id: id of a `cited` row.

    Returns:
        The figure, as the ledger holds it.

    Raises:
        LedgerError: if the id is unknown or the row is one that must be computed.
    """
    entry = row(row_id)
    if entry.check != "cited":
        raise LedgerError(f"{row_id}: a {entry.check} row is computed or guarded, not cited")
    _emit(entry, entry.expected, "cited", None)
    return entry.expected


def _emit(entry: Row, value: Any, status: str, ok: bool | None) -> None:
    record = {
        "kind": "ledger",
        "id": entry.id,
        "section": entry.section,
        "value": value,
        "expected": entry.expected,
        "tolerance": entry.tolerance,
        "status": status,
        "ok": ok,
    }
    emit(record, f"{'✗' if ok is False else '✓'} {entry.id}: {value}")
