"""Sentences about a bank whose sense one word tells."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.text.bank_corpus import COURSE_SENTENCES, bank_corpus, bank_sentence, course_sentences


def corpus(held_out: int = 60, seed: int = 0):
    return bank_corpus(np.random.default_rng(seed), held_out=held_out)


def test_bank_sentence_finds_bank_and_cue_on_either_side() -> None:
    one = bank_sentence(("she", "saw", "the", "bank", "and", "mud", "."), 1, "mud")
    assert (one.bank, one.cue, one.distance) == (3, 5, 2)
    money, river = course_sentences()
    assert (money.bank, money.cue, money.sense) == (5, 2, 0)
    assert (river.bank, river.cue, river.sense) == (4, 7, 1)


def test_bank_corpus_pairs_differ_in_the_cue_alone() -> None:
    split = corpus()
    for money, river in (*split.test, *split.new):
        assert (money.sense, river.sense) == (0, 1)
        assert (money.bank, money.cue) == (river.bank, river.cue)
        differing = [
            i for i, words in enumerate(zip(money.tokens, river.tokens, strict=True)) if len({*words}) > 1
        ]
        assert differing == [money.cue]


def test_bank_corpus_training_has_no_test_sentence_and_no_new_cue() -> None:
    split = corpus()
    known = {one.tokens for one in split.train}
    words = {word for tokens in known for word in tokens}
    assert len(known) == len(split.train)
    assert not known & set(COURSE_SENTENCES)
    assert not known & {one.tokens for pair in (*split.test, *split.new) for one in pair}
    for pair in split.test:
        assert all(word in words for one in pair for word in one.tokens)
    for pair in split.new:
        assert all(one.tokens[one.cue] not in words for one in pair)


def test_bank_corpus_holds_both_senses_and_repeats_with_its_seed() -> None:
    split = corpus()
    assert split == corpus()
    assert split.test != corpus(seed=1).test
    assert len(corpus(held_out=5).test) == 5
    assert {one.sense for one in split.train} == {0, 1}


def test_bank_sentence_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="bank: expected 'bank' once, got it 0 times"):
        bank_sentence(("she", "saw", "mud"), 1, "mud")
    with pytest.raises(ValueError, match="cue: expected 'mud' once, got it 2 times"):
        bank_sentence(("mud", "bank", "mud"), 1, "mud")
    with pytest.raises(TypeError, match="tokens must be a tuple of words, got 'the bank mud'"):
        bank_sentence("the bank mud", 1, "mud")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sense must be an integer, got True"):
        bank_sentence(("bank", "mud"), True, "mud")
    with pytest.raises(ValueError, match="sense must be 0 or 1, got 2"):
        bank_sentence(("bank", "mud"), 2, "mud")


def test_bank_corpus_new_pairs_are_counted_once_each() -> None:
    new = corpus().new
    assert len(new) == 8 * 4  # every frame with every pair of new cues, and one subject
    assert len({pair[0].tokens for pair in new}) == len(new)


def test_bank_corpus_refuses_what_is_no_generator_or_number() -> None:
    with pytest.raises(TypeError, match="rng must be a numpy Generator, got int"):
        bank_corpus(0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="held_out must be an integer, got True"):
        corpus(held_out=True)


@pytest.mark.parametrize("held_out", [0, 156])
def test_bank_corpus_refuses_as_many_test_pairs(held_out: int) -> None:
    with pytest.raises(ValueError, match=rf"held_out must lie in \[1, 156\), got {held_out}"):
        corpus(held_out=held_out)
