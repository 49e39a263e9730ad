"""Reading who misses whom."""

from __future__ import annotations

import pytest

from onesentence.text.missing import Missing, read_english, read_french, resolved


def test_read_english_puts_who_first() -> None:
    assert read_english("She misses the old house.") == Missing("She", "the old house")
    assert read_english("They miss me") == Missing("They", "me")


def test_read_french_turns_the_relation_round() -> None:
    assert read_french("Paris manque à Marie.") == Missing("Marie", "Paris")
    assert read_french("Tu me manques".replace("manques", "manque")) == Missing("me", "Tu")
    assert read_french("Ses amis leur manquent.") == Missing("leur", "Ses amis")


@pytest.mark.parametrize("sentence", ["", "Pierre dort.", "Pierre's parents are gone.", "manque à Pierre"])
def test_other_forms_are_refused(sentence: str) -> None:
    with pytest.raises(ValueError, match="sentence: expected"):
        read_english(sentence)
    with pytest.raises(ValueError, match="sentence: expected"):
        read_french(sentence)


def test_resolved_names_persons_and_refuses_the_unknown() -> None:
    persons = {"lui": "Pierre", "Marie": "Marie"}
    assert resolved(Missing("lui", "Marie"), persons) == Missing("Pierre", "Marie")
    with pytest.raises(ValueError, match=r"persons: nobody is given for 'Paul'; given are lui, Marie"):
        resolved(Missing("lui", "Paul"), persons)
