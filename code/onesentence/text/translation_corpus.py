"""The Chinese-English corpus that the translators of the book are trained and tested on, with what they never saw.

Sentences say, deny or ask who gave (lent, sold, ...) whom what and when; see `translation_words` for the words and
`parallel` for the layout and the gold alignments. Nothing was collected: every pair is laid out from an `Event`, so
both languages are right by construction and simpler than any text that people wrote. Sentences with several things
are never denied, since `not … and …` has two readings.

What training and dev never have:

* the triples (giver, recipient, thing) that were held out, about a tenth of all, and with them every sentence of the
  test part; of a sentence with two things both triples are held out;
* the running sentence and its variants: their triples are held out, and they form a part of their own;
* the recipient of the probe `new_recipient`, a name that training has as a giver only;
* three things in a row: the probe `three_things` has them, training has one or two.

No Chinese sentence and no English one stands in two parts. The test part does not tell whether a name can take a new
role or a list can grow, since all its words stand in known roles and its lists are no longer; the probes ask that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onesentence.text.giving import Event, Item, Person, Thing, can_give
from onesentence.text.parallel import ParallelPair, pair_of
from onesentence.text.translation_config import VARIANTS, TranslationConfig, running_events
from onesentence.text.vocabulary import SPECIALS, Vocabulary

Triple = tuple[str, str, str]
Pool = Mapping[tuple[Person, Person], Sequence[Thing]]

_IN_VAIN = 1000
"""So many repetitions in a row, and the words are taken to be used up."""

PARTS: tuple[str, ...] = ("train", "dev", "test", "new_recipient", "three_things", "running")


@dataclass(frozen=True)
class Example:
    """A sentence pair and the event that it was laid out from."""

    event: Event
    pair: ParallelPair

    @property
    def source(self) -> tuple[str, ...]:
        """Chinese units."""
        return self.pair.source

    @property
    def target(self) -> tuple[str, ...]:
        """English tokens, without BOS and EOS."""
        return self.pair.target

    @property
    def triples(self) -> tuple[Triple, ...]:
        """(giver, recipient, thing) in Chinese, one for each thing."""
        return tuple((self.event.giver.zh, self.event.recipient.zh, i.thing.zh) for i in self.event.items)


@dataclass(frozen=True)
class TranslationCorpus:
    """The parts of the corpus; `translation_corpus` draws one.

    Attributes:
        config: what was asked for.
        train, dev, test: the usual three.
        new_recipient: `config.giver_only` as recipient.
        three_things: three things joined by 和, of held-out triples; empty if `config.coordinated` is 0.
        running: the running sentence and its variants, in the order of `VARIANTS`.
    """

    config: TranslationConfig
    train: tuple[Example, ...]
    dev: tuple[Example, ...]
    test: tuple[Example, ...]
    new_recipient: tuple[Example, ...]
    three_things: tuple[Example, ...]
    running: tuple[Example, ...]

    def part(self, name: str) -> tuple[Example, ...]:
        """Return the part of this name, one of `PARTS`.

        Raises:
            ValueError: if there is no such part.
        """
        if name not in PARTS:
            raise ValueError(f"name: expected one of {', '.join(PARTS)}, got {name!r}")
        examples: tuple[Example, ...] = getattr(self, name)
        return examples

    def variant(self, name: str) -> Example:
        """Return the running sentence or a variant of it, by its name in `VARIANTS`.

        Raises:
            ValueError: if there is no such variant.
        """
        if name not in VARIANTS:
            raise ValueError(f"name: expected one of {', '.join(VARIANTS)}, got {name!r}")
        return self.running[VARIANTS.index(name)]

    @cached_property
    def source_vocabulary(self) -> Vocabulary:
        """PAD, BOS, EOS, UNK as 0 to 3, then the Chinese units of the training part by code point."""
        return Vocabulary.from_sentences([e.source for e in self.train], specials=SPECIALS, order="sorted")

    @cached_property
    def target_vocabulary(self) -> Vocabulary:
        """PAD, BOS, EOS, UNK as 0 to 3, then the English tokens of the training part by code point."""
        return Vocabulary.from_sentences([e.target for e in self.train], specials=SPECIALS, order="sorted")

    def encode(self, examples: Sequence[Example]) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
        """Return the ids of sources and of targets, one vector a sentence, nothing added at the ends."""
        sources = [self.source_vocabulary.encode(e.source) for e in examples]
        return sources, [self.target_vocabulary.encode(e.target) for e in examples]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all sentences and alignments in hexadecimal; the same seed gives the same one everywhere."""
        hashed = hashlib.sha256()
        for name in PARTS:
            for e in self.part(name):
                row = [name, e.source, e.target, sorted(e.pair.alignment)]
                hashed.update((json.dumps(row, ensure_ascii=False) + "\n").encode())
        return hashed.hexdigest()


def translation_corpus(config: TranslationConfig | None = None) -> TranslationCorpus:
    """Draw the corpus.

    Each part has a generator of its own, and training is drawn last: other sizes of training leave the rest as it is.

    Args:
        config: what to draw; None for the defaults.

    Raises:
        ValueError: if the words do not make as many different sentences as a part should have.

    Example:
        >>> corpus = translation_corpus(TranslationConfig(train=300, dev=20, test=20, probe=10))
        >>> for e in corpus.test[:2]:
        ...     print("".join(e.source), " ".join(e.target))
        下周汤姆会借给他们三本杂志。 Tom will lend them three magazines next week .
        她昨晚递给了张明一件外套。 She handed Zhang Ming a coat last night .
        >>> " ".join(corpus.variant("question").target)
        'Did I give him a book yesterday ?'
    """
    config = config or TranslationConfig()
    seen, unseen, closed = _pools(config, np.random.default_rng([config.seed, 0]))
    running = tuple(Example(event, pair_of(event)) for event in running_events(config).values())
    drawer = _Drawer(config, {e.source for e in running}, {e.target for e in running})
    test = drawer.draw("test", unseen, config.test)
    new = drawer.draw("new_recipient", closed, config.probe)
    three = drawer.draw("three_things", unseen, config.probe, things=3) if config.coordinated else ()
    dev = drawer.draw("dev", seen, config.dev)
    train = drawer.draw("train", seen, config.train)
    return TranslationCorpus(config, train, dev, test, new, three, running)


def _pools(config: TranslationConfig, rng: np.random.Generator) -> tuple[Pool, Pool, Pool]:
    """Return the things of each pair of people: for training, held out, and for the closed recipient."""
    always = {(e.giver.zh, e.recipient.zh, e.thing.zh) for e in running_events(config).values()}
    pairs = [(a, b) for a in config.people for b in config.people if can_give(a, b)]
    open_pairs = [(a, b) for a, b in pairs if b.zh != config.giver_only]
    triples = [(a, b, thing) for a, b in open_pairs for thing in config.things]
    forced = [(a.zh, b.zh, thing.zh) in always for a, b, thing in triples]
    order = rng.permutation(len(triples)).tolist()
    order.sort(key=lambda i: not forced[i])  # stable: what must be held out comes first
    out = set(order[: max(sum(forced), round(config.held_out * len(triples)))])
    seen: dict[tuple[Person, Person], list[Thing]] = {}
    unseen: dict[tuple[Person, Person], list[Thing]] = {}
    for i, (a, b, thing) in enumerate(triples):
        (unseen if i in out else seen).setdefault((a, b), []).append(thing)
    closed = {(a, b): config.things for a, b in pairs if b.zh == config.giver_only}
    return seen, unseen, closed


class _Drawer:
    """Draws parts one after another and remembers every sentence, so that none comes twice."""

    def __init__(
        self, config: TranslationConfig, sources: set[tuple[str, ...]], targets: set[tuple[str, ...]]
    ) -> None:
        self.config, self.sources, self.targets = config, sources, targets

    def draw(self, part: str, pool: Pool, count: int, *, things: int | None = None) -> tuple[Example, ...]:
        """Return `count` examples of a pool, with so many things each; None draws one or two."""
        rng = np.random.default_rng([self.config.seed, 1 + PARTS.index(part)])
        drawn: list[Example] = []
        in_vain, targets = 0, set[tuple[str, ...]]()
        enough = {size: [pair for pair, goods in pool.items() if len(goods) >= size] for size in (1, 2, 3)}
        while in_vain < _IN_VAIN:
            size = things or (2 if rng.random() < self.config.coordinated else 1)
            if not enough[size]:
                break
            pair = enough[size][rng.integers(len(enough[size]))]
            event = self._event(rng, pair, pool[pair], size)
            example = Example(event, pair_of(event))
            if example.source in self.sources or example.target in self.targets:
                in_vain += 1
                continue
            in_vain = 0
            self.sources.add(example.source)
            targets.add(example.target)
            drawn.append(example)
            if len(drawn) == count:
                self.targets |= targets
                return tuple(drawn)
        raise ValueError(
            f"{part}: asked for {count} sentences, the words gave only {len(drawn)} different ones"
        )

    def _event(
        self, rng: np.random.Generator, pair: tuple[Person, Person], goods: Sequence[Thing], size: int
    ) -> Event:
        c = self.config
        chosen = [goods[i] for i in rng.permutation(len(goods))[:size]]
        first, *others = [Item(c.numbers[rng.integers(len(c.numbers))], thing) for thing in chosen]
        verb, time = c.verbs[rng.integers(len(c.verbs))], c.times[rng.integers(len(c.times))]
        mood, front = rng.random(2)
        negated = bool(mood < c.negated) and not others  # not … and … would be two readings
        question = not negated and bool(c.negated <= mood < c.negated + c.question)
        how = (bool(front < 0.5), negated, question, tuple(others))
        return Event(pair[0], pair[1], verb, first.number, first.thing, time, *how)
