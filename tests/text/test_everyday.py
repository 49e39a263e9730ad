"""The made-up corpus: its grammar, its frequencies, its refusals."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesentence.sentence.example import UNITS
from onesentence.text.everyday import CLASS_OF, CLASSES, VOCABULARY, EverydayConfig, sentences


def make(count=3000, exponent=1.0, seed=0):
    return sentences(EverydayConfig(count, exponent), np.random.default_rng(seed))


def test_classes_are_disjoint_and_cover_the_vocabulary():
    assert len(VOCABULARY) == len(set(VOCABULARY)) == sum(map(len, CLASSES.values()))
    assert all(CLASS_OF[word] == name for name, words in CLASSES.items() for word in words)
    assert min(map(len, CLASSES.values())) >= 3


def test_sentences_use_every_word_and_no_other():
    assert {word for words in make() for word in words} == set(VOCABULARY)


def test_sentences_make_the_book_s_own_sentence():
    assert UNITS in set(make(20_000))


def test_sentences_put_the_right_measure_word_before_a_noun():
    measure = {"readables": "本", "foods": "个", "drinks": "杯", "tools": "把"}
    for words in make(500):
        for before, word in pairwise(words):
            if CLASS_OF[before] == "measures":
                assert measure[CLASS_OF[word]] == before


def test_sentences_never_give_to_the_giver():
    for words in make(2000):
        people = [word for word in words if CLASS_OF[word] == "people"]
        assert len(people) == len(set(people))


def test_sentences_follow_the_weights_of_the_ranks():
    counts = Counter(word for words in make(6000) for word in words)
    drinks = [counts[word] for word in CLASSES["drinks"]]
    weights = np.array([1 / rank for rank in range(1, 6)])
    assert np.allclose(np.array(drinks) / sum(drinks), weights / weights.sum(), atol=0.03)
    equal = Counter(word for words in make(6000, exponent=0.0) for word in words)
    assert max(equal[w] for w in CLASSES["drinks"]) < 1.2 * min(equal[w] for w in CLASSES["drinks"])


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_sentences_repeat_from_the_same_seed(count, seed):
    corpus = make(count, seed=seed)
    assert corpus == make(count, seed=seed)
    assert len(corpus) == count
    assert all(words[-1] == "。" for words in corpus)


def test_config_refuses_sizes_without_meaning():
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        EverydayConfig(count=0)
    with pytest.raises(TypeError, match=r"count must be an integer, got 2\.5"):
        EverydayConfig(count=2.5)
    with pytest.raises(ValueError, match="exponent must be finite and not negative, got -1"):
        EverydayConfig(exponent=-1.0)


def test_sentences_refuses_a_seed_for_a_generator():
    with pytest.raises(TypeError, match="rng must be a numpy Generator, got int"):
        sentences(EverydayConfig(), 0)
