"""How decoding is cut up: configurations of every head size and dtype, and the number of splits."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("triton", reason="Triton is there on Linux x86-64 only")
from onesentence.kernels.gpu.blocks import width_of
from onesentence.kernels.gpu.decode_plan import STEP_BYTES, blocks_of, resident, splits_for


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_blocks_of_fill_a_step_and_leave_room_for_another_program(dtype: torch.dtype) -> None:
    for D in range(16, 257, 16):
        blocks = blocks_of(D, dtype)
        step = 2 * blocks.block_k * width_of(D) * dtype.itemsize
        assert step == STEP_BYTES or (step < STEP_BYTES and blocks.block_k == 128)
        assert resident(blocks) in (2, 3)


@pytest.mark.parametrize("pairs", [1, 3, 32, 128, 200, 256, 792, 5000])
@pytest.mark.parametrize("steps", [1, 2, 3, 64, 10**5])
def test_splits_for_fill_the_device_unless_the_keys_are_too_few(pairs: int, steps: int) -> None:
    slots = 3 * 132
    splits = splits_for(pairs, steps, slots)
    assert splits == 1 or steps >= 2 * splits
    programs = pairs * splits
    if steps >= 4 * -(-2 * slots // pairs):  # twice as many could be had
        assert programs >= 2 * slots
        assert programs / slots / -(-programs // slots) > 0.85
    assert programs <= max(pairs, 4 * (slots + pairs))
