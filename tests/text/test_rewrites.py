"""Rewritten sentences: which words they have, for every kind of event."""

from __future__ import annotations

import pytest

from onesentence.text.rewrites import roles_exchanged, time_in_front, without_recipient
from onesentence.text.translation_config import TranslationConfig, running_events
from onesentence.text.translation_corpus import translation_corpus

EXAMPLES = translation_corpus(TranslationConfig(train=20, dev=20, test=200, probe=20)).test


def test_rewrites_of_the_running_sentence():
    event = running_events(TranslationConfig())["running"]
    assert " ".join(time_in_front(event)) == "Yesterday I gave him a book ."
    assert " ".join(without_recipient(event)) == "I gave a book yesterday ."
    assert " ".join(roles_exchanged(event)) == "He gave me a book yesterday ."


def test_time_in_front_keeps_the_words():
    for example in EXAMPLES:
        if not example.event.question:
            words = time_in_front(example.event)
            assert sorted(w.lower() for w in words) == sorted(w.lower() for w in example.target)
            assert words[0][0].isupper()
            assert f" {example.event.giver.inside} " in " ".join(words)
            assert words[-1] == "."
            assert " ".join(words[: len(example.event.time.en.split())]).lower() == example.event.time.en


def test_time_in_front_refuses_a_question():
    with pytest.raises(ValueError, match="event: expected a statement, got a question"):
        time_in_front(running_events(TranslationConfig())["question"])


def test_without_recipient_leaves_out_just_those_words():
    for example in EXAMPLES:
        words, gone = without_recipient(example.event), example.event.recipient.object.split()
        at = next(
            i for i in range(len(example.target)) if words[:i] + tuple(gone) + words[i:] == example.target
        )
        assert example.target[at - 1] in (example.event.verb.past, example.event.verb.base)


def test_roles_exchanged_twice_is_the_sentence():
    for example in EXAMPLES:
        words = roles_exchanged(example.event)
        assert words != example.target
        assert len(words) == len(example.target)
