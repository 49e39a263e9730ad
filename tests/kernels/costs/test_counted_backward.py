"""Gradients on the counting machine: PyTorch's of the reference, and counts equal to the formulas."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.kernels.costs import products, traffic
from onesentence.kernels.costs.counted import Run, flash2_forward, naive_forward
from onesentence.kernels.costs.counted_backward import flash2_backward, naive_backward, two_pass_backward
from onesentence.kernels.costs.hbm import Machine
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.reference import attention
from onesentence.kernels.sizes import Sizes

WAYS = ("kept", "recomputed", "two passes")
WIDTHS = traffic.Widths(8, 8)
SIZES = [Sizes(1, 2, 1, 7, 7, 3), Sizes(2, 4, 2, 5, 9, 2), Sizes(1, 2, 2, 9, 5, 3), Sizes(1, 3, 1, 1, 8, 4)]


def drawn(sizes: Sizes) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = ((sizes.H, sizes.T), (sizes.G, sizes.S), (sizes.G, sizes.S), (sizes.H, sizes.T))
    return [rng.normal(size=(sizes.B, *shape, sizes.D)) for shape in shapes]


def ran(way: str, machine: Machine, arrays: list[np.ndarray], tiles: Tiles, causal: bool) -> Run:
    """Return a run with gradients, `machine` having seen the backward pass only."""
    q, k, v, do = arrays
    if way == "kept":
        run = naive_forward(Machine(), q, k, v, causal=causal)
        naive_backward(machine, run, do)
        return run
    run = flash2_forward(Machine(), q, k, v, tiles, causal=causal)
    (flash2_backward if way == "recomputed" else two_pass_backward)(machine, run, do, tiles)
    return run


def expected(way: str, sizes: Sizes, tiles: Tiles, causal: bool) -> tuple[traffic.Traffic, int]:
    if way == "kept":
        return traffic.naive_backward(sizes, WIDTHS), sum(products.backward_macs(sizes, way=way).values())
    formula = traffic.flash2_backward if way == "recomputed" else traffic.two_pass_backward
    macs = products.backward_macs(sizes, way=way, causal=causal, tiles=tiles)
    return formula(sizes, tiles, WIDTHS, causal=causal), sum(macs.values())


def right(arrays: list[np.ndarray], causal: bool) -> dict[str, np.ndarray]:
    q, k, v, do = (torch.from_numpy(part) for part in arrays)
    inputs = [part.requires_grad_() for part in (q, k, v)]
    attention(*inputs, causal=causal)[0].backward(do)
    return {f"d{name}": part.grad.numpy() for name, part in zip("QKV", inputs, strict=True)}


def check(way: str, sizes: Sizes, tiles: Tiles, causal: bool) -> None:
    machine, arrays = Machine(), drawn(sizes)
    run = ran(way, machine, arrays, tiles, causal)
    for name, gradient in right(arrays, causal).items():
        np.testing.assert_allclose(run[name], gradient, atol=1e-11)
    moved, macs = expected(way, sizes, tiles, causal)
    assert machine.read == moved.read
    assert machine.written == moved.written
    assert machine.macs == macs
    assert machine.held == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("causal", [False, True])
def test_backward_is_autograds_and_counts_what_the_formulas_say(way: str, causal: bool) -> None:
    for sizes in SIZES:
        for tiles in (Tiles(1, 1), Tiles(2, 3), Tiles(16, 4)):
            check(way, sizes, tiles, causal)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(WAYS),
    st.builds(
        lambda B, G, group, T, S, D: Sizes(B, G * group, G, T, S, D),
        *(st.integers(1, most) for most in (2, 2, 3, 8, 8, 3)),
    ),
    st.builds(Tiles, st.integers(1, 9), st.integers(1, 9)),
    st.booleans(),
)
def test_backward_counts_for_any_sizes(way: str, sizes: Sizes, tiles: Tiles, causal: bool) -> None:
    check(way, sizes, tiles, causal)


def test_backward_of_queries_without_keys_is_zero() -> None:
    for way in WAYS:
        run = ran(way, Machine(), drawn(SIZES[2]), Tiles(2, 2), True)
        assert (run["dQ"][:, :, :4] == 0).all()


def test_one_more_product_and_no_table_is_what_recomputation_trades() -> None:
    sizes, tiles = Sizes(1, 1, 1, 64, 64, 4), Tiles(32, 32)
    kept, again = Machine(), Machine()
    ran("kept", kept, drawn(sizes), tiles, False)
    ran("recomputed", again, drawn(sizes), tiles, False)
    assert again.macs * 4 == kept.macs * 5
    moved = [sum(one.read.values()) + sum(one.written.values()) for one in (again, kept)]
    assert moved[0] < moved[1] / 2


def test_backward_refuses() -> None:
    q, k, v, do = drawn(SIZES[0])
    naive, flash = naive_forward(Machine(), q, k, v), flash2_forward(Machine(), q, k, v, Tiles(2, 2))
    with pytest.raises(
        ValueError, match=r"run must have P, which .* another way leaves, got \['K', 'L', 'O'"
    ):
        naive_backward(Machine(), flash, do)
    for function in (flash2_backward, two_pass_backward):
        with pytest.raises(ValueError, match="run must have L, which"):
            function(Machine(), naive, do, Tiles(2, 2))
        with pytest.raises(
            ValueError, match=r"do must have the shape of O, \(1, 2, 7, 3\), got \(1, 2, 6, 3\)"
        ):
            function(Machine(), flash, do[:, :, 1:], Tiles(2, 2))
