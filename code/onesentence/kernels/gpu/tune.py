"""Time a kernel's possible blocks on the device at hand. By hand only: what it finds is written into `blocks`.

    from onesentence.kernels.gpu.tune import best_blocks
    best_blocks("forward", torch.bfloat16, 128, causal=True, length=8192)

On another device than Hopper, or at lengths far from those that `blocks` was chosen for, the answer may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import torch

from onesentence.checks import checked_choice, checked_integer
from onesentence.kernels.gpu.blocks import PASSES, Blocks, pinned
from onesentence.kernels.gpu.passes import launch_of, random_read
from onesentence.kernels.gpu.runtime import check_kernel_takes, interpreted, triton

LARGE = [
    Blocks(q, k, warps, stages)
    for q, k, warps, stages in product((64, 128), (32, 64, 128), (4, 8), (2, 3))
    if q * k >= 64 * 32 * warps // 4
]
"""Tried for float16 and bfloat16."""
SMALL = [
    Blocks(q, k, warps, stages) for q, k, warps, stages in product((16, 32, 64), (16, 32), (4, 8), (1, 2))
]
"""Tried for float32."""


def timed(
    name: str,
    dtype: torch.dtype,
    D: int,
    *,
    causal: bool,
    length: int = 8192,
    heads: int = 16,
    group: int = 1,
    candidates: Sequence[Blocks] | None = None,
    seed: int = 0,
) -> dict[Blocks, float]:
    """Return how long one pass takes with each candidate that fits the device.

    Args:
        name: of the pass, as in `blocks`.
        dtype: float16, bfloat16 or float32.
        D: head size.
        causal: whether a query reads keys up to its own place only.
        length: queries and keys, tokens.
        heads: query heads, one sequence.
        group: query heads that share a key head.
        candidates: None means the pinned choice and a common range.
        seed: of the random numbers that are read.

    Returns:
        Median seconds, the fastest first. Candidates that ask for more than the device has are left out.

    Raises:
        RuntimeError: without CUDA, under the interpreter, or if no candidate fits.
        TypeError, ValueError: if there is no such pass, dtype or size, or `group` does not divide `heads`.
    """
    checked_choice("name", name, PASSES)
    for argument, value in (("length", length), ("heads", heads), ("group", group)):
        checked_integer(argument, value, 1)
    if heads % group:
        raise ValueError(f"group must divide heads = {heads}, got {group}")
    if interpreted() or not torch.cuda.is_available():
        raise RuntimeError("blocks can be timed on CUDA only, not under the interpreter")
    check_kernel_takes(torch.empty(1, D, dtype=dtype, device="cuda"))
    choice = pinned(name, D, dtype.itemsize)
    if candidates is None:
        candidates = [choice, *(LARGE if dtype.itemsize == 2 else SMALL)]
    read = random_read(1, heads, heads // group, length, D, dtype, causal=causal, device="cuda", seed=seed)
    seconds = {}
    for blocks in dict.fromkeys(candidates):
        launch = launch_of(name, read, blocks)
        try:
            seconds[blocks] = triton.testing.do_bench(launch.run, return_mode="median") / 1000
        except triton.runtime.errors.OutOfResources:
            continue
    if not seconds:
        raise RuntimeError(f"none of {len(candidates)} candidates fits the device")
    return dict(sorted(seconds.items(), key=lambda item: item[1]))


def best_blocks(name: str, dtype: torch.dtype, D: int, *, causal: bool, length: int = 8192) -> Blocks:
    """Return the fastest blocks of one pass among the usual candidates.

    Args:
        name: of the pass, as in `blocks`.
        dtype: float16, bfloat16 or float32.
        D: head size.
        causal: whether a query reads keys up to its own place only.
        length: queries and keys, tokens.

    Raises:
        RuntimeError, TypeError, ValueError: as `timed`.
    """
    return next(iter(timed(name, dtype, D, causal=causal, length=length)))
