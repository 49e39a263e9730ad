"""Masks against their definitions, element by element, against PyTorch's two conventions, and inside a read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention.masks import additive, causal, padding, real_units
from onesentence.attention.read import read
from onesentence.numerics import softmax

lengths_of = st.integers(1, 7)


@given(lengths_of, st.integers(0, 5))
def test_causal_is_its_definition(T: int, older: int) -> None:
    S = T + older
    mask = causal(T, S)
    assert mask.shape == (T, S)
    assert mask.dtype == np.bool_
    for i in range(T):
        for j in range(S):
            assert mask[i, j] == (j <= older + i), (i, j)  # the query stands at key older + i


def test_causal_with_as_many_keys_is_the_one_of_sdpa() -> None:
    q, k, v = torch.randn(3, 1, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    masked = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=torch.from_numpy(causal(5)))
    flagged = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.equal(masked, flagged)
    forbidden = torch.nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    np.testing.assert_array_equal(additive(causal(5)), forbidden.numpy())


def test_causal_last_rows_of_a_longer_one() -> None:
    np.testing.assert_array_equal(causal(2, 6), causal(6)[-2:])
    assert causal(1, 4).all()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.sampled_from(["right", "left"]))
def test_real_units_is_its_definition(lengths: list[int], side: str) -> None:
    mask = real_units(lengths, 5, side=side)
    assert mask.shape == (len(lengths), 5)
    for row, n in zip(mask.tolist(), lengths, strict=True):
        own, filling = [True] * n, [False] * (5 - n)
        assert row == (own + filling if side == "right" else filling + own)


def test_padding_and_causal_join_to_both_rules() -> None:
    real = real_units([3, 1, 4], 4)
    both = padding(real) & causal(4)
    assert both.shape == (3, 1, 4, 4)
    for b, n in enumerate((3, 1, 4)):
        for i in range(4):
            for j in range(4):
                assert both[b, 0, i, j] == (j <= i and j < n)


def test_additive_scores_have_the_weights_of_the_mask() -> None:
    rng = np.random.default_rng(3)
    scores, may = rng.normal(size=(2, 3, 5, 5)), causal(5)
    np.testing.assert_allclose(
        softmax(scores + additive(may)), softmax(scores, where=may), rtol=0, atol=1e-15
    )
    assert not softmax(scores + additive(may))[..., ~may].any()


def test_a_query_that_may_read_nothing_gets_nothing() -> None:
    rng = np.random.default_rng(4)
    q, k, v = rng.normal(size=(3, 2, 1, 3, 4))
    result = read(q, k, v, mask=padding(real_units([0, 3], 3)))
    assert not result.weights[0].any()
    assert not result.context[0].any()
    np.testing.assert_allclose(result.weights[1].sum(axis=-1), 1, rtol=0, atol=1e-15)


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: causal(0), ValueError, "T must be at least 1, got 0"),
    (lambda: causal(2.0), TypeError, r"T must be an integer, got 2\.0"),  # type: ignore[arg-type]
    (lambda: causal(3, 2), ValueError, "S must be at least T = 3, got 2"),
    (lambda: causal(3, 0), ValueError, "S must be at least 1, got 0"),
    (lambda: causal(3, True), TypeError, "S must be an integer, got True"),
    (lambda: real_units([4], 3), ValueError, r"lengths must lie in \[0, 4\), got 4"),
    (lambda: real_units([-1], 3), ValueError, r"lengths must lie in \[0, 4\), got -1"),
    (lambda: real_units([1.0], 3), TypeError, "lengths must hold integers, got dtype float64"),
    (lambda: real_units([True], 3), TypeError, "lengths must hold integers, got dtype bool"),
    (lambda: real_units(2, 3), ValueError, r"lengths must have shape \(B,\), got \(\)"),
    (lambda: real_units([[2]], 3), ValueError, r"lengths must have shape \(B,\), got \(1, 1\)"),
    (lambda: real_units([1], 0), ValueError, "S must be at least 1, got 0"),
    (lambda: real_units([1], 3, side="both"), ValueError, "side: expected right or left, got 'both'"),
    (lambda: padding([[1, 0]]), TypeError, r"real must be boolean \(True = a real unit\), got int64"),
    (lambda: padding([True, False]), ValueError, r"real must have shape \(B, S\), got \(2,\)"),
    (lambda: additive([[0, 1]]), TypeError, r"mask must be boolean \(True = may read\), got int64"),
    (lambda: additive([0.0]), TypeError, r"mask must be boolean \(True = may read\), got float64"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_masks_refuse(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
