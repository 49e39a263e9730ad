"""Numbers of words: order, special symbols, round trips, what is refused."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary

word_lists = st.lists(st.text(alphabet="abc书", min_size=1, max_size=3), min_size=1, max_size=12)
special_sets = st.sets(st.sampled_from(SPECIALS))


def test_from_words_numbers_by_first_appearance_after_the_special_symbols():
    v = Vocabulary.from_words(["I", "gave", "her", "a", "book", "a"], specials=[EOS, BOS])
    assert v.symbols == ("BOS", "EOS", "I", "gave", "her", "a", "book")
    assert v.words == ("I", "gave", "her", "a", "book")
    assert (len(v), v.id("her"), v.id(EOS)) == (7, 4, 1)
    assert list(v) == list(v.symbols)
    assert "her" in v
    assert "him" not in v


def test_from_words_sorted_does_not_depend_on_the_order_of_the_text():
    one, two = (Vocabulary.from_words(text, order="sorted") for text in (["b", "a", "B"], ["a", "B", "b"]))
    assert one == two
    assert one.symbols == ("B", "a", "b")
    assert Vocabulary.from_words(["b", "a"]) != Vocabulary.from_words(["a", "b"])


def test_from_sentences_min_count_sends_rare_words_to_unk():
    v = Vocabulary.from_sentences([["a", "b"], ["a", "c"]], specials=[UNK], min_count=2)
    assert v.symbols == ("UNK", "a")
    assert v.encode(["c", "a", "never"]).tolist() == [0, 1, 0]
    assert v.decode([0, 1]) == ("UNK", "a")


def test_candidates_are_all_but_pad_and_bos():
    v = Vocabulary.from_words(["a", "b"], specials=SPECIALS)
    assert v.symbols[:4] == (PAD, BOS, EOS, UNK)
    assert v.candidates.tolist() == [2, 3, 4, 5]
    with pytest.raises(ValueError, match="read-only"):
        v.candidates[0] = 0


@given(word_lists, special_sets, st.sampled_from(["appearance", "sorted"]))
def test_decode_undoes_encode(words, specials, order):
    v = Vocabulary.from_words(words, specials=specials, order=order)
    assert v.decode(v.encode(words)) == tuple(words)
    assert v.encode(v.symbols).tolist() == list(range(len(v)))
    assert set(v.words) == set(words)


@given(word_lists, special_sets)
def test_from_words_keeps_numbers_when_words_are_added(words, specials):
    small = Vocabulary.from_words(words, specials=specials)
    large = Vocabulary.from_words([*words, "new", *words], specials=specials)
    assert large.symbols[: len(small)] == small.symbols


def test_encode_and_decode_of_nothing():
    v = Vocabulary.from_words(["a"])
    assert v.encode([]).shape == (0,)
    assert v.encode([]).dtype == np.int64
    assert v.decode([]) == ()


def test_encode_unknown_word_names_word_and_expectation():
    v = Vocabulary.from_words(["her", "him"], specials=[EOS])
    message = (
        "word: 'you' is not among the 3 symbols of the vocabulary, which has no UNK; expected one of them"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        v.encode(["her", "you"])


def test_vocabulary_is_frozen_and_hashable():
    v = Vocabulary.from_words(["a"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        v.symbols = ()
    assert len({v, Vocabulary.from_words(["a", "a"])}) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: Vocabulary.from_words("书本"),
            TypeError,
            "words: expected a sequence of words, got the single",
        ),
        (lambda: Vocabulary.from_sentences(["书本"]), TypeError, "sentences: expected a sequence of words"),
        (lambda: Vocabulary.from_words(["a"], specials="EOS"), TypeError, "specials: expected a sequence"),
        (lambda: Vocabulary.from_words(["a", 3]), TypeError, "words: expected strings, got 3"),
        (lambda: Vocabulary.from_words([]), ValueError, "expected at least one word besides the special"),
        (lambda: Vocabulary.from_sentences([[], []], specials=[EOS]), ValueError, "at least one word"),
        (
            lambda: Vocabulary.from_words(["a", ""]),
            ValueError,
            "words: expected words of at least one character",
        ),
        (lambda: Vocabulary.from_words(["a", "EOS"]), ValueError, "words: EOS is a reserved symbol"),
        (
            lambda: Vocabulary.from_words(["a"], specials=["</s>"]),
            ValueError,
            "specials: expected some of .*</s>",
        ),
        (
            lambda: Vocabulary.from_words(["a"], order="size"),
            ValueError,
            "order: expected 'appearance' or 'so",
        ),
        (
            lambda: Vocabulary.from_sentences([["a"]], min_count=2),
            ValueError,
            "more together with UNK, got 2",
        ),
        (
            lambda: Vocabulary.from_sentences([["a"]], min_count=0),
            ValueError,
            "min_count: expected 1, or more",
        ),
        (lambda: Vocabulary(("a", "b", "a")), ValueError, "symbols: 'a' stands there twice"),
        (lambda: Vocabulary(("a", EOS), (EOS,)), ValueError, "symbols: expected .'EOS',. at the front"),
        (
            lambda: Vocabulary((EOS, BOS, "a"), (EOS, BOS)),
            ValueError,
            "specials: expected some of .* in this",
        ),
        (lambda: Vocabulary.from_words(["a"]).encode("a"), TypeError, "words: expected a sequence of words"),
        (
            lambda: Vocabulary.from_words(["a"]).decode([1]),
            ValueError,
            "ids: expected numbers from 0 to 0, got 1",
        ),
        (
            lambda: Vocabulary.from_words(["a"]).decode([-1]),
            ValueError,
            "ids: expected numbers from 0 to 0, got -1",
        ),
        (
            lambda: Vocabulary.from_words(["a"]).decode([[0]]),
            ValueError,
            "ids must have shape .T,., got .1, 1.",
        ),
        (
            lambda: Vocabulary.from_words(["a"]).decode([0.0]),
            TypeError,
            "ids must hold integers, got dtype float",
        ),
    ],
)
def test_vocabulary_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()
