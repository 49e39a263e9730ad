"""Mixtures of orders: values by hand, EM against a grid and against a search, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from onesentence.text.interpolation import Interpolated, fit_weights
from onesentence.text.ngram import MaximumLikelihood
from onesentence.text.ngram_counts import NgramCounts
from onesentence.text.vocabulary import BOS, EOS, Vocabulary

GAVE = [s.split() for s in ("I gave her a book", "I gave her a pen", "I gave her a key", "I gave him a book")]
HELD_OUT = [s.split() for s in ("I gave him her pen", "I gave her a key")]
V = Vocabulary.from_words(list("abcd"), specials=[BOS, EOS])

corpora = st.lists(st.lists(st.sampled_from("abc"), max_size=4), min_size=1, max_size=5)


def test_interpolated_bigram_and_unigram_by_hand():
    model = Interpolated(NgramCounts.of(GAVE, order=2), (0, 0.25, 0.75))
    # her: 3 of the 4 words after gave, 3 of all 24 predicted tokens
    assert model.prob("her", ["gave"]) == pytest.approx(0.75 * 3 / 4 + 0.25 * 3 / 24)
    assert model.prob("key", ["gave"]) == pytest.approx(0.25 * 1 / 24)
    assert model.distribution(["gave"]).sum() == pytest.approx(1)


def test_interpolated_shares_out_the_weight_of_orders_without_data():
    counts = NgramCounts.of(GAVE, order=3)
    model = Interpolated(counts, (0.1, 0.2, 0.3, 0.4))
    # "her her" was never seen, "her" was: weights 1/6, 1/3, 1/2 are left
    assert model.prob("a", ["her", "her"]) == pytest.approx(1 / 6 / 9 + 4 / 24 / 3 + 1 / 2)
    assert model.prob("a", ["I", "her"]) == model.prob("a", ["her", "her"])


def test_interpolated_with_all_weight_on_one_order_is_that_order():
    counts = NgramCounts.of(GAVE, order=2)
    mle = MaximumLikelihood(counts)
    model = Interpolated(counts, (0, 1e-12, 1 - 1e-12))
    assert model.distribution(["gave"]) == pytest.approx(mle.distribution(["gave"]), abs=1e-11)
    uniform = Interpolated(counts, (1, 0, 0)).distribution(["gave"])
    assert uniform[counts.vocabulary.candidates].tolist() == [1 / 9] * 9


def test_fit_weights_equals_a_search_of_the_bigram_weight():
    counts = NgramCounts.of(GAVE, order=2)
    fit = fit_weights(counts, HELD_OUT, start=(0, 0.5, 0.5), steps=2000, tolerance=1e-15)
    found = minimize_scalar(
        lambda x: Interpolated(counts, (0, 1 - x, x)).perplexity(HELD_OUT),
        bounds=(0.01, 0.99),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert fit.weights == pytest.approx((0, 1 - found.x, found.x), abs=1e-5)
    assert math.exp(-fit.trace[-1]) == pytest.approx(Interpolated(counts, fit.weights).perplexity(HELD_OUT))


@settings(max_examples=40)
@given(corpora, corpora, st.integers(1, 3))
def test_fit_weights_never_falls_and_beats_a_grid(corpus, held_out, order):
    counts = NgramCounts.of(corpus, order, V)
    fit = fit_weights(counts, held_out, steps=3000, tolerance=1e-13)
    assert sum(fit.weights) == pytest.approx(1)
    assert min(fit.weights) >= 0
    assert (np.diff(fit.trace) > -1e-12).all()
    rng = np.random.default_rng(0)
    for weights in rng.dirichlet(np.ones(order + 1), size=20):
        other = -math.log(Interpolated(counts, weights).perplexity(held_out))
        assert fit.trace[-1] > other - 1e-4


def test_fit_weights_one_step_by_hand():
    counts = NgramCounts.of([["a"], ["b"]], order=2, vocabulary=V)
    # a after BOS: p_2 = 1/2, p_1 = 1/4; EOS after a: p_2 = 1, p_1 = 1/2: twice the posterior for order 2
    fit = fit_weights(counts, [["a"]], start=(0, 0.5, 0.5), steps=1)
    assert fit.weights == pytest.approx((0, 1 / 3, 2 / 3))
    assert fit.trace[0] == pytest.approx(np.log([3 / 8, 3 / 4]).mean())


def test_fit_weights_on_counted_sentences_gives_all_to_the_highest_order():
    counts = NgramCounts.of(GAVE, order=3)
    assert fit_weights(counts, GAVE).weights[-1] > 0.95
    assert fit_weights(counts, HELD_OUT).weights[-1] < 0.9


def test_fit_weights_keeps_an_order_that_starts_at_zero():
    counts = NgramCounts.of(GAVE, order=3)
    assert fit_weights(counts, HELD_OUT, start=(0.5, 0, 0.5, 0)).weights[1::2] == (0, 0)


def test_fit_weights_needs_order_0_for_a_word_that_was_never_seen():
    counts = NgramCounts.of([["a"]], 2, V)
    with pytest.raises(ValueError, match="held_out: a token has probability 0 in every order with weight"):
        fit_weights(counts, [["d"]], start=(0, 0.5, 0.5))
    assert fit_weights(counts, [["d"]]).weights[0] > 0.2


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((0.5, 0.5), r"weights: expected 3 of them, orders 0 to 2, got shape \(2,\)"),
        ((0.5, 0.5, 0.5), "weights: expected a sum of 1, got 1.5"),
        ((0.5, 0.6, -0.1), "weights: expected none negative"),
        ((0.5, math.nan, 0.5), "weights: expected none negative"),
        ((0, 0, 1), "weights: expected lambda_0 [+] lambda_1 > 0"),
    ],
)
def test_interpolated_and_fit_weights_refuse_weights(weights, message):
    counts = NgramCounts.of(GAVE, order=2)
    with pytest.raises(ValueError, match=message):
        Interpolated(counts, weights)
    with pytest.raises(ValueError, match=message):
        fit_weights(counts, HELD_OUT, start=weights)


def test_fit_weights_refuses_an_empty_corpus_and_no_steps():
    counts = NgramCounts.of(GAVE, order=2)
    with pytest.raises(ValueError, match="held_out: expected at least one sentence"):
        fit_weights(counts, [])
    with pytest.raises(ValueError, match="steps: expected at least 1, got 0"):
        fit_weights(counts, HELD_OUT, steps=0)
