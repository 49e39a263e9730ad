"""How decoding is cut up: the configuration of each head size and dtype, and the splits of a row's keys.

Only bytes count in decoding. So the configurations keep one thing fixed, the bytes of keys and values of a step, and
enough steps on their way that a multiprocessor always waits for several of them. They are pinned, not tuned: the same
call runs the same code everywhere. They were chosen for the H200 from what the compiler reports (shared memory,
registers, no spills, 16-byte copies), not from timings. No Triton and no device here.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from onesentence.checks import checked_integer
from onesentence.kernels.gpu.blocks import SHARED_BYTES, width_of

STEP_BYTES = 32 * 1024
"""Bytes of keys and values of a step, at most."""

WAVES = 2
"""How many times over the device should be filled at least, so that few of it idles while the last programs end."""

LEAST_STEPS = 2
"""Steps of a split below which another split costs more than it saves."""

INTERPRETED_SPLITS = 2
"""Splits where there is no multiprocessor, under Triton's interpreter."""

MOST_SPLITS = 65535
"""What a grid can hold on its third axis."""


@dataclass(frozen=True)
class DecodeBlocks:
    """How a program of `read_split` is compiled.

    Attributes:
        keys: of one step, a power of two from 16.
        width: the power of two from the head size up.
        rows: query heads in a tile: what a tensor core takes at least, or in float32, without one, half of that.
        warps: of a program.
        stages: steps that are worked on at once, the one being read among them.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if it is too small, or no power of two where it should be one.
    """

    keys: int
    width: int
    rows: int
    warps: int
    stages: int

    def __post_init__(self) -> None:
        for name, least in (("keys", 16), ("width", 16), ("rows", 1), ("warps", 1), ("stages", 1)):
            value = checked_integer(name, getattr(self, name), least)
            if name != "stages" and value & (value - 1):
                raise ValueError(f"{name} must be a power of two, got {value}")

    @property
    def resident(self) -> int:
        """Programs that a multiprocessor can hold by their shared memory, with 10 KiB for all but keys and values."""
        return max(1, SHARED_BYTES // ((self.stages - 1) * STEP_BYTES + 10 * 1024))


def blocks_of(D: int, dtype: torch.dtype) -> DecodeBlocks:
    """Return the configuration of a head size and dtype.

    Args:
        D: head size, a multiple of 16 from 16 to 256; one that is no power of two is padded on chip only.
        dtype: of keys and values, float16, bfloat16 or float32.

    Raises:
        ValueError: if the head size is none of these.

    Example:
        >>> blocks_of(80, torch.float16)
        DecodeBlocks(keys=64, width=128, rows=16, warps=4, stages=3)
    """
    if D % 16 or not 16 <= D <= 256:
        raise ValueError(f"the head size must be a multiple of 16 from 16 to 256, got {D}")
    width = width_of(D)
    keys = min(128, STEP_BYTES // (2 * width * dtype.itemsize))
    rows, warps = (8, 8 if width > 64 else 4) if dtype == torch.float32 else (16, 4)
    return DecodeBlocks(keys, width, rows, warps, stages=4 if width < 64 else 3)


def splits_for(pairs: int, steps: int, slots: int) -> int:
    """Return into how many splits the keys of each row are cut.

    Args:
        pairs: rows times key heads (times tiles of a large group), each cut alike.
        steps: in the longest row that the cache can hold.
        slots: programs that the device runs at once.

    Returns:
        Enough to fill the slots `WAVES` times; from there to twice as many, the fewest that leave the device idle in its
        last wave hardly longer than the best. At most one for `LEAST_STEPS` steps.

    Example:
        >>> [splits_for(pairs, steps=64, slots=3 * 132) for pairs in (1, 16 * 8, 2**14)]
        [32, 9, 1]
    """
    most = max(1, min(steps // LEAST_STEPS, MOST_SPLITS))
    least = min(most, -(-WAVES * slots // pairs))
    busy = {n: pairs * n / slots / -(-pairs * n // slots) for n in range(least, min(most, 2 * least) + 1)}
    return next(n for n, share in busy.items() if share >= 0.98 * max(busy.values()))
