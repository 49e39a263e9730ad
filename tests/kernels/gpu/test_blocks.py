"""Blocks that are pinned, and what the tuner refuses."""

from __future__ import annotations

from itertools import product

import pytest
import torch

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")

from onesentence.kernels.gpu.blocks import PASSES, Blocks, pinned, width_of
from onesentence.kernels.gpu.tune import best_blocks, timed


@pytest.mark.parametrize(("D", "width"), [(1, 16), (16, 16), (17, 32), (48, 64), (80, 128), (256, 256)])
def test_width_of_is_a_power_of_two(D: int, width: int) -> None:
    assert width_of(D) == width


def test_pinned_has_a_choice_for_every_pass_size_and_dtype() -> None:
    for name, D, itemsize, described in product(PASSES, range(1, 257), (2, 4), (False, True)):
        blocks = pinned(name, D, itemsize, described=described)
        resident = blocks.block_k if name == "keys" else blocks.block_q
        assert resident * max(64, width_of(D)) <= 128 * 256
        assert itemsize == 4 or resident % (blocks.num_warps * 4) == 0


def test_pinned_refuses_what_is_not_there() -> None:
    with pytest.raises(ValueError, match="name: expected one of forward, keys, queries, got 'backward'"):
        pinned("backward", 64, 2)
    with pytest.raises(ValueError, match="itemsize must be 2 or 4, got 8"):
        pinned("forward", 64, 8)
    with pytest.raises(ValueError, match=r"D must lie in \[1, 256\], got 257"):
        pinned("forward", 257, 2)


def test_blocks_refuse_sizes_that_no_kernel_takes() -> None:
    with pytest.raises(ValueError, match="block_k must be at least 16, got 8"):
        Blocks(8, 8)
    with pytest.raises(ValueError, match="num_warps must be a power of two, got 3"):
        Blocks(16, 16, 3)
    with pytest.raises(TypeError, match=r"num_stages must be an integer, got 1\.5"):
        Blocks(16, 16, 4, 1.5)  # type: ignore[arg-type]


def test_timed_refuses_what_cannot_be_timed() -> None:
    with pytest.raises(ValueError, match="name: expected one of forward, keys, queries, got 'all'"):
        best_blocks("all", torch.float16, 64, causal=False)
    with pytest.raises(ValueError, match="group must divide heads = 6, got 4"):
        timed("forward", torch.float16, 64, causal=False, heads=6, group=4)


@pytest.mark.skipif(torch.cuda.is_available(), reason="CUDA is there")
def test_best_blocks_refuses_to_guess_without_cuda() -> None:
    with pytest.raises(RuntimeError, match="blocks can be timed on CUDA only"):
        best_blocks("forward", torch.float16, 64, causal=False)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA to time on")
def test_timed_sorts_what_fits() -> None:
    candidates = [Blocks(64, 64, 4, 2), Blocks(64, 32, 4, 2), Blocks(128, 128, 8, 8)]
    seconds = timed("forward", torch.float16, 64, causal=True, length=1024, candidates=candidates)
    assert 1 <= len(seconds) <= 3
    assert list(seconds.values()) == sorted(seconds.values())
