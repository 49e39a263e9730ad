"""The small language model: by hand, and summing to one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.lm import Lidstone
from nltk.lm.preprocessing import pad_both_ends
from nltk.util import everygrams

from onesentence.text.target_model import count_words

TEXT = [["I", "gave", "him", "a", "pen"], ["He", "gave", "me", "a", "key"], ["I", "gave", "her"]]


def test_count_words_by_hand():
    model = count_words([["a", "b"], ["a", "a"]], order=2, alpha=0.5)
    # after a: b once, a once, EOS once; the vocabulary is a, b, EOS and one share for the unknown
    assert math.exp(model.log_prob("b", ("a",))) == pytest.approx(1.5 / 5)
    assert math.exp(model.log_prob("z", ("a",))) == pytest.approx(0.5 / 5)
    assert math.exp(model.log_prob("a", ("BOS",))) == pytest.approx(2.5 / 4)
    assert math.exp(model.log_prob("a", ())) == pytest.approx(3.5 / 8)


@pytest.mark.parametrize("order", [1, 2, 3])
@given(words=st.lists(st.sampled_from(["I", "gave", "him", "never seen"]), max_size=4), begins=st.booleans())
def test_log_prob_sums_to_one_over_the_vocabulary_and_the_unknown(order, words, begins):
    context = ["BOS"] * (order - 1) * begins + words
    model = count_words(TEXT, order=order)
    words = [model.vocabulary.symbols[number] for number in model.vocabulary.candidates]
    assert math.fsum(math.exp(model.log_prob(word, context)) for word in words) == pytest.approx(1)


def test_log_prob_agrees_with_nltk_for_bigrams_behind_a_seen_word():
    theirs = Lidstone(0.1, 2)
    sentences = [list(pad_both_ends(sentence, 2)) for sentence in TEXT]
    words = [word for sentence in sentences for word in sentence if word != "<s>"]
    theirs.fit([list(everygrams(sentence, max_len=2)) for sentence in sentences], words)
    ours = count_words(TEXT, order=2, alpha=0.1)
    for context in ("gave", "a", "I"):
        for word in ("him", "a", "gave"):
            assert ours.log_prob(word, (context,)) == pytest.approx(math.log(theirs.score(word, [context])))


def test_log_prob_does_not_see_a_word_outside_its_window():
    model = count_words(TEXT, order=2)
    assert model.log_prob("a", ("I", "gave", "him")) == model.log_prob("a", ("two", "him"))


def test_count_words_refuses_bad_input():
    with pytest.raises(ValueError, match="sentences: expected at least one sentence, got an empty corpus"):
        count_words([])
    with pytest.raises(ValueError, match="order: expected at least 1 word, got 0"):
        count_words(TEXT, order=0)
    with pytest.raises(ValueError, match=r"alpha: expected a number above 0, got 0\.0"):
        count_words(TEXT, alpha=0.0)
