"""Learning and applying merges: values by hand, fast beside plain, Hugging Face's tokenizers."""

from __future__ import annotations

from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from onesentence.text.bpe import (
    Merge,
    apply_rules,
    characters,
    learn,
    learn_by_recounting,
    learn_steps,
    ranks,
    utf8_bytes,
)
from onesentence.text.bpe_corpus import merge_pair, pair_counts

FREQUENCIES = {"low": 3, "lower": 2, "new": 1}
RULES = (("l", "o"), ("lo", "w"), ("low", "</w>"), ("e", "r"))
corpora = st.dictionaries(st.text("abc", max_size=8), st.integers(1, 4), max_size=8)


def generated(seed: int, words: int = 300) -> dict[str, int]:
    """Return frequencies of random words; the larger the counts, the rarer the ties."""
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    spelled = ["".join(rng.choice(syllables, rng.integers(1, 5))) for _ in range(words)]
    return {word: int(count) for word, count in zip(spelled, rng.integers(1, 10**6, words), strict=True)}


def test_learn_gives_the_four_merges_by_hand():
    # l-o 5, o-w 5, w-</w> 4 ...; lo-w 5; low-</w> 3; then e-r, low-e and r-</w> tie at 2
    learned = learn(FREQUENCIES, 4, spell=characters)
    assert learned.rules == RULES
    assert [merge.count for merge in learned.merges] == [5, 5, 3, 2]
    assert [merge.piece for merge in learned.merges] == ["lo", "low", "low</w>", "er"]
    assert not learned.exhausted


def test_learn_takes_the_smallest_pair_among_the_most_frequent():
    assert learn({"ba": 1, "ac": 1}, 1, spell=utf8_bytes).rules == ((b"a", b"c"),)
    assert learn({"ad": 1, "ac": 1, "zz": 2}, 2, spell=utf8_bytes).rules == ((b"z", b"z"), (b"a", b"c"))


def test_learn_weights_pairs_with_the_frequency_of_the_word():
    assert learn({"ab": 2, "cd": 3, "ef": 1}, 3, spell=utf8_bytes).rules == (
        (b"c", b"d"),
        (b"a", b"b"),
        (b"e", b"f"),
    )


def test_learn_never_merges_across_words():
    assert ("b", "a") not in pair_counts([characters("ab")], [9])
    assert learn({"ab": 9}, 9, spell=utf8_bytes).rules == ((b"a", b"b"),)


def test_learn_counts_overlapping_pairs_and_merges_from_the_left():
    assert pair_counts([("a", "a", "a")], [2]) == {("a", "a"): 4}
    assert merge_pair(("a", "a", "a", "a", "a"), ("a", "a")) == ("aa", "aa", "a")
    assert merge_pair((), ("a", "a")) == ()


@pytest.mark.parametrize("way", [learn, learn_by_recounting])
def test_learn_stops_when_nothing_is_left_and_says_so(way):
    learned = way({"low": 3}, 100, spell=characters)
    assert (len(learned.merges), learned.asked, learned.exhausted) == (3, 100, True)
    empty = way({}, 5, spell=characters)
    assert (empty.rules, empty.exhausted) == ((), True)
    assert way({"": 3, "a": 1}, 5, spell=utf8_bytes).rules == ()  # nothing to pair
    assert way({"": 3}, 5, spell=characters).rules == ()
    assert not way(FREQUENCIES, 0, spell=characters).exhausted


@pytest.mark.parametrize("way", [learn, learn_by_recounting])
def test_learn_leaves_rare_pairs_alone(way):
    learned = way(FREQUENCIES, 100, spell=characters, least=3)
    assert [merge.count for merge in learned.merges] == [5, 5, 3]
    assert learned.exhausted


@given(corpora, st.integers(0, 30))
def test_learn_equals_recounting(frequencies, merges):
    for spell in (characters, utf8_bytes):
        assert learn(frequencies, merges, spell=spell) == learn_by_recounting(
            frequencies, merges, spell=spell
        )


@pytest.mark.parametrize("seed", range(3))
def test_learn_equals_recounting_on_more_words(seed):
    frequencies = Counter({word: 1 + count % 5 for word, count in generated(seed, 120).items()})  # many ties
    expected = learn_by_recounting(frequencies, 150, spell=characters)
    assert learn(frequencies, 150, spell=characters) == expected


@given(corpora)
def test_learn_steps_ends_where_the_rules_lead(frequencies):
    steps = list(learn_steps(frequencies, spell=characters))
    learned = learn(frequencies, 10**6, spell=characters)
    assert tuple(step.merge for step in steps) == learned.merges
    words = [characters(word) for word in frequencies]
    for step in steps:
        assert step.merge.count == pair_counts(words, list(frequencies.values()))[step.merge.pair]
        words = [merge_pair(word, step.merge.pair) for word in words]
        assert step.words == tuple(words)


@pytest.mark.parametrize("seed", range(3))
def test_apply_rules_gives_training_words_the_pieces_of_training(seed):
    frequencies = generated(seed, 120)
    steps = list(islice(learn_steps(frequencies, spell=characters), 150))
    rank = ranks([step.merge.pair for step in steps])
    assert tuple(apply_rules(characters(word), rank)[0] for word in frequencies) == steps[-1].words


def test_apply_rules_by_hand():
    assert apply_rules(characters("newer"), RULES) == (("n", "e", "w", "er", "</w>"), (3,))
    assert apply_rules(characters("lower"), RULES) == (("low", "er", "</w>"), (0, 1, 3))
    assert apply_rules(characters("low"), RULES) == (("low</w>",), (0, 1, 2))
    assert apply_rules((), RULES) == ((), ())
    assert apply_rules(("l",), RULES) == (("l",), ())
    assert apply_rules(characters("xyz"), ()) == (("x", "y", "z", "</w>"), ())


def test_apply_rules_goes_by_rank_and_not_from_the_left():
    assert apply_rules(("a", "b", "c"), [("b", "c"), ("a", "b")])[0] == ("a", "bc")
    assert apply_rules(("a", "b", "c"), [("a", "b"), ("b", "c")])[0] == ("ab", "c")


def test_apply_rules_counts_nothing():
    many = apply_rules(characters("ewewewew"), RULES)
    assert many == (characters("ewewewew"), ())  # e-w stands there four times and has no rule


@given(st.text("lowern", max_size=12))
def test_apply_rules_changes_no_letter_and_leaves_no_rule_unused(word):
    pieces, _ = apply_rules(characters(word), RULES)
    assert "".join(pieces) == word + "</w>"
    assert not set(pairwise(pieces)) & set(RULES)


def test_ranks_keeps_the_first_of_two():
    assert ranks([("a", "b"), ("c", "d"), ("a", "b")]) == {("a", "b"): 0, ("c", "d"): 1}


def test_adding_the_test_word_changes_the_rules():
    with_newer = learn(FREQUENCIES | {"newer": 3}, 4, spell=characters)
    assert with_newer.rules != RULES
    assert apply_rules(characters("newer"), with_newer.rules)[0] != apply_rules(characters("newer"), RULES)[0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (({"a": 0}, 1), ValueError, r"frequencies\['a'\] must be at least 1, got 0"),
        (({"a": 1.5}, 1), TypeError, r"frequencies\['a'\] must be an integer, got 1.5"),
        (({"a": 1}, -1), ValueError, "merges must be at least 0, got -1"),
        (({"a": 1}, True), TypeError, "merges must be an integer, got True"),
        (({"a</w>": 1}, 1), ValueError, "word: 'a</w>' contains the mark </w>"),
    ],
)
def test_learn_refuses(arguments, error, message):
    for way in (learn, learn_by_recounting):
        with pytest.raises(error, match=message):
            way(*arguments, spell=characters)
    with pytest.raises(ValueError, match="least must be at least 1, got 0"):
        learn({}, 1, spell=characters, least=0)


def theirs(frequencies: dict[str, int], merges: int) -> list[tuple[str, str]]:
    """Return the rules of Hugging Face's trainer; each word ends in `!`, which does what `</w>` does here.

    (Its own `end_of_word_suffix` is glued to the last letter beforehand, so `w</w>` would be one symbol.)
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    letters = len({letter for word in frequencies for letter in word + "!"})
    trainer = trainers.BpeTrainer(vocab_size=letters + merges, show_progress=False)
    tokenizer.train_from_iterator([" ".join([word + "!"] * n) for word, n in frequencies.items()], trainer)
    return models_rules(tokenizer)


def models_rules(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    import json

    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def mark(word: str) -> tuple[str, ...]:
    return (*word, "!")


def first_tie(frequencies: dict[str, int], merges: list[Merge[str]]) -> int:
    """Return how many merges come before the first one that another pair equalled."""
    words, weights = [mark(word) for word in frequencies], list(frequencies.values())
    for number, merge in enumerate(merges):
        if list(pair_counts(words, weights).values()).count(merge.count) > 1:
            return number
        words = [merge_pair(word, merge.pair) for word in words]
    return len(merges)


@pytest.mark.parametrize("seed", range(4))
def test_learn_agrees_with_tokenizers_where_no_count_ties(seed):
    frequencies = {word: 1 + count // 2000 for word, count in generated(seed, 80).items()}
    merges = learn(frequencies, 60, spell=mark).merges
    free = first_tie(frequencies, merges)
    assert free >= 10
    assert theirs(frequencies, 60)[:free] == [merge.pair for merge in merges[:free]]


@pytest.mark.parametrize("seed", range(3))
def test_tokenizers_learns_what_counting_and_merging_give_under_its_own_tie_rule(seed):
    frequencies = {word: 1 + count % 5 for word, count in generated(seed, 80).items()}  # many ties
    words, weights = [mark(word) for word in frequencies], list(frequencies.values())
    number = {letter: at for at, letter in enumerate(sorted({letter for word in words for letter in word}))}
    expected = []
    for _ in range(100):
        counts = pair_counts(words, weights)
        best = min(counts, key=lambda pair, c=counts: (-c[pair], number[pair[0]], number[pair[1]]))
        number.setdefault("".join(best), len(number))
        expected.append(best)
        words = [merge_pair(word, best) for word in words]
    assert theirs(frequencies, 100) == expected


def test_learn_breaks_ties_otherwise_than_tokenizers():
    # Both take the smaller pair. Here symbols compare as text; there by their ids, and "ab" has a later id than "b".
    frequencies = {"ab": 9, "abc": 1, "b": 2, "bd": 1}
    ours = list(learn(frequencies, 3, spell=lambda word: tuple(word)).rules)
    assert ours[:2] == [("a", "b"), ("ab", "c")]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=4 + 3, show_progress=False)
    tokenizer.train_from_iterator([" ".join([word] * n) for word, n in frequencies.items()], trainer)
    assert models_rules(tokenizer)[:2] == [("a", "b"), ("b", "d")]


def test_apply_rules_agrees_with_tokenizers():
    frequencies = generated(7, 200)
    rules = learn(frequencies, 150, spell=mark).rules
    symbols = dict.fromkeys([*sorted({letter for word in frequencies for letter in mark(word)})])
    symbols |= dict.fromkeys(first + second for first, second in rules)
    vocabulary = {symbol: number for number, symbol in enumerate(symbols)}
    other = Tokenizer(models.BPE(vocabulary, list(rules)))
    rank = ranks(rules)
    unseen = [word for word in generated(8, 300) if word not in frequencies]
    assert len(unseen) > 100
    for word in unseen:
        assert apply_rules(mark(word), rank)[0] == tuple(other.encode(word + "!").tokens)
