"""Losses that add up."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.generate.loss import TokenLoss, mean_of_means, summed, token_loss

LOSSES = st.builds(TokenLoss, st.floats(0, 50), st.integers(1, 30))


def test_token_loss_of_a_half_and_a_quarter_is_the_root_of_eight():
    loss = token_loss(np.log([[0.5, 0.5], [0.75, 0.25]]), [0, 1])
    assert loss.count == 2
    assert loss.perplexity == pytest.approx(math.sqrt(8))


@pytest.mark.parametrize("k", [1, 2, 7, 50])
def test_perplexity_of_uniform_is_the_number_of_candidates(k):
    assert token_loss(np.zeros((3, k)), [0, k - 1, k // 2]).perplexity == pytest.approx(k)


@pytest.mark.parametrize("seed", range(3))
def test_token_loss_agrees_with_torch_and_leaves_out_what_is_masked(seed):
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(size=(3, 5, 7)), rng.integers(1, 7, (3, 5))
    labels[0, 3:], labels[2, 1:] = 0, 0
    loss = token_loss(logits, labels, labels != 0)
    cross_entropy = torch.nn.CrossEntropyLoss(reduction="sum", ignore_index=0)
    theirs = cross_entropy(torch.tensor(logits).reshape(-1, 7), torch.tensor(labels).reshape(-1))
    assert loss.total == pytest.approx(theirs.item(), rel=1e-12)
    assert loss.count == 3 + 5 + 1
    logits[labels == 0] = np.nan
    assert token_loss(logits, labels, labels != 0) == loss


@given(st.lists(LOSSES, min_size=1, max_size=6))
def test_summed_is_the_mean_weighted_by_counts(parts):
    whole = summed(parts)
    weighted = np.average([p.mean for p in parts], weights=[p.count for p in parts])
    assert whole.mean == pytest.approx(weighted)
    assert whole.count == sum(p.count for p in parts)
    low, high = min(p.mean for p in parts), max(p.mean for p in parts)
    assert low - 1e-9 <= mean_of_means(parts) <= high + 1e-9


@given(LOSSES, LOSSES)
def test_add_is_summed(one, other):
    assert one + other == other + one == summed([one, other])


def test_mean_of_means_is_the_mean_for_equal_counts_only():
    equal, unequal = [TokenLoss(1.0, 2), TokenLoss(3.0, 2)], [TokenLoss(1.0, 1), TokenLoss(9.0, 3)]
    assert mean_of_means(equal) == summed(equal).mean == 1.0
    assert (mean_of_means(unequal), summed(unequal).mean) == (2.0, 2.5)


def test_token_loss_of_an_impossible_label_is_infinite():
    loss = token_loss([[0.0, -np.inf]], [1])
    assert loss.total == loss.mean == loss.perplexity == math.inf


def test_per_keeps_the_total():
    loss = TokenLoss(10.0, 10)
    assert (loss.mean, loss.per(20)) == (1.0, 0.5)
    with pytest.raises(ValueError, match="units: expected at least 1, got 0"):
        loss.per(0)


@pytest.mark.parametrize(
    ("total", "count", "error", "message"),
    [
        (-0.1, 1, ValueError, r"total: expected at least 0 nats, got -0\.1"),
        (math.nan, 1, ValueError, "total: expected at least 0 nats, got nan"),
        (1.0, 0, ValueError, "count must be at least 1, got 0"),
        (1.0, 1.5, TypeError, r"count must be an integer, got 1\.5"),
        (1.0, True, TypeError, "count must be an integer, got True"),
    ],
)
def test_token_loss_refuses(total, count, error, message):
    with pytest.raises(error, match=message):
        TokenLoss(total, count)


def test_nothing_to_count_is_refused():
    with pytest.raises(ValueError, match="mask: expected at least one position that counts, got none"):
        token_loss(np.zeros((2, 3)), [0, 1], np.zeros(2, dtype=bool))
    for function in (summed, mean_of_means):
        with pytest.raises(ValueError, match="parts: expected at least one, got none"):
            function([])
    with pytest.raises(TypeError):
        TokenLoss(1.0, 1) + 1.0
