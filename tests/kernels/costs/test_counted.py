"""Attention on the counting machine: right results, and counts equal to the formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.kernels.costs import products, traffic
from onesentence.kernels.costs.counted import Run, flash1_forward, flash2_forward, naive_forward
from onesentence.kernels.costs.hbm import Machine
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.reference import attention
from onesentence.kernels.sizes import Sizes

SIZES = [
    Sizes(1, 2, 1, 7, 7, 3),
    Sizes(2, 4, 2, 5, 9, 2),
    Sizes(1, 2, 2, 9, 5, 3),  # more queries than keys: with causal, the first ones read nothing
    Sizes(1, 6, 2, 1, 8, 4),
    Sizes(1, 1, 1, 1, 1, 1),
]
TILES = [Tiles(1, 1), Tiles(2, 3), Tiles(4, 2), Tiles(3, 16), Tiles(16, 16)]


def drawn(sizes: Sizes, dtype: type = np.float64, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = ((sizes.H, sizes.T), (sizes.G, sizes.S), (sizes.G, sizes.S))
    return [rng.normal(size=(sizes.B, *shape, sizes.D)).astype(dtype) for shape in shapes]


def right(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> tuple[np.ndarray, np.ndarray]:
    o, lse = attention(*(torch.from_numpy(part.astype(np.float64)) for part in (q, k, v)), causal=causal)
    return o.numpy(), lse.numpy()


@dataclass(frozen=True)
class Expected:
    """What one way should count."""

    moved: traffic.Traffic
    macs: int
    exponentials: int
    peak: int | None = None


def run_and_expected(
    way: str, machine: Machine, arrays: list[np.ndarray], sizes: Sizes, tiles: Tiles, causal: bool
) -> tuple[Run, Expected]:
    widths = traffic.Widths(arrays[0].dtype.itemsize, np.dtype(machine.wide).itemsize)
    if way == "naive":
        run = naive_forward(machine, *arrays, causal=causal)
        macs, powers = products.forward_macs(sizes), products.exponentials(sizes, way="naive")
        return run, Expected(traffic.naive_forward(sizes, widths), sum(macs.values()), sum(powers.values()))
    macs = products.forward_macs(sizes, causal=causal, tiles=tiles)
    powers = products.exponentials(sizes, way=way[:6], causal=causal, tiles=tiles)
    packed = way == "flash2 packed"
    peak = traffic.on_chip_bytes(sizes, tiles, widths, way=way[:6], packed=packed)
    if way == "flash1":
        run = flash1_forward(machine, *arrays, tiles, causal=causal)
        moved = traffic.flash1_forward(sizes, tiles, widths, causal=causal)
    else:
        run = flash2_forward(machine, *arrays, tiles, causal=causal, packed=packed)
        moved = traffic.flash2_forward(sizes, tiles, widths, causal=causal, packed=packed)
    return run, Expected(moved, sum(macs.values()), sum(powers.values()), peak)


WAYS = ("naive", "flash1", "flash2", "flash2 packed")


def check(
    way: str, sizes: Sizes, tiles: Tiles, causal: bool, dtype: type, wide: type, tolerance: float
) -> None:
    machine, arrays = Machine(wide), drawn(sizes, dtype)
    run, expected = run_and_expected(way, machine, arrays, sizes, tiles, causal)
    o, lse = right(*arrays, causal)
    np.testing.assert_allclose(run["O"], o, atol=tolerance)
    if "flash2" in way:
        np.testing.assert_allclose(run["L"], lse, atol=tolerance)
    assert machine.read == expected.moved.read
    assert machine.written == expected.moved.written
    assert (machine.macs, machine.exponentials) == (expected.macs, expected.exponentials)
    assert expected.peak in (None, machine.peak)
    assert machine.held == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("causal", [False, True])
def test_forward_is_attention_and_counts_what_the_formulas_say(way: str, causal: bool) -> None:
    for sizes in SIZES:
        for tiles in TILES:
            check(way, sizes, tiles, causal, np.float64, np.float64, 1e-12)


@pytest.mark.parametrize(
    ("dtype", "wide", "tolerance"), [(np.float16, np.float32, 0.02), (np.float32, np.float64, 1e-5)]
)
@pytest.mark.parametrize("way", WAYS)
def test_forward_with_narrow_elements_counts_their_width(
    way: str, dtype: type, wide: type, tolerance: float
) -> None:
    check(way, SIZES[1], Tiles(2, 4), True, dtype, wide, tolerance)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(WAYS),
    st.builds(
        lambda B, G, group, T, S, D: Sizes(B, G * group, G, T, S, D),
        *(st.integers(1, most) for most in (2, 2, 3, 9, 9, 3)),
    ),
    st.builds(Tiles, st.integers(1, 10), st.integers(1, 10)),
    st.booleans(),
)
def test_forward_counts_for_any_sizes(way: str, sizes: Sizes, tiles: Tiles, causal: bool) -> None:
    check(way, sizes, tiles, causal, np.float64, np.float64, 1e-12)


def test_flash2_by_hand() -> None:
    # one head, scores 0, ln 2, ln 3 and values 2, 4, 8 in blocks of two keys: 17/3; every number read is one of 8 bytes
    machine = Machine()
    q, k = np.ones((1, 1, 1, 1)), np.log([1.0, 2.0, 3.0]).reshape(1, 1, 3, 1)
    run = flash2_forward(machine, q, k, np.array([2.0, 4.0, 8.0]).reshape(1, 1, 3, 1), Tiles(1, 2))
    assert run["O"].item() == pytest.approx(17 / 3, abs=1e-12)
    assert np.exp(run["L"]).item() == pytest.approx(6, abs=1e-12)
    assert machine.read == {"Q": 8, "K": 24, "V": 24}
    assert machine.written == {"O": 8, "L": 8}
    assert (machine.macs, machine.exponentials) == (6, 3 + 2)
    assert machine.peak == 8 * (1 + 1 + 2 + 2 + 2 + 2)  # Q; sum; l, m; K; V; scores


def test_flash1_leaves_maximum_and_mass() -> None:
    sizes = SIZES[2]
    arrays = drawn(sizes)
    run = flash1_forward(Machine(), *arrays, Tiles(2, 2), causal=True)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(run["m"] + np.log(run["l"]), right(*arrays, True)[1], atol=1e-12)


def test_naive_leaves_scores_and_weights() -> None:
    q, k, v = drawn(Sizes(1, 2, 2, 3, 4, 2))
    run = naive_forward(Machine(), q, k, v, causal=True, scale=0.5)
    np.testing.assert_allclose(run["scores"], 0.5 * q @ k.swapaxes(2, 3), atol=1e-12)
    np.testing.assert_allclose(run["P"].sum(axis=3), 1, atol=1e-12)
    assert (run["P"][..., 0, 2:] == 0).all()


def test_nothing_to_read_gives_zero_and_no_nan() -> None:
    for function in (flash1_forward, flash2_forward):
        run = function(Machine(), *drawn(SIZES[2]), Tiles(2, 2), causal=True)
        assert (run["O"][:, :, :4] == 0).all()
    assert (naive_forward(Machine(), *drawn(SIZES[2]), causal=True)["O"][:, :, :4] == 0).all()


@pytest.mark.parametrize(("way", "function"), [("flash1", flash1_forward), ("flash2", flash2_forward)])
def test_blocks_fit_on_a_chip_that_is_just_large_enough(way: str, function: Callable[..., Run]) -> None:
    sizes, tiles = SIZES[0], Tiles(2, 3)
    need = traffic.on_chip_bytes(sizes, tiles, traffic.Widths(8, 8), way=way)
    function(Machine(capacity=need), *drawn(sizes), tiles)
    with pytest.raises(MemoryError, match=f"the chip holds {need - 1} bytes, {need} are needed at once"):
        function(Machine(capacity=need - 1), *drawn(sizes), tiles)


def test_counted_refuses_what_is_no_read() -> None:
    q, k, v = drawn(SIZES[1])
    for function, rest in ((naive_forward, ()), (flash1_forward, (TILES[0],)), (flash2_forward, (TILES[0],))):
        with pytest.raises(ValueError, match="q must have a multiple of the 2 heads of k, got 3"):
            function(Machine(), q[:, :3], k, v, *rest)
        with pytest.raises(ValueError, match="scale must be finite, got nan"):
            function(Machine(), q, k, v, *rest, scale=float("nan"))
