"""Bytes of HBM traffic worked by hand, their order, and what is refused; the counted runs are in `test_counted`."""

from __future__ import annotations

import pytest

from onesentence.kernels.costs import traffic
from onesentence.kernels.costs.tiles import Tiles
from onesentence.kernels.costs.traffic import Traffic, Widths
from onesentence.kernels.sizes import Sizes

HAND = Sizes(B=1, H=2, G=1, T=4, S=6, D=3)  # two query heads share one key head
TILES = Tiles(2, 4)
WIDTHS = Widths(element=2, statistic=4)
Q, K, TABLE, ROW = 2 * 4 * 3 * 2, 6 * 3 * 2, 2 * 4 * 6 * 2, 2 * 4 * 4


def test_naive_by_hand() -> None:
    assert traffic.naive_forward(HAND, WIDTHS).rows() == [
        ("Q", Q, 0),
        ("K", K, 0),
        ("scores", TABLE, TABLE),
        ("P", TABLE, TABLE),
        ("V", K, 0),
        ("O", 0, Q),
    ]
    back = traffic.naive_backward(HAND, WIDTHS)
    assert back.read == {"P": 2 * TABLE, "dO": 2 * Q, "V": K, "dP": TABLE, "dS": 2 * TABLE, "K": K, "Q": Q}
    assert back.written == {"dV": K, "dP": TABLE, "dS": TABLE, "dQ": Q, "dK": K}


def test_flash1_by_hand() -> None:
    # two blocks of keys; causal: the second (keys 4, 5) is read by queries 2 and 3 only, that is by half of them
    full, causal = (traffic.flash1_forward(HAND, TILES, WIDTHS, causal=causal) for causal in (False, True))
    assert full.read == {"K": K, "V": K, "Q": 2 * Q, "O": 2 * Q, "l": 2 * ROW, "m": 2 * ROW}
    assert causal.read == {
        "K": K,
        "V": K,
        "Q": 3 * Q // 2,
        "O": 3 * Q // 2,
        "l": 3 * ROW // 2,
        "m": 3 * ROW // 2,
    }
    assert full.written == {
        "O start": Q,
        "l start": ROW,
        "m start": ROW,
        "O": 2 * Q,
        "l": 2 * ROW,
        "m": 2 * ROW,
    }


def test_flash2_by_hand() -> None:
    # two blocks of queries; causal: the first reads up to key 3, one block of 4, the second all 6
    full, causal, packed = (
        traffic.flash2_forward(HAND, TILES, WIDTHS, **how) for how in ({}, {"causal": True}, {"packed": True})
    )
    assert full.read == {"Q": Q, "K": 2 * 2 * K, "V": 2 * 2 * K}
    assert causal.read == {"Q": Q, "K": 2 * (4 + 6) * 6, "V": 2 * (4 + 6) * 6}
    assert packed.read == {"Q": Q, "K": 2 * K, "V": 2 * K}
    assert full.written == causal.written == packed.written == {"O": Q, "L": ROW}
    assert full.total == Q + 8 * K + Q + ROW


def test_gradients_by_hand() -> None:
    one = traffic.flash2_backward(HAND, TILES, WIDTHS)
    assert one.read == {
        "O": Q,
        "dO": 3 * Q,
        "K": K,
        "V": K,
        "Q": 2 * Q,
        "L": 2 * ROW,
        "delta": 2 * ROW,
        "dQ": 2 * Q,
    }
    assert one.written == {"delta": ROW, "dQ start": Q, "dQ": 2 * Q, "dK": K, "dV": K}
    two = traffic.two_pass_backward(HAND, TILES, WIDTHS)
    assert two.read == {
        "O": Q,
        "dO": 4 * Q,
        "K": 5 * K,
        "V": 5 * K,
        "Q": 3 * Q,
        "L": 3 * ROW,
        "delta": 3 * ROW,
    }
    assert two.written == {"delta": ROW, "dK": K, "dV": K, "dQ": Q}


def test_blocks_halve_the_traffic_that_they_cause_when_they_double() -> None:
    sizes = Sizes(1, 1, 1, 4096, 4096, 64)
    naive = traffic.naive_forward(sizes, WIDTHS).total
    for function in (traffic.flash1_forward, traffic.flash2_forward):
        small, large = (
            function(sizes, Tiles(size, size), WIDTHS).read["Q" if "1" in function.__name__ else "K"]
            for size in (64, 128)
        )
        assert small == 2 * large
        assert function(sizes, Tiles(128, 128), WIDTHS).total < naive / 2


def test_flash1_is_of_the_order_of_theorem_2() -> None:
    # blocks of keys of M / (4 D s), as algorithm 1 sets them: what passes of Q is 4 N^2 D^2 s^2 / M bytes, exactly
    N, D, s = 8192, 64, 2
    for M in (2**15, 2**17):
        size = M // (4 * D * s)
        moved = traffic.flash1_forward(Sizes(1, 1, 1, N, N, D), Tiles(min(size, D), size), WIDTHS)
        assert moved.read["Q"] == 4 * N**2 * D**2 * s**2 // M
        assert 3 * moved.read["Q"] < moved.total < 4 * moved.read["Q"]


def test_naive_grows_with_the_square_of_the_length() -> None:
    tables = [traffic.naive_forward(Sizes(1, 1, 1, n, n, 64), WIDTHS).read["P"] for n in (512, 1024)]
    assert tables[1] == 4 * tables[0]


def test_on_chip_bytes_by_hand() -> None:
    # rows 2, columns 4, D 3: Q, O (rows) and K, V in elements; scores, a product and two statistics wide
    assert (
        traffic.on_chip_bytes(HAND, TILES, WIDTHS, way="flash1")
        == (2 * 4 + 2 * 2) * 3 * 2 + 2 * (4 + 3 + 2) * 4
    )
    assert (
        traffic.on_chip_bytes(HAND, TILES, WIDTHS, way="flash2") == (2 * 4 + 2) * 3 * 2 + 2 * (4 + 3 + 2) * 4
    )
    flash1 = [
        traffic.on_chip_bytes(HAND, TILES, WIDTHS, way="flash1", packed=packed) for packed in (False, True)
    ]
    assert flash1[0] == flash1[1]  # heads are packed by flash2 only
    packed = traffic.on_chip_bytes(HAND, TILES, WIDTHS, way="flash2", packed=True)
    assert packed == (2 * 4 + 4) * 3 * 2 + 4 * (4 + 3 + 2) * 4
    large = traffic.on_chip_bytes(HAND, Tiles(99, 99), WIDTHS, way="flash2")
    assert large == (2 * 6 + 4) * 3 * 2 + 4 * (6 + 3 + 2) * 4


def test_rows_and_total_of_a_traffic() -> None:
    moved = Traffic(read={"a": 1, "b": 2}, written={"b": 3, "c": 4})
    assert moved.rows() == [("a", 1, 0), ("b", 2, 3), ("c", 0, 4)]
    assert moved.total == 10


def test_traffic_refuses() -> None:
    with pytest.raises(ValueError, match="element must be at least 1, got 0"):
        Widths(element=0)
    with pytest.raises(TypeError, match=r"statistic must be an integer, got 4\.0"):
        Widths(statistic=4.0)
    wrong = Sizes(1, 3, 2, 4, 4, 4)
    for function in (traffic.naive_forward, traffic.naive_backward):
        with pytest.raises(ValueError, match="H must be a multiple of G = 2, got 3"):
            function(wrong, WIDTHS)
    for function in (
        traffic.flash1_forward,
        traffic.flash2_forward,
        traffic.flash2_backward,
        traffic.two_pass_backward,
    ):
        with pytest.raises(ValueError, match="H must be a multiple of G = 2, got 3"):
            function(wrong, TILES, WIDTHS)
    with pytest.raises(ValueError, match="way: expected one of flash1, flash2, got 'naive'"):
        traffic.on_chip_bytes(HAND, TILES, WIDTHS, way="naive")
