"""Records of runs, and the memory that keeps a trained run from being trained again.

A record says what ran, with which configuration and seeds, on what, and what came out. `memoised` keeps the
record of `run(config)` as JSON under `_build/records`, under a key of the configuration, the experiment's own
import closure with the data files that it declares, the lock, Python's version and CUDA's presence: a change of
a plot's style or of the ledger does not retrain, a change of the model or of its data trains again. This module is
part of every experiment's closure: a record of another format is not read.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import inspect
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

from onesentence.evidence.closure import (
    code_key,
    cuda_present,
    data_files,
    environment_key,
    files_key,
    imported_names,
)
from onesentence.evidence.kinds import checked_kind
from onesentence.evidence.plain import plain

FOLDER_VARIABLE = "ONESENTENCE_RECORDS"
"""Environment variable that names the folder of the records; by default `_build/records` in the project."""

GATHERING = ("onesentence.evidence",)
"""Packages whose `__init__` only gathers names for pages (`ledger`, `guard`), which no result depends on.

It runs before this module does, so that every experiment would otherwise depend on the ledger and its data. An
experiment that takes a name from the package itself, or imports one of its other modules, depends on these."""


@dataclasses.dataclass(frozen=True)
class Record:
    """What a run was and what came out of it.

    Attributes:
        name: name of the experiment.
        identity: key of its identity, usually `trained` or `measured`.
        config: the configuration as plain data.
        seeds: the seeds, in the order of the metrics.
        metrics: per metric a list with one value (or list of values) per seed.
        data_hash: hash of the data the run saw, empty where there is none.
        code_hash: hash of the experiment's import closure; filled by `memoised`.
        device: `cpu` or `cuda`; filled by `memoised`.
        versions: versions of Python and of the libraries named by the experiment.
        seconds: wall time of the run; filled by `memoised`.
    """

    name: str
    identity: str
    config: dict[str, Any]
    seeds: tuple[int, ...]
    metrics: dict[str, list[Any]]
    data_hash: str = ""
    code_hash: str = ""
    device: str = ""
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        checked_kind(self.identity)
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")
        for name, values in self.metrics.items():
            if len(values) != len(self.seeds):
                raise ValueError(f"metrics: {name!r} has {len(values)} values for {len(self.seeds)} seeds")

    def to_json(self) -> str:
        """Return the record as JSON text."""
        return json.dumps(plain(dataclasses.asdict(self)), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read a record.

        Raises:
            ValueError: if the text is no record, naming what is wrong.
        """
        try:
            data = json.loads(text)
            return cls(**{**data, "seeds": tuple(data["seeds"])})
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not a record: {error}") from None


def versions_of(*packages: str) -> dict[str, str]:
    """Return Python's version and those of installed packages.

    Example:
        >>> sorted(versions_of("numpy"))
        ['numpy', 'python']
    """
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in packages}


def records_folder() -> Path:
    """Return where records are kept."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path(__file__).resolve().parents[3] / "_build" / "records"


Run = TypeVar("Run", bound=Callable[[Any], Record])


def memoised(run: Run) -> Run:
    """Make an experiment's `run(config)` return the kept record where nothing that it depends on has changed.

    A first run and a kept record give the same: configuration and metrics as plain JSON data. Of two processes that
    ask for the same run at one time, one runs it and the other waits.

    Args:
        run: a function of one frozen dataclass that returns a `Record`.

    Raises:
        TypeError: when called with something that is no dataclass.
    """

    @functools.wraps(run)
    def run_once(config: Any) -> Record:
        if not dataclasses.is_dataclass(config) or isinstance(config, type):
            raise TypeError(f"config: expected a dataclass, got {type(config).__name__}")
        code = _code_of(run)
        file = records_folder() / f"{_key(run, config, code)}.json"
        if (kept := _read(file)) is not None:
            return kept
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):  # two pages that show one run: the second waits for it
            if (kept := _read(file)) is not None:
                return kept
            started = time.perf_counter()
            record = dataclasses.replace(
                run(config),
                code_hash=code,
                device="cuda" if cuda_present() else "cpu",
                seconds=time.perf_counter() - started,
            )
            text = record.to_json()
            _write(file, text)
            return Record.from_json(
                text
            )  # what a later call reads: lists where the run gave tuples or arrays

    return run_once  # type: ignore[return-value]


def _code_of(run: Callable[[Any], Record]) -> str:
    """Return a hash of the file that an experiment stands in, of everything that it imports and of its data."""
    file = Path(inspect.getsourcefile(run) or "")
    names = imported_names(ast.parse(file.read_bytes()), run.__module__.rpartition(".")[0])
    own = [(path.name, path) for path in data_files([file])]
    code = code_key([run.__module__, __name__, *names], passing=GATHERING)
    return files_key([(run.__module__, file), *own]) + code


def _key(run: Callable[[Any], Record], config: Any, code: str) -> str:
    root = Path(__file__).resolve().parents[3]
    parts = [
        f"{run.__module__}.{run.__qualname__}",
        type(config).__qualname__,
        json.dumps(plain(dataclasses.asdict(config)), sort_keys=True, ensure_ascii=False),
        code,
        environment_key(root),
    ]
    name = run.__module__.rpartition(".")[2]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    return f"{name}-{digest}"


def _read(file: Path) -> Record | None:
    """Return a kept record, None where there is none that can be read."""
    try:
        return Record.from_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write(file: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile(
        "w", dir=file.parent, suffix=".part", delete=False, encoding="utf-8"
    ) as draft:
        draft.write(text)
    os.replace(draft.name, file)
