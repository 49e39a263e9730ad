"""Multiply-adds of attention: by hand, against what PyTorch is seen to multiply, and what is refused."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from onesentence.kernels.costs.products import (
    BACKWARD,
    backward_macs,
    exponentials,
    flops,
    forward_macs,
    product_macs,
)
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.reference import attention
from onesentence.kernels.sizes import Sizes

HAND = Sizes(B=1, H=2, G=1, T=2, S=3, D=4)


def test_product_macs_by_hand() -> None:
    assert product_macs(HAND) == 2 * (2 * 3) * 4  # 2 heads, 6 pairs, 4 numbers
    assert product_macs(HAND, causal=True) == 2 * (2 + 3) * 4
    assert product_macs(HAND, causal=True, tiles=Tiles(2, 2)) == 2 * (2 * 3) * 4
    assert product_macs(HAND, causal=True, tiles=Tiles(1, 1)) == 2 * (2 + 3) * 4


def test_forward_and_backward_macs_count_two_four_five_and_seven_products() -> None:
    assert forward_macs(HAND) == {"scores": 48, "O": 48}
    assert backward_macs(HAND, way="kept") == {"dV": 48, "dP": 48, "dQ": 48, "dK": 48}
    assert {way: sum(backward_macs(HAND, way=way).values()) // 48 for way in BACKWARD} == {
        "kept": 4,
        "recomputed": 5,
        "two passes": 7,
    }


@pytest.mark.parametrize(("H", "G", "T", "S"), [(4, 4, 7, 7), (4, 2, 3, 8), (6, 1, 1, 5)])
def test_macs_are_what_pytorch_multiplies_forward_and_backward(H: int, G: int, T: int, S: int) -> None:
    sizes = Sizes(2, H, G, T, S, 5)
    q = torch.ones(2, H, T, 5, requires_grad=True)
    k, v = (torch.ones(2, G, S, 5, requires_grad=True) for _ in range(2))
    forward, backward = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with forward:
        output = attention(q, k, v, causal=True)[0].sum()
    with backward:
        output.backward()
    assert forward.get_total_flops() == flops(sum(forward_macs(sizes).values()))
    assert backward.get_total_flops() == flops(sum(backward_macs(sizes, way="kept").values()))


def test_macs_do_not_see_shared_keys() -> None:
    assert len({product_macs(Sizes(2, 8, G, 5, 6, 3)) for G in (1, 2, 4, 8)}) == 1


def test_exponentials_by_hand() -> None:
    sizes = Sizes(B=1, H=2, G=2, T=2, S=3, D=4)
    assert exponentials(sizes, way="naive") == {"scores": 12}
    # tiles 1 x 2, causal: the first query visits one tile (2 cells), the second two (3 cells); two heads
    for way, factor in (("flash1", 2), ("flash2", 1)):
        counted = exponentials(sizes, way=way, tiles=Tiles(1, 2), causal=True)
        assert counted == {"scores": 2 * (2 + 3), "rescaling": 2 * (1 + 2) * factor}


def test_costs_refuse() -> None:
    with pytest.raises(ValueError, match="H must be a multiple of G = 2, got 3"):
        forward_macs(Sizes(1, 3, 2, 4, 4, 4))
    with pytest.raises(ValueError, match="T must be at least 1, got 0"):
        product_macs(Sizes(1, 2, 2, 0, 4, 4))
    with pytest.raises(TypeError, match=r"D must be an integer, got 4\.0"):
        product_macs(Sizes(1, 2, 2, 1, 4, 4.0))
    with pytest.raises(ValueError, match="way: expected one of kept, recomputed, two passes, got 'naive'"):
        backward_macs(HAND, way="naive")
    with pytest.raises(ValueError, match="way: expected one of naive, flash1, flash2, got 'flash3'"):
        exponentials(HAND, way="flash3")
    with pytest.raises(
        ValueError, match="tiles must be given for flash1 and flash2 only, got None for flash1"
    ):
        exponentials(HAND, way="flash1")
    with pytest.raises(ValueError, match=r"tiles must be given .* got Tiles\(query=1, key=1\) for naive"):
        exponentials(HAND, way="naive", tiles=Tiles(1, 1))
    with pytest.raises(ValueError, match="macs must be at least 0, got -1"):
        flops(-1)
