"""Mean loss, perplexity and lengths in several units."""

from __future__ import annotations

from math import e, exp, inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.units import lengths, mean_loss, perplexity, that_fit, unigram_log_probability


def test_same_probability_over_ten_and_twenty_tokens():
    losses = [mean_loss(-10, tokens) for tokens in (10, 20)]
    assert losses == [1, 0.5]
    assert [perplexity(loss) for loss in losses] == [e, exp(0.5)]


@given(st.floats(-1e3, 0), st.integers(1, 100))
def test_perplexity_to_the_number_of_tokens_is_one_over_the_probability(log_probability, tokens):
    product = tokens * mean_loss(log_probability, tokens)
    assert product == pytest.approx(-log_probability)
    assert perplexity(mean_loss(log_probability, tokens)) >= 1


def test_mean_loss_of_a_certain_text_is_zero_without_a_sign():
    assert str(mean_loss(0.0, 3)) == "0.0"
    assert mean_loss(-inf, 3) == inf


def test_lengths_counts_characters_and_bytes():
    assert lengths("慕a😀") == {"characters": 3, "bytes": 8}
    assert lengths("") == {"characters": 0, "bytes": 0}


def test_that_fit_stops_at_the_first_that_does_not_fit():
    assert that_fit(["ab", "cdef", "g"], list, 5) == ("ab",)
    assert that_fit(["ab", "cd"], list, 5, joint=" ") == ("ab", "cd")
    assert that_fit(["ab"], list, 0) == ()
    assert that_fit([], list, 3) == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_loss(0.1, 3), "log_probability: expected at most 0, got 0.1"),
        (lambda: mean_loss(nan, 3), "log_probability: expected at most 0, got nan"),
        (lambda: mean_loss(-1, 0), "units: expected at least 1, got 0"),
        (lambda: perplexity(-0.5), "loss: expected at least 0, got -0.5"),
        (lambda: perplexity(nan), "loss: expected at least 0, got nan"),
        (lambda: that_fit(["a"], list, -1), "positions: expected at least 0, got -1"),
    ],
)
def test_units_refuse_what_has_no_mean(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@given(st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=5))
def test_unigram_probabilities_sum_to_one(train):
    assert sum(exp(unigram_log_probability(train, [number], 5)) for number in range(5)) == pytest.approx(1)


def test_unigram_log_probability_by_hand():
    # counts 2, 1, 0 and one more each: 3/6, 2/6, 1/6
    assert exp(unigram_log_probability([[0], [0, 1]], [0, 2, 1], 3)) == pytest.approx(1 / 2 * 1 / 6 * 1 / 3)
    assert unigram_log_probability([], [], 1) == 0
    with pytest.raises(ValueError, match="ids: expected 0 to 2, got 3"):
        unigram_log_probability([[3]], [0], 3)
    with pytest.raises(ValueError, match="size: expected at least 1, got 0"):
        unigram_log_probability([], [], 0)
