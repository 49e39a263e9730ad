"""Costs of layers by formula against values by hand and against the number of layers found by trying."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.transformer.layer_costs import (
    LayerCost,
    attention_cost,
    compared,
    convolution_cost,
    dilated_layers,
    first_above,
    recurrent_cost,
    stacked_layers,
)


def test_attention_cost_by_hand() -> None:
    # 2 positions of width 3: four projections of 2*3*3 = 18; scores 2*2*3 = 12, weighted sum 12
    assert attention_cost(2, 3) == LayerCost(own=72, between=24, chain=4)
    assert attention_cost(2, 3).products == 96
    # the same two positions read 5, with key heads of width 1: W^Q, W^O 18 each, W^K, W^V 6 each; 2 * 5 * 3 twice
    assert attention_cost(2, 3, keys=5, kv_width=1) == LayerCost(own=48, between=60, chain=4)


def test_recurrent_cost_by_hand() -> None:
    assert recurrent_cost(2, 3) == LayerCost(own=18, between=18, chain=2)
    assert recurrent_cost(5, 3, gates=4).products == 4 * recurrent_cost(5, 3).products


def test_convolution_cost_by_hand() -> None:
    assert convolution_cost(2, 3, k=1) == LayerCost(own=18, between=0, chain=1)
    assert convolution_cost(2, 3, k=3).products == 54


@given(st.integers(1, 9), st.integers(1, 9))
def test_costs_grow_as_table_1_of_2017(n: int, C: int) -> None:
    assert attention_cost(2 * n, C).between == 4 * attention_cost(n, C).between  # n^2 d
    assert attention_cost(n, 2 * C).between == 2 * attention_cost(n, C).between
    assert recurrent_cost(2 * n, C).between == 2 * recurrent_cost(n, C).between  # n d^2
    assert recurrent_cost(n, 2 * C).between == 4 * recurrent_cost(n, C).between
    assert convolution_cost(n, C, k=6).products == 2 * convolution_cost(n, C, k=3).products  # k n d^2


def test_compared_by_hand() -> None:
    assert compared(2, 3) == {
        "attention": 96,
        "attention between": 24,
        "recurrence": 36,
        "recurrence between": 18,
        "LSTM": 144,
        "convolution": 54,
    }


def reached(n: int, k: int, gap: Any) -> int:
    """Return how many layers it takes until the last position has read the first, step by step."""
    known, layer = {n - 1}, 0
    while 0 not in known or layer == 0:
        known |= {p - i * gap(layer) for p in known for i in range(k)}
        layer += 1
    return layer


@given(st.integers(1, 90), st.integers(2, 5))
def test_stacked_and_dilated_layers_equal_steps_tried(n: int, k: int) -> None:
    assert stacked_layers(n, k) == reached(n, k, lambda layer: 1)
    assert dilated_layers(n, k) == reached(n, k, lambda layer: k**layer)


def test_first_above_finds_the_crossing() -> None:
    C = 8
    assert (
        first_above(lambda n: attention_cost(n, C).between, lambda n: recurrent_cost(n, C).between, 99) == 5
    )
    assert first_above(lambda n: n, lambda n: 10 * n, 1000) is None
    assert first_above(lambda n: 2, lambda n: 1, 1000) == 1
    assert first_above(lambda n: n, lambda n: 999, 1000) == 1000
    assert first_above(lambda n: n, lambda n: 1000, 1000) is None  # equal is not above


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: attention_cost(0, 4), ValueError, "n must be at least 1, got 0"),
        (lambda: attention_cost(4, 2.0), TypeError, "C must be an integer"),  # type: ignore[arg-type]
        (lambda: attention_cost(4, 4, keys=0), ValueError, "keys must be at least 1, got 0"),
        (lambda: attention_cost(4, 4, kv_width=0), ValueError, "kv_width must be at least 1, got 0"),
        (lambda: recurrent_cost(4, 4, gates=0), ValueError, "gates must be at least 1, got 0"),
        (lambda: convolution_cost(4, 4, k=0), ValueError, "k must be at least 1, got 0"),
        (lambda: stacked_layers(4, 1), ValueError, "k must be at least 2, got 1"),
        (lambda: dilated_layers(4, 1), ValueError, "k must be at least 2, got 1"),
        (lambda: first_above(int, int, 0), ValueError, "limit must be at least 1, got 0"),
    ],
)
def test_bad_input_is_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
