"""Ceilings: both sides of the ridge by hand, limits of intensities, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.kernels.costs.roofline import (
    Ceilings,
    Work,
    attainable,
    decode_read_work,
    least_seconds,
    limit,
    prefill_read_work,
)
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.costs.traffic import Widths
from onesentence.kernels.sizes import Sizes

MACHINE = Ceilings(peak=100.0, bandwidth=4.0)
HALF = Widths(element=2, statistic=4)


def test_ridge_and_both_sides_of_it() -> None:
    assert MACHINE.ridge == 25
    assert [attainable(intensity, MACHINE) for intensity in (0, 10, 25, 1000)] == [0, 40, 100, 100]
    below, above = Work(flops=240, bytes=10), Work(flops=250, bytes=10)
    assert (limit(below, MACHINE), limit(above, MACHINE)) == ("traffic", "arithmetic")
    assert (least_seconds(below, MACHINE), least_seconds(above, MACHINE)) == (2.5, 2.5)
    assert least_seconds(Work(flops=500, bytes=10), MACHINE) == 5


@given(st.integers(1, 10**12), st.integers(1, 10**12), st.floats(1e3, 1e15), st.floats(1e3, 1e13))
def test_least_seconds_is_the_work_at_the_attainable_rate(
    flops: int, moved: int, peak: float, bandwidth: float
) -> None:
    work, ceilings = Work(flops, moved), Ceilings(peak, bandwidth)
    assert least_seconds(work, ceilings) == pytest.approx(flops / attainable(work.intensity, ceilings))


def test_work_adds_up() -> None:
    assert Work(3, 4) + Work(1, 2) == Work(4, 6)
    assert Work(3, 4).intensity == 0.75


def test_decode_read_work_by_hand() -> None:
    # 2 rows, 4 heads in groups of 2, 8 keys of 3 numbers: K and V 2 x 2 x (2 x 8 x 3), q and o 2 x (2 x 4 x 3), L 8
    work = decode_read_work(B=2, H=4, G=2, t=8, D=3, widths=HALF)
    assert work == Work(flops=2 * 2 * (2 * 4 * 8 * 3), bytes=2 * (2 * 2 * 8 * 3) * 2 + 2 * 24 * 2 + 8 * 4)


@pytest.mark.parametrize("group", [1, 4, 8])
def test_decode_intensity_is_the_group_however_many_rows(group: int) -> None:
    for B in (1, 64):
        work = decode_read_work(B=B, H=8 * group, G=8, t=8192, D=128, widths=HALF)
        assert work.intensity == pytest.approx(group, rel=0.01)
        assert work.intensity < group


def test_prefill_intensity_is_set_by_the_tile() -> None:
    sizes = Sizes(B=1, H=8, G=2, T=16384, S=16384, D=128)
    for rows in (64, 128):
        work = prefill_read_work(sizes, Tiles(rows, 64), HALF)
        assert work.intensity == pytest.approx(2 * rows / 2, rel=0.02)


def test_prefill_read_work_counts_pairs_that_are_needed() -> None:
    sizes = Sizes(B=1, H=1, G=1, T=4, S=4, D=2)
    assert prefill_read_work(sizes, Tiles(4, 4), HALF, causal=True).flops == 2 * 2 * 10 * 2
    assert prefill_read_work(sizes, Tiles(4, 4), HALF).flops == 2 * 2 * 16 * 2


def test_roofline_refuses() -> None:
    with pytest.raises(ValueError, match="peak must be positive and finite, got 0"):
        Ceilings(0, 1.0)
    with pytest.raises(ValueError, match="bandwidth must be finite, got inf"):
        Ceilings(1.0, float("inf"))
    with pytest.raises(TypeError, match="bandwidth must be a number, got '1'"):
        Ceilings(1.0, "1")
    with pytest.raises(ValueError, match="bytes must be at least 1, got 0"):
        Work(1, 0)
    with pytest.raises(TypeError, match=r"flops must be an integer, got 1\.0"):
        Work(1.0, 1)
    with pytest.raises(ValueError, match="intensity must not be negative, got -1"):
        attainable(-1, MACHINE)
    with pytest.raises(ValueError, match="t must be at least 1, got 0"):
        decode_read_work(B=1, H=1, G=1, t=0, D=1, widths=HALF)
    with pytest.raises(ValueError, match="H must be a multiple of G = 2, got 3"):
        prefill_read_work(Sizes(1, 3, 2, 1, 1, 1), Tiles(1, 1), HALF)
