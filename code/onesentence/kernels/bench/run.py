"""A whole run: ceilings, every case with every backend, memory, and the record of it.

A run that is interrupted, reaches its time limit, or meets an error that no backend could be blamed for (of a device that
answers nothing more after a fault, say) gives a record of what was measured until then, with `complete` False; the archive
takes complete ones only.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._functorch import config as compiler

from onesentence.checks import checked_choice, checked_integer, checked_number
from onesentence.evidence.records import Record
from onesentence.kernels.bench import ceilings, machine, memory
from onesentence.kernels.bench.backends import Backend
from onesentence.kernels.bench.cases import DEVICES, Case, cases_of
from onesentence.kernels.bench.cuda import BACKENDS
from onesentence.kernels.bench.measure import Row, message, rows_of
from onesentence.kernels.bench.timing import Clock, clock_of

MEMORY_LENGTHS = {True: (2048,), False: (2048, 8192)}
"""Of a quick run and of a full one."""
CUDA_LIMIT = 440.0
"""Seconds after which no further case is begun on CUDA: the whole run has to end within eight minutes.

The rest is for starting, and for the case that is under way then, which may compile a backward pass.
"""


@dataclass(frozen=True)
class Bench:
    """What is run.

    Attributes:
        device: `cpu` or `cuda`.
        quick: fewer cases and repetitions.
        only: cases whose name holds this text; empty for all of them.
        seed: of the inputs.
        repeats: of each call; None leaves them to the clock and the case.
        limit: seconds after which no further case is begun; None for no limit.
        commit: of the sources, where they lie in no checkout that could be asked.
    """

    device: str
    quick: bool = False
    only: str = ""
    seed: int = 0
    repeats: int | None = None
    limit: float | None = None
    commit: str = ""

    def __post_init__(self) -> None:
        checked_choice("device", self.device, DEVICES)
        checked_integer("seed", self.seed, 0)
        if self.repeats is not None:
            checked_integer("repeats", self.repeats, 1)
        if self.limit is not None and checked_number("limit", self.limit) <= 0:
            raise ValueError(f"limit: expected seconds above 0, got {self.limit}")

    @property
    def suite(self) -> str:
        """Which cases these are, as the archive tells runs apart."""
        return f"attention-{self.device}{'-quick' if self.quick else ''}"

    def cases(self) -> tuple[Case, ...]:
        """Return the cases.

        Raises:
            ValueError: if `only` leaves none.
        """
        found = tuple(case for case in cases_of(self.device, quick=self.quick) if self.only in case.name)
        if not found:
            raise ValueError(f"only: no case's name holds {self.only!r}")
        return found

    def repeats_of(self, case: Case) -> int | None:
        """Return how often a case is repeated; on CUDA the clock decides unless a number is given."""
        if self.repeats is not None or self.device == "cuda":
            return self.repeats
        return 3 if self.quick or case.table_bytes > 2**30 else 5


@dataclass
class Found:
    """What has been measured so far.

    Attributes:
        absent: backends that cannot run here, each with the reason.
        ceilings: of the machine.
        rows: by case and backend.
        memory: as `memory.measured` gives them.
        stopped: why the run ended early, empty where it did not.
    """

    absent: list[dict[str, str]] = field(default_factory=list)
    ceilings: list[ceilings.Ceiling] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    memory: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""

    def ceiling(self, case: Case) -> float | None:
        """Return the rate that a case is compared with: the copy for decode, else the product of its dtype."""
        what, dtype = ("copy", "") if case.kind == "decode" else ("product", case.dtype)
        return next((one.rate for one in self.ceilings if (one.what, one.dtype) == (what, dtype)), None)

    @property
    def faulty(self) -> list[str]:
        """What failed or computed something else, in words."""
        rows = [
            f"{row.backend}, {row.case.name}: {row.reason}"
            for row in self.rows
            if row.status in ("wrong", "failed")
        ]
        return rows + [
            f"{row['backend']}, memory: {row['reason']}" for row in self.memory if row["bytes"] is None
        ]


def run(
    bench: Bench,
    backends: Sequence[Backend] = BACKENDS,
    cases: Sequence[Case] | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Record:
    """Measure, and return the record.

    Args:
        bench: what is run.
        backends: by whom.
        cases: instead of those of `bench`.
        say: is told each step, as a line.

    Returns:
        Metrics `rows`, `ceilings`, `memory`, `absent` and `faulty`, each with its list for the one seed.

    Raises:
        RuntimeError: if there is no CUDA device and one is wanted.
    """
    if bench.device == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("device: no CUDA device is there; use --device cpu")
    device = torch.device(bench.device)
    started, date = time.perf_counter(), machine.now()
    chosen, found = bench.cases() if cases is None else tuple(cases), Found()
    with _settings(device):
        try:
            _measure(bench, device, backends, chosen, found, say)
        except KeyboardInterrupt:
            found.stopped = "interrupted"
        except Exception as error:
            if not found.rows:
                raise
            found.stopped = message(error)
        return _record(bench, device, backends, found, date, time.perf_counter() - started)


@contextmanager
def _settings(device: torch.device) -> Iterator[None]:
    """Let a CPU's run use one thread; let compiled backward passes on CUDA be run again on one graph."""
    before = torch.get_num_threads()
    with ExitStack() as stack:
        if device.type == "cpu":
            torch.set_num_threads(1)
            stack.callback(torch.set_num_threads, before)
        else:
            stack.enter_context(compiler.patch(donated_buffer=False))
        yield


def _measure(
    bench: Bench,
    device: torch.device,
    backends: Sequence[Backend],
    cases: Sequence[Case],
    found: Found,
    say: Callable[[str], object],
) -> None:
    started = time.perf_counter()
    reasons = {backend.name: backend.missing(device) for backend in backends}
    found.absent += [{"backend": name, "reason": reason} for name, reason in reasons.items() if reason]
    present = [backend for backend in backends if not reasons[backend.name]]
    clock: Clock = clock_of(device)
    say("ceilings: matrix product and copy")
    dtypes = dict.fromkeys(case.dtype for case in cases if case.kind != "decode")
    found.ceilings += ceilings.measured(clock, device, tuple(dtypes))
    for number, case in enumerate(cases, 1):
        if bench.limit is not None and time.perf_counter() - started > bench.limit:
            found.stopped = f"the limit of {bench.limit:g} s was reached before case {number} of {len(cases)}"
            return
        say(f"[{number}/{len(cases)}] {case.name}")
        for row in rows_of(case, present, device, clock, bench.seed, bench.repeats_of(case)):
            found.rows.append(row)
    if bench.device == "cpu" and not bench.only:
        for T in MEMORY_LENGTHS[bench.quick]:
            for name in [backend.name for backend in present if backend.name in memory.NAMES]:
                say(f"memory at {T}: {name}")
                found.memory.append(memory.measured(name, memory.memory_case(T), bench.seed))


def _record(
    bench: Bench, device: torch.device, backends: Sequence[Backend], found: Found, date: str, seconds: float
) -> Record:
    about: dict[str, Any] = {
        "suite": bench.suite,
        "complete": not found.stopped,
        "stopped": found.stopped,
        "device": machine.device_words(device),
        "threads": torch.get_num_threads(),
        "date": date,
        "commit": bench.commit or machine.commit(),
        "backends": {backend.name: backend.note for backend in backends},
    }
    return Record(
        name="kernels_bench",
        identity="measured",
        config=dataclasses.asdict(bench) | {"about": about},
        seeds=(bench.seed,),
        metrics={
            "rows": [[row.as_data(found.ceiling(row.case)) for row in found.rows]],
            "ceilings": [[one.as_data() for one in found.ceilings]],
            "memory": [found.memory],
            "absent": [found.absent],
            "faulty": [found.faulty],
        },
        device=bench.device,
        versions=machine.versions(device),
        seconds=seconds,
    )
