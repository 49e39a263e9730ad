"""How much memory a forward pass takes beyond its inputs, on a CPU: the peak of a fresh process.

A process of its own runs one backend once, after a small case that loads what the libraries load at first. What counts is
how far the peak of its resident memory rises above what it held before; the output itself is part of it. Linux keeps that
peak in `VmHWM` of /proc/self/status, reset through /proc/self/clear_refs; elsewhere it is `ru_maxrss`, which cannot be
reset. (On Linux `ru_maxrss` of a child begins with the size of its parent, so it is not used there.)
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from onesentence.checks import checked_choice
from onesentence.kernels.bench.backends import COMMON
from onesentence.kernels.bench.cases import Case, square
from onesentence.kernels.bench.inputs import inputs_of

NAMES = tuple(backend.name for backend in COMMON)
STATUS = Path("/proc/self/status")
TIMEOUT = 300
"""Seconds after which a child is given up."""


def peak_bytes() -> int:
    """Return the most resident memory that this process has held (since the last reset)."""
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def reset_peak() -> None:
    """Let the peak begin again at what is held now, where the system can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def growth(name: str, case: Case, seed: int = 0) -> int:
    """Return by how many bytes the peak of this process rises while a backend runs once.

    Args:
        name: of the backend, one of NAMES.
        case: forwards.
        seed: of the inputs.

    Raises:
        ValueError: if there is no such backend for a CPU.
    """
    checked_choice("name", name, NAMES)
    device, backend = torch.device("cpu"), next(one for one in COMMON if one.name == name)
    torch.set_num_threads(1)
    with torch.no_grad():
        small = dataclasses.replace(case, T=min(case.T, 64), S=min(case.S, 64))
        backend.prepare(small, inputs_of(small, device, seed))()
        call = backend.prepare(case, inputs_of(case, device, seed))
        reset_peak()
        before = peak_bytes()
        kept = call()
        after = peak_bytes()
    del kept
    return after - before


def measured(name: str, case: Case, seed: int = 0) -> dict[str, Any]:
    """Measure one backend in a fresh process.

    Args:
        name: of the backend.
        case: forwards.
        seed: of the inputs.

    Returns:
        `backend`, `name` and `bytes`; None bytes with a `reason` where the process failed.
    """
    code = Path(__file__).resolve().parents[3]
    paths = [str(code), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", __name__, name, json.dumps(dataclasses.asdict(case)), str(seed)]
    found: dict[str, Any] = {"backend": name, "name": case.name, "bytes": None, "reason": ""}
    try:
        run = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return found | {"reason": f"did not end within {TIMEOUT} s"}
    if run.returncode != 0:
        last = (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1]
        return found | {"reason": last}
    return found | {"bytes": int(run.stdout)}


def memory_case(T: int) -> Case:
    """Return the case whose memory is measured: forwards, 8 heads of 64, float32, no mask."""
    return square("forward", 1, 8, T, 64, "float32", causal=False)


if __name__ == "__main__":
    sys.stdout.write(f"{growth(sys.argv[1], Case(**json.loads(sys.argv[2])), int(sys.argv[3]))}\n")
