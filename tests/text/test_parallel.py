"""The generated parallel corpus and its gold alignments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.sentence.example import SENTENCE, TRANSLATION, UNITS
from onesentence.text.giving import Event, Grammar, Item, Person
from onesentence.text.parallel import ParallelPair, occurs, pair_of, sample_pairs

WORDS = Grammar()
BOTH = Grammar(polarities=(False, True))


def event(**changes) -> Event:
    people, number = WORDS.people, WORDS.numbers[0]
    plain = {"giver": people[0], "recipient": people[2], "verb": WORDS.verbs[0], "number": number}
    plain |= {"thing": WORDS.things[0], "time": WORDS.times[0]}
    return Event(**(plain | changes))


def links(pair: ParallelPair) -> set[tuple[str, str]]:
    return {(pair.source[i], pair.target[j]) for i, j in pair.alignment}


def test_pair_of_gives_the_sentence_of_the_book():
    pair = pair_of(event())
    assert pair.source == UNITS
    assert " ".join(pair.target) == TRANSLATION


def test_pair_of_aligns_le_to_the_past_verb_and_the_measure_word_to_nothing():
    pair = pair_of(event())
    assert {("给", "gave"), ("了", "gave"), ("一", "a"), ("书", "book"), ("昨天", "yesterday")} < links(pair)
    assert "本" not in {source for source, _ in links(pair)}


def test_pair_of_puts_the_day_first_in_chinese_only():
    pair = pair_of(event(time_first=True))
    assert "".join(pair.source) == "昨天我给了他一本书。"
    assert " ".join(pair.target) == TRANSLATION


@pytest.mark.parametrize(
    ("time", "negated", "chinese", "english"),
    [
        (2, False, "我明天会给他一本书。", "I will give him a book tomorrow ."),
        (0, True, "我昨天没给他一本书。", "I did not give him a book yesterday ."),
        (2, True, "我明天不会给他一本书。", "I will not give him a book tomorrow ."),
    ],
)
def test_pair_of_future_and_negation(time, negated, chinese, english):
    pair = pair_of(event(time=WORDS.times[time], negated=negated))
    assert ("".join(pair.source), " ".join(pair.target)) == (chinese, english)


def test_pair_of_number_decides_article_and_plural():
    umbrella = WORDS.things[3]
    assert " ".join(pair_of(event(thing=umbrella)).target[3:5]) == "an umbrella"
    assert " ".join(pair_of(event(thing=umbrella, number=WORDS.numbers[1])).target[3:5]) == "two umbrellas"


def test_pair_of_aligns_every_word_of_a_name():
    pair = pair_of(event(giver=Person("张明", "Zhang Ming", "Zhang Ming")))
    assert pair.target[:2] == ("Zhang", "Ming")
    assert {(0, 0), (0, 1)} < pair.alignment


@given(st.integers(0, BOTH.size - 1))
def test_pair_of_leaves_no_target_word_unaligned_and_only_the_measure_word_in_the_source(index):
    filling = BOTH.event(index)
    if filling is None:
        return
    pair = pair_of(filling)
    assert {j for _, j in pair.alignment} == set(range(len(pair.target)))
    unaligned = set(range(len(pair.source))) - {i for i, _ in pair.alignment}
    assert [pair.source[i] for i in unaligned] == [filling.thing.measure]


@pytest.mark.parametrize("seed", range(6))
def test_sample_pairs_never_holds_the_sentence_of_the_book_but_its_phrases(seed):
    pairs = sample_pairs(WORDS, 60, np.random.default_rng(seed))
    sources = [pair.source for pair in pairs]
    assert UNITS not in sources
    assert len(set(sources)) == 60
    for phrase in (("我",), ("昨天",), ("给", "了"), ("了", "他"), ("一", "本", "书"), ("。",)):
        assert occurs(phrase, sources) > 0


def test_sample_pairs_draws_everything_but_the_excluded_when_asked_for_all():
    small = Grammar(people=WORDS.people[:3], verbs=WORDS.verbs[:1], things=WORDS.things[:1])
    all_of_it = sample_pairs(small, 71, np.random.default_rng(0))
    assert SENTENCE not in {"".join(pair.source) for pair in all_of_it}
    with pytest.raises(ValueError, match="count: the grammar has only 71 sentences to draw, asked for 72"):
        sample_pairs(small, 72, np.random.default_rng(0))
    assert len(sample_pairs(small, 72, np.random.default_rng(0), exclude=())) == 72


def test_sample_pairs_is_decided_by_the_generator():
    first, again, other = (sample_pairs(WORDS, 5, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert first == again != other


def test_sample_pairs_refuses_a_count_below_one():
    with pytest.raises(ValueError, match="count: expected at least 1 pair, got 0"):
        sample_pairs(WORDS, 0, np.random.default_rng(0))


@pytest.mark.parametrize("link", [(2, 0), (0, 1), (-1, 0)])
def test_parallel_pair_refuses_an_alignment_outside_the_sentence(link):
    text = rf"alignment: \({link[0]}, {link[1]}\) lies outside the sentence of 2 source and 1 target words"
    with pytest.raises(ValueError, match=text):
        ParallelPair(("给", "了"), ("gave",), frozenset({link}))


def test_parallel_pair_refuses_empty_sentences_and_words():
    with pytest.raises(ValueError, match=r"source: expected at least one word and no empty one, got \(\)"):
        ParallelPair((), ("a",), frozenset())
    with pytest.raises(ValueError, match="target: expected at least one word and no empty one"):
        ParallelPair(("一",), ("",), frozenset())


def test_occurs_counts_sentences_once_and_refuses_no_words():
    assert occurs(("一",), [("一", "一"), ("二",)]) == 1
    with pytest.raises(ValueError, match="words: expected at least one word, got none"):
        occurs((), [("一",)])


@pytest.mark.parametrize(
    ("changes", "chinese", "english"),
    [
        ({}, "你昨天给了他一本书吗？", "Did you give him a book yesterday ?"),
        ({"time": WORDS.times[2]}, "你明天会给他一本书吗？", "Will you give him a book tomorrow ?"),
        ({"giver": WORDS.people[3]}, "她昨天给了他一本书吗？", "Did she give him a book yesterday ?"),
        ({"giver": WORDS.people[0]}, "我昨天给了他一本书吗？", "Did I give him a book yesterday ?"),
        (
            {"giver": Person("张明", "Zhang Ming", "Zhang Ming")},
            "张明昨天给了他一本书吗？",
            "Did Zhang Ming give him a book yesterday ?",
        ),
    ],
)
def test_pair_of_question(changes, chinese, english):
    pair = pair_of(event(**({"giver": WORDS.people[1], "question": True} | changes)))
    assert ("".join(pair.source), " ".join(pair.target)) == (chinese, english)


def test_pair_of_question_aligns_did_to_le_and_ma_and_the_verb_to_its_base():
    said = links(pair_of(event(question=True)))
    assert {("了", "Did"), ("吗", "Did"), ("给", "give"), ("？", "?")} < said
    assert ("了", "give") not in said
    will = links(pair_of(event(question=True, time=WORDS.times[2])))
    assert {("会", "Will"), ("吗", "Will")} < will


def test_pair_of_joins_things_and_aligns_each_to_its_own():
    more = (Item(WORDS.numbers[1], WORDS.things[3]), Item(WORDS.numbers[0], WORDS.things[2]))
    pair = pair_of(event(others=more))
    assert "".join(pair.source) == "我昨天给了他一本书和两把伞和一支笔。"
    assert " ".join(pair.target) == "I gave him a book and two umbrellas and a pen yesterday ."
    assert sorted(j for i, j in pair.alignment if pair.source[i] == "一") == [3, 9]
    assert sorted((i, j) for i, j in pair.alignment if pair.source[i] == "和") == [(8, 5), (12, 8)]


def test_event_refuses_a_negated_question_and_a_thing_twice():
    with pytest.raises(ValueError, match="question: expected a question or a negation, got both"):
        event(question=True, negated=True)
    with pytest.raises(ValueError, match="others: expected different things, got 书、书"):
        event(others=(Item(WORDS.numbers[0], WORDS.things[0]),))
