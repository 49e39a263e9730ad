"""Records of runs that were made elsewhere, mostly on a GPU, and lie in the repository: `assets/records/gpu`.

A page that shows them asks for the newest of each device and suite. A record is declared in DATA_FILES besides, so that
the pages are run again when one is added. NumPy and PyTorch are not needed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from onesentence.evidence.records import Record

FOLDER = Path(__file__).resolve().parents[4] / "assets" / "records" / "gpu"
DATA_FILES: tuple[str, ...] = ()
"""Every file of FOLDER, relative to this one: ("../../../../assets/records/gpu/NAME.json", …)."""

ABOUT: Mapping[str, type] = {
    "suite": str,
    "complete": bool,
    "stopped": str,
    "device": str,
    "threads": int,
    "date": str,
    "commit": str,
    "backends": dict,
}
METRICS = ("rows", "ceilings", "memory", "absent", "faulty")
STATUSES = ("timed", "wrong", "failed", "absent")
ROW: Mapping[str, type] = {"name": str, "case": dict, "backend": str, "status": str, "reason": str}


def about(record: Record) -> dict[str, Any]:
    """Return what a record says of its run: ABOUT, of which `backends` says in words what each of them is."""
    found: dict[str, Any] = record.config["about"]
    return found


def rows(record: Record) -> list[dict[str, Any]]:
    """Return the rows of a record, one a case and backend."""
    found: list[dict[str, Any]] = record.metrics["rows"][0]
    return found


def read(text: str) -> Record:
    """Read the record of a benchmark run.

    Args:
        text: JSON.

    Raises:
        ValueError: if it is no such record, naming what is missing or wrong.
    """
    record = Record.from_json(text)
    if record.name != "kernels_bench":
        raise ValueError(f"name: expected 'kernels_bench', got {record.name!r}")
    if not isinstance(record.config, dict) or not isinstance(record.metrics, dict):
        raise ValueError("config, metrics: expected mappings")
    _checked("config about", record.config.get("about"), ABOUT)
    _date(record)
    for name in METRICS:
        lists = record.metrics.get(name)
        if not (isinstance(lists, list) and len(lists) == 1 and isinstance(lists[0], list)):
            raise ValueError(f"metrics {name}: expected one list, for one seed, got {str(lists)[:60]}")
    for number, row in enumerate(record.metrics["rows"][0]):
        _checked(f"row {number}", row, ROW)
        if row["status"] not in STATUSES:
            raise ValueError(
                f"row {number}: expected a status of {', '.join(STATUSES)}, got {row['status']!r}"
            )
        if row["status"] == "timed":
            _checked(f"row {number}", row, {"rate": float, "median": float, "seconds": list})
    return record


def _checked(what: str, found: Any, kinds: Mapping[str, type]) -> None:
    if not isinstance(found, dict):
        raise ValueError(f"{what}: expected a mapping, got {str(found)[:60]}")
    for name, kind in kinds.items():
        if not isinstance(found.get(name), kind):
            raise ValueError(f"{what}: {name} must be {kind.__name__}, got {str(found.get(name))[:60]!r}")


def _date(record: Record) -> datetime:
    try:
        found = datetime.fromisoformat(about(record)["date"])
    except ValueError as error:
        raise ValueError(f"config about: date: {error}") from None
    if found.tzinfo is None:
        raise ValueError(f"config about: date must have a time zone, got {found.isoformat()!r}")
    return found


def archived(folder: Path = FOLDER) -> tuple[Record, ...]:
    """Return the newest complete run of each device and suite.

    Args:
        folder: of JSON files; one that does not exist is empty.

    Returns:
        Ordered by suite and device; empty where nothing is archived.

    Raises:
        ValueError: if a file is damaged, a run is not complete or names no commit, naming the file.
    """
    newest: dict[tuple[str, str], Record] = {}
    for file in sorted(folder.glob("*.json")):
        try:
            record = read(file.read_text(encoding="utf-8"))
        except ValueError as error:  # also what is no JSON and no UTF-8
            raise ValueError(f"{file.name}: {error}") from None
        if not about(record)["complete"] or record.config.get("only"):
            why = f"--only {record.config['only']}" if record.config.get("only") else about(record)["stopped"]
            raise ValueError(
                f"{file.name}: a run that is not complete does not belong into the archive, got {why!r}"
            )
        if not about(record)["commit"]:
            raise ValueError(f"{file.name}: names no commit; run from a checkout, or with --commit")
        key = (about(record)["suite"], about(record)["device"])
        if key not in newest or _date(newest[key]) < _date(record):
            newest[key] = record
    return tuple(newest[key] for key in sorted(newest))
