"""Costs and the choices that they leave, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.transformer.budget import cost_ratios, rank, training_flops, undominated


def test_training_flops_by_hand():
    assert training_flops(2, 0.5, 10.0) == 2 * 1800 * 10


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 1.0, 1.0), ValueError, "devices must be at least 1, got 0"),
        ((1.5, 1.0, 1.0), TypeError, "devices must be an integer, got 1.5"),
        ((1, "2", 1.0), TypeError, "hours must be a number, got '2'"),
        ((1, 0.0, 1.0), ValueError, "hours must be positive and finite, got 0.0"),
        ((1, 1.0, float("inf")), ValueError, "rate must be finite, got inf"),
    ],
)
def test_training_flops_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        training_flops(*arguments)


def test_undominated_by_hand():
    # the second is worse and dearer than the first; the third is better and dearer; the fourth equals the first
    assert undominated([1, 0.5, 2, 1], [1, 2, 3, 1]) == [True, False, True, True]
    assert undominated([1, 1], [1, 2]) == [True, False]
    assert undominated([1, 2], [1, 1]) == [False, True]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_undominated_leaves_the_best_at_every_price(choices: list[tuple[int, int]]) -> None:
    left = undominated([q for q, _ in choices], [c for _, c in choices])
    kept = [choice for choice, keep in zip(choices, left, strict=True) if keep]
    for price in {c for _, c in choices}:
        affordable = [q for q, c in choices if c <= price]
        assert max(q for q, c in kept if c <= price) == max(affordable)
    assert [c for _, c in sorted(set(kept))] == sorted({c for _, c in kept})  # better costs more


@pytest.mark.parametrize(
    ("quality", "cost", "message"),
    [
        ([], [], "equally many, at least one, got 0 and 0"),
        ([1], [1, 2], "equally many, at least one, got 1 and 2"),
        ([float("nan")], [1], "quality must be finite, got nan"),
        ([1], [float("inf")], "cost must be finite, got inf"),
        ([True], [1], "quality must be a number, got True"),
    ],
)
def test_undominated_refuses(quality, cost, message):
    with pytest.raises((TypeError, ValueError), match=message):
        undominated(quality, cost)


def test_undominated_takes_arrays():
    assert undominated(np.array([2.0, 1.0]), np.array([1.0, 2.0])) == [True, False]


def test_rank_by_hand():
    assert [rank([3.0, None, 5.0, 3.0], index) for index in (0, 2, 3)] == [2, 1, 2]
    with pytest.raises(ValueError, match=r"index must lie in \[0, 1\), got -1"):
        rank([1.0], -1)
    with pytest.raises(ValueError, match="choice 1 has no number"):
        rank([1.0, None], 1)
    with pytest.raises(ValueError, match="quality must be finite, got nan"):
        rank([1.0, float("nan")], 0)
    with pytest.raises(TypeError, match="index must hold integers"):
        rank([1.0, 2.0], True)


def test_cost_ratios_by_hand():
    assert cost_ratios([6.0, None, 3.0], [1.5, 2.0, None]) == [4.0, None, None]


@pytest.mark.parametrize(
    ("cost", "reference", "message"),
    [
        ([1.0], [], "cost and reference must be equally many, got 1 and 0"),
        ([0.0], [1.0], "cost must be positive and finite, got 0.0"),
        ([1.0], [float("nan")], "reference must be positive and finite, got nan"),
    ],
)
def test_cost_ratios_refuses(cost, reference, message):
    with pytest.raises(ValueError, match=message):
        cost_ratios(cost, reference)
