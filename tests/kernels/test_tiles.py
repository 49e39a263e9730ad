"""How the score table is cut into tiles."""

from __future__ import annotations

from math import exp

import pytest
import torch

from onesentence.kernels.sizes import Sizes
from onesentence.kernels.tiles import Blocks, by_group, dtype_of_sums, rounds, weights_of


def test_blocks_refuse_what_is_no_size() -> None:
    with pytest.raises(ValueError, match="queries must be at least 1, got 0"):
        Blocks(0, 8)
    with pytest.raises(TypeError, match=r"keys must be an integer, got 2\.5"):
        Blocks(8, 2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sizes", "rows", "heads"),
    [
        (Sizes(1, 8, 8, 900, 900, 4), 8, 1),  # one head fills a tile
        (Sizes(1, 8, 2, 900, 900, 4), 2, 1),  # its rows are shared by the four heads of a group
        (Sizes(1, 32, 2, 900, 900, 4), 1, 1),  # one query each at least
        (Sizes(5, 8, 8, 2, 4, 4), 2, 16),  # 128 scores have room, a head has 8
        (Sizes(1, 3, 3, 1, 1, 4), 1, 3),  # no more than there are
    ],
)
def test_blocks_hold_as_many_heads_as_have_room(sizes: Sizes, rows: int, heads: int) -> None:
    blocks = Blocks(8, 16)
    assert (blocks.rows(sizes), blocks.heads(sizes)) == (rows, heads)
    assert blocks.buffer(sizes, torch.zeros(1)).numel() >= heads * sizes.group * rows * min(16, sizes.S)


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 6, 7, 12, 100])
def test_rounds_meet_every_head_once_and_no_more_than_asked(heads: int) -> None:
    met = torch.zeros(4, 3, dtype=torch.int64)
    for one in rounds(Sizes(4, 6, 3, 1, 1, 1), heads):
        met[one.batch, one.heads] += 1
        assert met[one.batch, one.heads].numel() <= heads
    assert (met == 1).all()


def test_by_group_is_a_view_of_any_strides() -> None:
    part = torch.arange(2 * 5 * 6 * 3).view(2, 5, 6, 3).transpose(1, 2)
    apart = by_group(part, Sizes(2, 6, 2, 5, 5, 3))
    assert apart.shape == (2, 2, 3, 5, 3)
    assert apart.data_ptr() == part.data_ptr()
    assert torch.equal(apart[:, 1, 2], part[:, 5])


@pytest.mark.parametrize(("dtype", "least"), [(torch.float32, -70.0), (torch.float64, -700.0)], ids=str)
def test_weights_of_cut_off_what_is_no_part_of_a_sum(dtype: torch.dtype, least: float) -> None:
    scores = torch.tensor([[[0.0, -1.0, least + 1, least - 1, 30 * least, -torch.inf]]], dtype=dtype)
    weights = weights_of(scores, torch.zeros(1, 1, 1, dtype=dtype))
    expected = torch.tensor([1.0, exp(-1.0), exp(least + 1)], dtype=dtype)
    torch.testing.assert_close(
        weights[0, 0, :3], expected, rtol=1e-5 if dtype == torch.float32 else 1e-12, atol=0.0
    )
    assert (weights[0, 0, 3:] == 0).all()
    assert weights.data_ptr() == scores.data_ptr()


def test_weights_of_a_row_that_reads_nothing_are_zero() -> None:
    row = torch.full((1, 1, 3), -torch.inf)
    assert (weights_of(row.clone(), torch.full((1, 1, 1), torch.inf)) == 0).all()
    assert (weights_of(row.clone(), torch.full((1, 1, 1), torch.finfo(torch.float32).min)) == 0).all()


def test_dtype_of_sums_is_float32_for_half_precision() -> None:
    assert [dtype_of_sums(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float64)] == [
        torch.float32,
        torch.float32,
        torch.float64,
    ]
    with pytest.raises(TypeError, match="q must hold float16"):
        dtype_of_sums(torch.int64)
