"""Bytes of keys, values and score tables: the course's example in every unit, what a real cache says, and refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.cache.base import CacheSizes
from onesentence.kernels.costs.kv_bytes import (
    UNITS,
    group_size,
    in_unit,
    in_units,
    kv_bytes,
    kv_share,
    table_bytes,
    tokens_within,
)

EXAMPLE = {"L": 32, "n": 4096, "D": 128, "s": 2}


def test_kv_bytes_of_the_course() -> None:
    assert kv_bytes(**EXAMPLE, G=8) == 536870912
    assert in_unit(kv_bytes(**EXAMPLE, G=8), "MiB") == 512
    assert in_unit(kv_bytes(**EXAMPLE, G=32), "GiB") == 2
    assert Fraction(kv_bytes(**EXAMPLE, G=8), kv_bytes(**EXAMPLE, G=32)) == kv_share(32, 8) == Fraction(1, 4)
    assert group_size(32, 8) == 4


def test_table_bytes_of_the_course() -> None:
    count = table_bytes(H=64, n=100_000, s=2)
    assert count == 1.28e12
    assert in_unit(count, "TB") == 1.28
    assert in_unit(count, "TiB") == pytest.approx(1.164, abs=0.0005)


def test_kv_bytes_are_those_of_arrays() -> None:
    layers = [[np.zeros((3, 2, 5, 4), np.float16) for _ in "kv"] for _ in range(6)]
    assert kv_bytes(L=6, n=5, G=2, D=4, s=2, B=3) == sum(part.nbytes for layer in layers for part in layer)
    assert table_bytes(H=3, n=4, S=7, s=4, B=2) == np.zeros((2, 3, 4, 7), np.float32).nbytes


def test_kv_bytes_are_what_a_cache_says_of_itself() -> None:
    sizes = CacheSizes(layers=3, rows=2, heads=4, head_size=6, dtype=torch.bfloat16)
    assert kv_bytes(L=3, n=7, G=4, D=6, s=2, B=2) == 2 * 7 * sizes.token_bytes


@given(st.integers(0, 10**15))
def test_units_are_powers_of_1000_and_of_1024(count: int) -> None:
    units = in_units(count)
    assert list(units) == list(UNITS)
    for power, letter in enumerate("kMGT", start=1):
        assert units[f"{letter}B"] == count / 1000**power
        assert units[f"{letter.upper()}iB"] == count / 1024**power


@given(*(st.integers(1, 9) for _ in range(5)), st.integers(0, 10**6))
def test_tokens_within_is_the_most_that_fits(L: int, G: int, D: int, s: int, B: int, capacity: int) -> None:
    n = tokens_within(capacity, L=L, G=G, D=D, s=s, B=B)
    assert kv_bytes(L=L, n=n + 1, G=G, D=D, s=s, B=B) > capacity
    assert n == 0 or kv_bytes(L=L, n=n, G=G, D=D, s=s, B=B) <= capacity


def test_kv_bytes_refuses() -> None:
    with pytest.raises(ValueError, match="G must be at least 1, got 0"):
        kv_bytes(**EXAMPLE, G=0)
    with pytest.raises(TypeError, match=r"s must be an integer, got 0\.5"):
        kv_bytes(L=1, n=1, G=1, D=1, s=0.5)
    with pytest.raises(ValueError, match=r"unit: expected one of B, kB, KiB, .*, got 'MIB'"):
        in_unit(1, "MIB")
    with pytest.raises(ValueError, match="count must be at least 0, got -1"):
        in_units(-1)
    with pytest.raises(ValueError, match="H must be a multiple of G = 3, got 8"):
        kv_share(8, 3)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        table_bytes(H=1, n=0, s=2)
    with pytest.raises(ValueError, match="capacity must be at least 0, got -1"):
        tokens_within(-1, L=1, G=1, D=1, s=1)
