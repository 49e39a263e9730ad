"""Sequences to be reversed: no repeats, lengths, the counts that the rule of drawing leads to."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.reversal import (
    LETTERS,
    VOCABULARY,
    ReversalCorpus,
    ReversalData,
    backwards,
    reversal_corpus,
    target_tokens,
)


def everything(corpus: ReversalCorpus) -> tuple[tuple[str, ...], ...]:
    return corpus.train + corpus.dev + corpus.test


def test_reversal_corpus_has_its_sizes_and_no_source_twice():
    corpus = reversal_corpus(ReversalData())
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (3000, 300, 300)
    assert len(set(everything(corpus))) == 3600
    assert {len(source) for source in everything(corpus)} == {3, 4, 5, 6, 7}
    assert {letter for source in everything(corpus) for letter in source} == set(LETTERS)


def test_reversal_corpus_repeats_with_its_seed_only():
    one, same, other = (reversal_corpus(ReversalData(seed=seed)) for seed in (0, 0, 1))
    assert one == same
    assert one.digest == same.digest != other.digest
    assert len(one.digest) == 64


def test_digest_knows_the_parts_apart():
    a, b, c = (("a",),), (("b",),), (("c",),)
    assert ReversalCorpus(a + b, c, c).digest != ReversalCorpus(a, b + c, c).digest


def test_rejecting_repeats_uses_up_the_short_ones_so_that_later_parts_are_longer():
    without, with_repeats = (
        [reversal_corpus(ReversalData(seed=seed, repeats=repeats)) for seed in range(4)]
        for repeats in (False, True)
    )
    for corpus in without:
        assert sum(len(source) == 3 for source in everything(corpus)) <= 6**3
        assert target_tokens(corpus.test) / 300 > target_tokens(corpus.train) / 3000 + 0.2
    # evenly from 3 to 7 letters and EOS: 6 a sequence, a standard deviation of 1.42 / sqrt(300) for each mean
    means = [target_tokens(corpus.test) / 300 for corpus in with_repeats]
    assert np.abs(np.array(means) - 6).max() < 5 * 2**0.5 / 300**0.5
    assert any(len(set(everything(corpus))) < 3600 for corpus in with_repeats)


@given(st.lists(st.sampled_from(LETTERS), max_size=8))
def test_backwards_twice_is_the_source(source):
    assert backwards(backwards(source)) == tuple(source)
    assert backwards(source) == tuple(source[::-1])


def test_vocabulary_has_nine_symbols():
    assert VOCABULARY.symbols == ("PAD", "BOS", "EOS", "a", "b", "c", "d", "e", "f")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": 0}, "train must be at least 1, got 0"),
        ({"shortest": 5, "longest": 4}, "longest must be at least shortest = 5, got 4"),
        ({"longest": 4}, r"train \+ dev \+ test must be at most half of the 1512 sequences, got 3600"),
    ],
)
def test_data_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        ReversalData(**change)
    assert "repeats" in ReversalData.__dataclass_fields__


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": 1.5}, "train must be an integer, got 1.5"),
        ({"train": True}, "train must be an integer, got True"),
        ({"longest": 7.0}, "longest must be an integer, got 7.0"),
        ({"seed": "a"}, "seed must be an integer, got 'a'"),
        ({"repeats": "no"}, "repeats must be True or False, got 'no'"),
    ],
)
def test_data_refuses_what_is_no_number(change, message):
    with pytest.raises(TypeError, match=message):
        ReversalData(**change)


def test_digest_is_the_sha256_of_the_parts_as_lines():
    corpus = ReversalCorpus((("a", "b"), ("c",)), (("d",),), (("e",), ("f", "a")))
    assert corpus.digest == hashlib.sha256(b"ab\nc\n\nd\n\ne\nfa").hexdigest()
