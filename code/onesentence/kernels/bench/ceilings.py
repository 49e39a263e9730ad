"""What this machine reaches at best, measured in the same run: a matrix product, and a copy in its memory.

A product of two n x n matrices counts 2 n^3 operations, a copy its bytes twice, once read and once written. A share of the
product says how busy the arithmetic units are, a share of the copy how busy the memory is. The copy's buffer is larger
than the last cache, so that it measures memory.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from onesentence.kernels.bench.timing import Clock, Times, flush_bytes

SIDES = {"cuda": 8192, "cpu": 2048}
"""Of the product's matrices."""
CPU_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True)
class Ceiling:
    """One measured ceiling.

    Attributes:
        what: `product` or `copy`.
        dtype: of the product's matrices; empty for the copy.
        size: side of the matrices, or bytes of the copied buffer.
        rate: operations or bytes a second, of the median.
        times: of the repetitions.
    """

    what: str
    dtype: str
    size: int
    rate: float
    times: Times

    def as_data(self) -> dict[str, Any]:
        """Return it as a record keeps it."""
        data = {"what": self.what, "dtype": self.dtype, "size": self.size, "rate": self.rate}
        return data | {"seconds": list(self.times.seconds)} | self.times.summary()


def product(clock: Clock, device: torch.device, dtype: str, side: int, repeats: int | None = None) -> Ceiling:
    """Measure a matrix product.

    Args:
        clock: of the device.
        device: where.
        dtype: of the matrices.
        side: n, both matrices being (n, n).
        repeats: how often; None leaves it to the clock.
    """
    a = torch.randn(side, side, device=device).to(getattr(torch, dtype))
    b, c = torch.randn_like(a), torch.empty_like(a)
    times = clock.times({"product": lambda: torch.mm(a, b, out=c)}, repeats)["product"]
    return Ceiling("product", dtype, side, 2 * side**3 / times.median, times)


def copy(clock: Clock, device: torch.device, size: int, repeats: int | None = None) -> Ceiling:
    """Measure a copy from one buffer of `size` bytes into another."""
    source = torch.ones(size // 4, dtype=torch.float32, device=device)
    target = torch.zeros_like(source)
    times = clock.times({"copy": lambda: target.copy_(source)}, repeats)["copy"]
    moved = 2 * source.numel() * source.element_size()
    return Ceiling("copy", "", moved // 2, moved / times.median, times)


def last_cache_bytes(folder: Path = CPU_CACHES) -> int:
    """Return the size of the CPU's largest cache, 0 where the system does not tell.

    Args:
        folder: of one core's caches, as Linux shows them.
    """
    sizes = [0]
    for file in folder.glob("index*/size"):
        text = file.read_text().strip()
        if text[:-1].isdigit() and text[-1:] in UNITS:
            sizes.append(int(text[:-1]) * UNITS[text[-1]])
    return max(sizes)


def copy_bytes(device: torch.device) -> int:
    """Return how large a buffer is copied: beyond the last cache, and within an eighth of the memory that there is."""
    if device.type == "cuda":
        return max(2**30, 8 * flush_bytes(torch.cuda.get_device_properties(device)))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(max(2**28, last_cache_bytes() * 5 // 4), memory // 8)


def measured(clock: Clock, device: torch.device, dtypes: Sequence[str]) -> list[Ceiling]:
    """Measure the ceilings of a device.

    Args:
        clock: of the device.
        device: where.
        dtypes: of the products, those of the cases.
    """
    repeats = 3 if device.type == "cpu" else None
    products = [product(clock, device, dtype, SIDES[device.type], repeats) for dtype in dtypes]
    return [*products, copy(clock, device, copy_bytes(device), repeats)]
