"""One case from its inputs to its rows: every backend is checked, and timed if it is right.

On a CPU all backends of a case are made ready and take turns; on CUDA one after the other, its memory freed before the
next. A backend that raises is recorded with its message, one that computes something else with its error, and neither
keeps the others from being timed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from onesentence.kernels.bench.backends import Backend, Forward
from onesentence.kernels.bench.cases import Case
from onesentence.kernels.bench.correctness import Bound, bounds, computed, verdict
from onesentence.kernels.bench.inputs import Inputs, inputs_of
from onesentence.kernels.bench.timing import Call, Clock, Times
from onesentence.kernels.bench.work import traffic_bytes, work_flops


@dataclass(frozen=True)
class Row:
    """What came of one backend at one case.

    Attributes:
        case: what was to be timed.
        backend: by which.
        status: `timed`, `wrong` (computes something else), `failed` (raised) or `absent` (the case is not for it).
        reason: why it was not timed.
        errors: by tensor, largest absolute error and what is allowed.
        times: of the repetitions.
        peak: bytes that the device held at most beyond what it held before; CUDA only.
    """

    case: Case
    backend: str
    status: str
    reason: str = ""
    errors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    times: Times | None = None
    peak: int | None = None

    @property
    def rate(self) -> float | None:
        """Operations a second, or bytes a second for decode; None where nothing was timed."""
        if self.times is None:
            return None
        amount = traffic_bytes(self.case) if self.case.kind == "decode" else work_flops(self.case)
        return amount / self.times.median

    def as_data(self, ceiling: float | None) -> dict[str, Any]:
        """Return it as a record keeps it.

        Args:
            ceiling: rate of the product, or of the copy for decode; None where it was not measured.
        """
        data: dict[str, Any] = {
            "name": self.case.name,
            "case": dataclasses.asdict(self.case),
            "backend": self.backend,
            "status": self.status,
            "reason": self.reason,
            "errors": {name: list(pair) for name, pair in self.errors.items()},
        }
        if self.times is None or self.rate is None:
            return data
        return (
            data
            | {"seconds": list(self.times.seconds), "rate": self.rate, "peak_bytes": self.peak}
            | {"share": self.rate / ceiling if ceiling else None, "tokens": self.case.tokens}
            | self.times.summary()
        )


def message(error: BaseException) -> str:
    """Return an error's type and the first line of what it says."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:300]}"


def rows_of(
    case: Case,
    backends: Sequence[Backend],
    device: torch.device,
    clock: Clock,
    seed: int,
    repeats: int | None,
) -> Iterator[Row]:
    """Check and time every backend at one case.

    Args:
        case: what to time.
        backends: those that can run on the device.
        device: where.
        clock: of the device.
        seed: of the inputs.
        repeats: of each; None leaves it to the clock.

    Yields:
        A row for each backend that is for this kind of case.
    """
    wanted = []
    for backend in backends:
        if case.kind in backend.kinds:
            if reason := backend.passes(case, device):
                yield Row(case, backend.name, "absent", reason)
            else:
                wanted.append(backend)
    if not wanted:
        return
    try:
        inputs = inputs_of(case, device, seed)
        limits = bounds(case, inputs)
    except Exception as error:  # memory, mostly
        yield from (
            Row(case, backend.name, "failed", f"in the reference: {message(error)}") for backend in wanted
        )
        return
    for group in [wanted] if device.type == "cpu" else [[backend] for backend in wanted]:
        yield from _group(case, group, inputs, limits, device, clock, repeats)
        if device.type == "cuda":
            torch.cuda.empty_cache()


def _group(
    case: Case,
    group: Sequence[Backend],
    inputs: Inputs,
    limits: Mapping[str, Bound],
    device: torch.device,
    clock: Clock,
    repeats: int | None,
) -> Iterator[Row]:
    """Check the backends of a group, then time those that are right together."""
    calls: dict[str, Call] = {}
    checked: dict[str, Row] = {}
    for backend in group:
        try:
            with torch.set_grad_enabled(inputs.upstream is not None):
                forward = backend.prepare(case, inputs)
                checked[backend.name] = row = _checked(case, backend.name, forward, inputs, limits)
                if row.status == "timed":
                    calls[backend.name] = call = _timed_part(forward, inputs)
                    checked[backend.name] = dataclasses.replace(row, peak=_peak(call, device))
        except Exception as error:  # whatever a kernel, a compiler or a driver raises
            calls.pop(backend.name, None)
            checked[backend.name] = Row(case, backend.name, "failed", message(error))
    try:
        with torch.set_grad_enabled(inputs.upstream is not None):
            times = clock.times(calls, repeats) if calls else {}
    except Exception as error:
        for name in calls:
            checked[name] = Row(case, name, "failed", f"while it was timed: {message(error)}")
        times = {}
    for name, row in checked.items():
        yield dataclasses.replace(row, times=times.get(name))


def _checked(case: Case, name: str, forward: Forward, inputs: Inputs, limits: Mapping[str, Bound]) -> Row:
    found = verdict(case, computed(forward, inputs), limits)
    return Row(case, name, "wrong" if found.reason else "timed", found.reason, found.errors)


def _timed_part(forward: Forward, inputs: Inputs) -> Call:
    """Return what the clock runs: the forward pass, or the backward pass alone on a graph that is kept."""
    if inputs.upstream is None:
        return forward
    o = forward()
    return lambda: torch.autograd.grad(o, inputs.leaves, inputs.upstream, retain_graph=True)


def _peak(call: Call, device: torch.device) -> int | None:
    """Return how many bytes a call holds at most beyond what is held before it; None on a CPU."""
    if device.type != "cuda":
        return None
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    call()
    torch.cuda.synchronize(device)
    return int(torch.cuda.max_memory_allocated(device)) - before
