"""How decoding is cut up: the configuration of each head size and dtype, and the splits of a row's keys.

Only bytes count in decoding. So the configurations keep one thing fixed, the bytes of keys and values of a step, and
enough steps on their way that a multiprocessor always waits for several of them. They are pinned, not tuned: the same
call runs the same code everywhere. They were chosen for the H200 from what the compiler reports (shared memory,
registers, no spills, 16-byte copies), not from timings. No Triton and no device here.
"""

from __future__ import annotations

import torch

from onesentence.kernels.gpu.blocks import SHARED_BYTES, Blocks, width_of

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


def blocks_of(D: int, dtype: torch.dtype) -> Blocks:
    """Return the configuration of `read_split` for a head size and dtype.

    Its queries are query heads that share a key head: what a tensor core takes at least, or in float32, without one, half of
    that. Of its stages, one is the step being read.

    Args:
        D: head size, a multiple of 16 from 16 to 256; one that is no power of two is padded on chip only.
        dtype: of keys and values, float16, bfloat16 or float32.

    Raises:
        ValueError: if the head size is none of these.

    Example:
        >>> blocks_of(80, torch.float16)
        Blocks(block_q=16, block_k=64, num_warps=4, num_stages=3)
    """
    if D % 16 or not 16 <= D <= 256:
        raise ValueError(f"the head size must be a multiple of 16 from 16 to 256, got {D}")
    width = width_of(D)
    keys = min(128, STEP_BYTES // (2 * width * dtype.itemsize))
    rows, warps = (8, 8 if width > 64 else 4) if dtype == torch.float32 else (16, 4)
    return Blocks(rows, keys, warps, 4 if width < 64 else 3)


def resident(blocks: Blocks) -> int:
    """Return how many programs a multiprocessor holds by shared memory, with 10 KiB for all but keys and values.

    Example:
        >>> resident(blocks_of(80, torch.float16))
        3
    """
    return max(1, SHARED_BYTES // ((blocks.num_stages - 1) * STEP_BYTES + 10 * 1024))


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
