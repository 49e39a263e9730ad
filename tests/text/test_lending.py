"""The message, its cuts by hand, and the generated sentences."""

from __future__ import annotations

import pytest

from onesentence.text.lending import CUTS, MESSAGE, lending_sentences


def test_every_cut_gives_the_message_back():
    assert all("".join(cut) == MESSAGE for cut in CUTS.values())
    assert [len(cut) for cut in CUTS.values()] == [10, 15, 28]


def test_lending_sentences_repeat_with_the_seed_only():
    assert lending_sentences(20, seed=1) == lending_sentences(20, seed=1) != lending_sentences(20, seed=2)
    assert lending_sentences(0, seed=1) == ()


def test_lending_sentences_with_unseen_words_have_exactly_one_each():
    known = {word for sentence in lending_sentences(600, seed=1) for word in sentence.split()}
    for sentence in lending_sentences(200, seed=2, unseen=1.0):
        assert sum(word not in known for word in sentence.split()) == 1
    assert all(word in known for sentence in lending_sentences(200, seed=3) for word in sentence.split())


def test_lending_sentences_hold_unseen_words_as_often_as_asked():
    known = {word for sentence in lending_sentences(600, seed=1) for word in sentence.split()}
    held_out = lending_sentences(2000, seed=2, unseen=0.25)
    share = sum(any(word not in known for word in sentence.split()) for sentence in held_out) / 2000
    assert 0.2 < share < 0.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"number": -1}, "number: expected at least 0, got -1"),
        ({"number": 1, "unseen": 1.5}, "unseen: expected 0 to 1, got 1.5"),
    ],
)
def test_lending_sentences_refuse(arguments, message):
    with pytest.raises(ValueError, match=message):
        lending_sentences(**arguments, seed=0)
