"""The command line: what is asked for, where the record goes, and the exit status.

The record is written whole or not at all, at the end of a run or when it is interrupted (then it says `complete: false`).
A file that is there is not overwritten without `--force`. That, and whether a file can be written there at all, is found out
before anything is measured; where the disk fills up later, the record is printed, so that no measurement is lost.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import torch

from onesentence.evidence.records import Record
from onesentence.kernels.bench.archive import about
from onesentence.kernels.bench.machine import ROOT
from onesentence.kernels.bench.report import text
from onesentence.kernels.bench.run import CUDA_LIMIT, Bench, run

FINE, FAULTY, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit statuses: all well; a backend failed or was wrong, or the run ended early; bad arguments; interrupted."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    found = argparse.ArgumentParser(
        prog="python -m onesentence.kernels.bench",
        description="Time attention against other implementations and against this machine's own ceilings.",
    )
    found.add_argument("--quick", action="store_true", help="fewer cases and repetitions")
    found.add_argument(
        "--device", choices=("cpu", "cuda"), help="by default cuda where there is one; a CPU uses one thread"
    )
    found.add_argument("--out", type=Path, help="file of the record; by default in _build/bench")
    found.add_argument("--force", action="store_true", help="overwrite that file")
    found.add_argument("--only", default="", help="cases whose name holds this text, e.g. 'decode' or 'D128'")
    found.add_argument("--seed", type=int, default=0, help="of the inputs")
    found.add_argument("--repeats", type=int, help="of each call")
    found.add_argument(
        "--limit", type=float, help=f"seconds after which no case is begun; on cuda {CUDA_LIMIT:g} by default"
    )
    found.add_argument("--commit", default="", help="of the sources, where they are not in a checkout")
    return found


def write(record: Record, file: Path) -> None:
    """Write a record whole or not at all.

    Args:
        record: what to write.
        file: where; its folder is made.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(record.to_json())
        os.chmod(draft, 0o644)  # mkstemp keeps others out
        os.replace(draft, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def check_file(file: Path, force: bool) -> None:
    """Refuse a place for a record where none could be written; make its folder.

    Args:
        file: the place.
        force: whether a file that is there may be overwritten.

    Raises:
        ValueError: saying why.
    """
    if file.is_dir():
        raise ValueError(f"--out: {file} is a folder; name a file")
    if file.exists() and not force:
        raise ValueError(f"--out: {file} is there; name another file or give --force")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=file.parent).close()
    except OSError as error:
        raise ValueError(f"--out: {file} cannot be written: {error}") from None


def default_file(bench: Bench) -> Path:
    """Return where a record goes that no file was named for: a name with the time, so that none is overwritten."""
    return ROOT / "_build" / "bench" / f"{bench.suite}-{datetime.now(UTC):%Y%m%dT%H%M%S}.json"


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print the table, write the record.

    Args:
        arguments: of the command line; None takes the process's own.

    Returns:
        Exit status.
    """
    asked = parser().parse_args(arguments)
    device = asked.device or ("cuda" if torch.cuda.is_available() else "cpu")
    limit = CUDA_LIMIT if asked.limit is None and device == "cuda" else asked.limit
    try:
        bench = Bench(device, asked.quick, asked.only, asked.seed, asked.repeats, limit, asked.commit)
        bench.cases()
        file = asked.out or default_file(bench)
        check_file(file, asked.force)
        signal.signal(signal.SIGTERM, _interrupt)  # what `timeout` sends
        record = run(bench, say=lambda line: print(line, file=sys.stderr, flush=True))
    except (ValueError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return USAGE
    print(text(record))
    try:
        write(record, file)
    except OSError as error:
        print(f"\n{record.to_json()}")
        print(f"bench: {file} cannot be written, its text is the JSON above: {error}", file=sys.stderr)
        return FAULTY
    print(f"\nrecord: {file}")
    if about(record)["stopped"] == "interrupted":
        return INTERRUPTED
    return FAULTY if record.metrics["faulty"][0] or not about(record)["complete"] else FINE
