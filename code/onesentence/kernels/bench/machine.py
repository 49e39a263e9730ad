"""What a record says of the machine, the versions and the code that it was measured with."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[4]


def device_words(device: torch.device) -> str:
    """Return the device in words: its name, its units and its memory."""
    if device.type == "cuda":
        found = torch.cuda.get_device_properties(device)
        memory, cache = found.total_memory / 2**30, getattr(found, "L2_cache_size", 0) / 2**20
        return f"{found.name}, {found.multi_processor_count} multiprocessors, {memory:.0f} GiB, L2 {cache:.0f} MiB"
    return _processor()


def _processor(about: Path = Path("/proc/cpuinfo")) -> str:
    try:
        lines = about.read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def versions(device: torch.device) -> dict[str, str]:
    """Return the versions of what was measured, and of the driver where there is one; `none` for what is missing."""
    try:
        import triton

        third = str(triton.__version__)
    except ImportError:
        third = "none"
    found = {"python": platform.python_version(), "numpy": np.__version__, "torch": str(torch.__version__)}
    found |= {"triton": third, "cuda": str(torch.version.cuda or "none")}
    if device.type == "cuda":
        found |= {"driver": _said("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")}
        found |= {"cudnn": str(torch.backends.cudnn.version())}  # type: ignore[no-untyped-call]
    return found


def commit() -> str:
    """Return the commit of the checkout, with `+` where it has changes; empty where there is no checkout."""
    name = _said("git", "-C", str(ROOT), "rev-parse", "HEAD")
    changed = _said("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    return name + ("+" if name and changed else "")


def _said(*command: str) -> str:
    """Return the first line that a program prints, empty where there is none or it fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = run.stdout.strip().splitlines()
    return lines[0].strip() if run.returncode == 0 and lines else ""


def now() -> str:
    """Return the date and time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
