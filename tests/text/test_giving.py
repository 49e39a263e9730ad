"""The grammar of giving events: what may fill the template."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.text.giving import PEOPLE, Event, Grammar, Number, Person, can_give


def test_grammar_size_is_the_product_of_its_axes():
    assert Grammar().size == 6 * 6 * 3 * 2 * 5 * 3 * 2
    assert Grammar(polarities=(False, True), numbers=(Number("一"),)).size == Grammar().size


def test_grammar_event_numbers_every_filling_once():
    grammar = Grammar(people=PEOPLE[:3])
    events = [event for index in range(grammar.size) if (event := grammar.event(index))]
    assert len(set(events)) == len(events) == 6 * 3 * 2 * 5 * 3 * 2


@given(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE))
def test_can_give_refuses_oneself_and_a_group_that_holds_oneself(giver, recipient):
    overlap = {giver.zh, recipient.zh} <= {"我", "我们"} or giver == recipient
    assert can_give(giver, recipient) == (not overlap)


def test_grammar_event_is_affirmative_and_in_range():
    grammar = Grammar()
    assert grammar.event(0) is None  # 我 cannot give to 我
    found = [grammar.event(i) for i in range(0, grammar.size, 97)]
    assert all(isinstance(e, Event) and not e.negated for e in found if e is not None)


@pytest.mark.parametrize("index", [-1, 6480])
def test_grammar_event_refuses_a_number_out_of_range(index):
    with pytest.raises(ValueError, match=f"index: expected 0 to 6479, got {index}"):
        Grammar().event(index)


def test_grammar_refuses_empty_and_repeated_entries():
    with pytest.raises(ValueError, match=r"verbs: expected different entries, at least one, got \(\)"):
        Grammar(verbs=())
    with pytest.raises(ValueError, match="people: expected different entries"):
        Grammar(people=(PEOPLE[0], PEOPLE[0]))


def test_grammar_refuses_people_who_cannot_give_to_each_other():
    with pytest.raises(ValueError, match="people: expected two who can give to each other, found none"):
        Grammar(people=(Person("我", "I", "me", 1), Person("我们", "We", "us", 1)))


def test_person_inside_lowers_pronouns_but_not_i_nor_names():
    assert [p.inside for p in PEOPLE] == ["I", "you", "he", "she", "we", "they"]
    assert Person("玛丽", "Mary", "Mary").inside == "Mary"
