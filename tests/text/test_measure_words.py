"""Sentences whose measure word is left out."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.text.measure_words import BLANK, CLASSES, MEASURES, WORDS, blank_sentences


def test_blank_sentences_label_is_the_measure_word_of_the_noun_behind_one_blank():
    ids, labels, real, blank = blank_sentences(50, np.random.default_rng(0))
    distances = set()
    for row in range(50):
        words = [WORDS[i] for i in ids[row, real[row]]]
        at = words.index(BLANK)
        assert blank[row].nonzero()[0].tolist() == [at]
        assert words[-1] == "。"
        noun = words[-2]
        assert MEASURES[noun] == CLASSES[labels[row, at]]
        assert not set(words) & set(CLASSES)
        distances.add(len(words) - 2 - at)
    assert distances == {1, 2, 3}


def test_blank_sentences_before_the_blank_say_nothing_about_the_noun():
    ids, labels, _, blank = blank_sentences(4000, np.random.default_rng(1))
    chosen = labels[blank]
    for giver in np.unique(ids[:, 0]):
        shares = np.bincount(chosen[ids[:, 0] == giver], minlength=4) / (ids[:, 0] == giver).sum()
        np.testing.assert_allclose(shares, 0.25, rtol=0, atol=0.08)


def test_blank_sentences_refuses():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        blank_sentences(0, np.random.default_rng(0))
