"""A generated Chinese-English corpus of giving events, with gold word alignments.

The units are cut like the nine of the book. A Chinese and an English sentence are laid out from one event, each
word under the name of the part that it expresses, and two words are aligned if they stand under the same name. So
the alignment is gold by construction; no aligner and no translator was run, and no pair was found in the world.

Choices of the annotation: 了 is aligned to the past form of the verb, or to Did where a question has it; 吗 to Did or
Will; a measure word to nothing, since English has none here. The first word of an English sentence is capitalised, so
He and him are two words. Things are joined by 和 and `and` however many they are, with no comma, so that a longer list
brings no new word.

Sections 1.2 and 1.15 of the course.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from onesentence.sentence.example import UNITS
from onesentence.text.giving import Event, Grammar


@dataclass(frozen=True)
class ParallelPair:
    """A source sentence, its translation, and which of their words correspond.

    Attributes:
        source: units, in order.
        target: tokens, in order, the full stop included and no EOS.
        alignment: pairs (position in `source`, position in `target`), from 0.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]

    def __post_init__(self) -> None:
        for name, words in (("source", self.source), ("target", self.target)):
            if not words or "" in words:
                raise ValueError(f"{name}: expected at least one word and no empty one, got {words!r}")
        for i, j in sorted(self.alignment):
            if not (0 <= i < len(self.source) and 0 <= j < len(self.target)):
                sizes = f"{len(self.source)} source and {len(self.target)} target words"
                raise ValueError(f"alignment: ({i}, {j}) lies outside the sentence of {sizes}")


def pair_of(event: Event) -> ParallelPair:
    """Lay one event out in both languages and align the words that express the same part of it.

    Args:
        event: who gives whom what, and when.

    Example:
        >>> words = Grammar()
        >>> people, number = words.people, words.numbers[0]
        >>> event = Event(people[0], people[2], words.verbs[0], number, words.things[0], words.times[0])
        >>> pair = pair_of(event)
        >>> "/".join(pair.source), " ".join(pair.target)
        ('我/昨天/给/了/他/一/本/书/。', 'I gave him a book yesterday .')
        >>> sorted(pair.alignment)
        [(0, 0), (1, 5), (2, 1), (3, 1), (4, 2), (5, 3), (7, 4), (8, 6)]
    """
    source, target = _chinese(event), _english(event)
    return ParallelPair(
        tuple(word for word, _ in source),
        tuple(word for word, _ in target),
        frozenset(
            (i, j)
            for i, (_, part) in enumerate(source)
            for j, (_, other) in enumerate(target)
            if part == other
        ),
    )


def sample_pairs(
    grammar: Grammar,
    count: int,
    rng: np.random.Generator,
    *,
    exclude: Collection[tuple[str, ...]] = (UNITS,),
) -> tuple[ParallelPair, ...]:
    """Draw different pairs at random, each way of filling the template equally likely.

    Args:
        grammar: what the template may be filled with.
        count: how many pairs.
        rng: the source of randomness.
        exclude: source sentences that may not be drawn; without an argument, the sentence of the book.

    Returns:
        The pairs, in the order in which they were drawn.

    Raises:
        ValueError: if `count` is below 1, or the grammar has fewer sentences.

    Example:
        >>> for pair in sample_pairs(Grammar(), 2, np.random.default_rng(0)):
        ...     print("".join(pair.source), " ".join(pair.target))
        昨天她给了他一把钥匙。 She gave him a key yesterday .
        今天你给了我一本书。 You gave me a book today .
    """
    if count < 1:
        raise ValueError(f"count: expected at least 1 pair, got {count}")
    unwanted = frozenset(exclude)
    drawn: list[ParallelPair] = []
    for index in rng.permutation(grammar.size):
        event = grammar.event(int(index))
        if event is None or (pair := pair_of(event)).source in unwanted:
            continue
        drawn.append(pair)
        if len(drawn) == count:
            return tuple(drawn)
    raise ValueError(f"count: the grammar has only {len(drawn)} sentences to draw, asked for {count}")


def occurs(words: tuple[str, ...], sentences: Iterable[tuple[str, ...]]) -> int:
    """Return how many sentences contain these words in a row.

    Args:
        words: at least one word.
        sentences: sentences as words.

    Raises:
        ValueError: if there is no word.

    Example:
        >>> occurs(("一", "本"), [("一", "本", "书"), ("本", "一")])
        1
    """
    if not words:
        raise ValueError("words: expected at least one word, got none")
    size = len(words)
    return sum(any(s[i : i + size] == words for i in range(len(s) - size + 1)) for s in sentences)


def _chinese(event: Event) -> list[tuple[str, str]]:
    head = [(event.giver.zh, "giver"), (event.time.zh, "time")]
    verb, ask = [(event.verb.zh, "verb")], "did" if event.time.past else "will"
    if event.time.past:
        done = ("了", "did" if event.question else "verb")
        verb = [("没", "not"), *verb] if event.negated else [*verb, done]
    else:
        verb = [*([("不", "not")] if event.negated else []), ("会", "will"), *verb]
    what: list[tuple[str, str]] = []
    for i, item in enumerate(event.items):
        what += [("和", f"and {i}")] if i else []
        what += [
            (item.number.zh, f"number {i}"),
            (item.thing.measure, "measure"),
            (item.thing.zh, f"thing {i}"),
        ]
    end = [("吗", ask), ("？", "stop")] if event.question else [("。", "stop")]
    return [*(head[::-1] if event.time_first else head), *verb, (event.recipient.zh, "to"), *what, *end]


def _english(event: Event) -> list[tuple[str, str]]:
    who, base = (event.giver.subject, "giver"), (event.verb.base, "verb")
    if event.question:
        front = [("Did", "did") if event.time.past else ("Will", "will"), (event.giver.inside, "giver"), base]
    elif event.time.past and event.negated:
        front = [who, ("did", "not"), ("not", "not"), base]
    elif event.time.past:
        front = [who, (event.verb.past, "verb")]
    else:
        front = [who, ("will", "will"), *([("not", "not")] if event.negated else []), base]
    what: list[tuple[str, str]] = []
    for i, item in enumerate(event.items):
        number, thing = item.number.en, item.thing
        what += [("and", f"and {i}")] if i else []
        what += [(number or thing.article, f"number {i}")]
        what += [(thing.plural if number else thing.singular, f"thing {i}")]
    phrases = [*front, (event.recipient.object, "to"), *what, (event.time.en, "time")]
    phrases += [("?" if event.question else ".", "stop")]
    return [(word, part) for words, part in phrases for word in words.split()]
