"""How often labels decided position by position form no legal sequence: persons in generated Chinese sentences.

Training and held-out sentences share templates and surnames and no given name. Section 1.6 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from onesentence.embed.optim import Adam
from onesentence.embed.tagger import PERSON_LABELS, WindowTagger, bio_spans, illegal_transitions
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.text.name_corpus import (
    HELD_OUT_GIVEN,
    character_vocabulary,
    name_sentences,
)


@dataclass(frozen=True)
class Tagging:
    """What is trained.

    Attributes:
        sentences: training sentences.
        held_out: sentences with other names.
        radius: r.
        embedding: d.
        hidden: H.
        epochs: passes over the sentences.
        batch: windows per step.
        rate: of Adam.
        seeds: each draws sentences and network.
    """

    sentences: int = 100
    held_out: int = 200
    radius: int = 2
    embedding: int = 8
    hidden: int = 16
    epochs: int = 15
    batch: int = 32
    rate: float = 0.01
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")


@dataclass(frozen=True)
class Tagged:
    """One held-out sentence.

    Attributes:
        text: the characters.
        gold: the right labels.
        predicted: the tagger's.
    """

    text: str
    gold: tuple[str, ...]
    predicted: tuple[str, ...]


def tagged(config: Tagging, seed: int) -> list[Tagged]:
    """Train one tagger and tag the held-out sentences.

    Args:
        config: what is trained.
        seed: of sentences, network and shuffling.
    """
    rng = np.random.default_rng(seed)
    training = name_sentences(config.sentences, rng)
    vocabulary = character_vocabulary(training)
    tagger = WindowTagger.initial(
        vocabulary.symbols,
        PERSON_LABELS,
        radius=config.radius,
        embedding=config.embedding,
        hidden=config.hidden,
        rng=rng,
    )

    tagger, _ = tagger.trained(
        [vocabulary.encode(list(one.text)) for one in training],
        [one.labels for one in training],
        optimiser=Adam(rate=config.rate),
        epochs=config.epochs,
        batch=config.batch,
        rng=rng,
    )
    others = name_sentences(config.held_out, rng, given=HELD_OUT_GIVEN)
    return [Tagged(one.text, one.labels, tagger.tag(vocabulary.encode(list(one.text)))) for one in others]


@memoised
def run(config: Tagging) -> Record:
    """Train with every seed and count on the held-out sentences.

    Args:
        config: what is trained.

    Returns:
        Per seed: `wrong` labels, `illegal` positions, `sentences` with such a position, `apart` sentences whose
        entities differ between the two conventions, `positions` and `persons` in all; `example` the first illegal
        sentence with its labels, empty where there is none.
    """
    names = ("wrong", "illegal", "sentences", "apart", "positions", "persons", "example")
    metrics: dict[str, list[object]] = {name: [] for name in names}
    for seed in config.seeds:
        results = tagged(config, seed)
        broken = [one for one in results if illegal_transitions(one.predicted)]
        conventions = [
            [bio_spans(one.predicted, orphan="drop"), bio_spans(one.predicted, orphan="open")]
            for one in broken
        ]
        values: tuple[object, ...] = (
            sum(a != b for one in results for a, b in zip(one.gold, one.predicted, strict=True)),
            sum(len(illegal_transitions(one.predicted)) for one in broken),
            len(broken),
            sum(dropped != opened for dropped, opened in conventions),
            sum(len(one.text) for one in results),
            sum(one.gold.count("B-PER") for one in results),
            [broken[0].text, list(broken[0].gold), list(broken[0].predicted)] if broken else [],
        )
        for name, value in zip(names, values, strict=True):
            metrics[name].append(value)
    return Record(
        name="window_tagging",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=dict(metrics),
        versions=versions_of("numpy"),
    )
