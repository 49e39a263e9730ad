"""LSTM translators with a fixed summary, trained on the generated corpus: two interfaces, several seeds.

Corpus: `text.translation_corpus` without coordination, so every sentence has one thing. Training, dev and test are
drawn once; a seed draws the parameters and the order of training. Test sentences have triples of giver, recipient and
thing that training never has, each of their words in a role that training knows; `new_recipient` asks for a name as
recipient that training has as a giver only. Sections 2.3 to 2.5 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.cases import by_case
from onesentence.generate.loop import Generated
from onesentence.seq2seq.batches import Batch, batch_of
from onesentence.seq2seq.evaluation import exact_of, first_difference, labels_of, translate
from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig, Interface
from onesentence.seq2seq.training import Training, curve, label_scores, train
from onesentence.text.parallel import pair_of
from onesentence.text.translation_config import TranslationConfig
from onesentence.text.translation_corpus import Example, TranslationCorpus, translation_corpus
from onesentence.text.vocabulary import EOS

WRONG = ("giver", "recipient", "verb", "number", "thing", "time", "other")
"""What the reference word at a first error expresses; `other` are did, will, not, stops and EOS."""


@dataclass(frozen=True)
class FixedTranslator:
    """What is trained.

    Attributes:
        pairs: training sentences.
        corpus: seed of the corpus. Rate and forget bias were chosen on dev of corpus 0, so 1 is new to both.
        dev, test, probe: sentences of those parts.
        interfaces: how the decoder learns of the source.
        width: of embeddings, states and c_src.
        forget_bias: what the LSTMs' forget gates start with.
        updates, batch, rate, clip: as `Training`.
        every: updates between two points of the learning curve, which is of dev.
        limit: largest number of choices per sentence.
        shown: failures kept per run, the first of the test part.
        seeds: of parameters and order.
    """

    pairs: int = 4000
    corpus: int = 1
    dev: int = 120
    test: int = 400
    probe: int = 100
    interfaces: tuple[Interface, ...] = ("initial", "inject")
    width: int = 64
    forget_bias: float = 4.0
    updates: int = 400
    batch: int = 64
    rate: float = 7e-3
    clip: float = 1.0
    every: int = 50
    limit: int = 20
    shown: int = 3
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        if not self.seeds or not self.interfaces:
            raise ValueError(
                f"seeds and interfaces must not be empty, got {self.seeds} and {self.interfaces}"
            )
        if self.every < 1 or self.updates % self.every:
            raise ValueError(f"every must divide updates = {self.updates}, got {self.every}")
        if self.limit < 1:
            raise ValueError(f"limit must be at least 1, got {self.limit}")


@dataclass(frozen=True, eq=False)
class Data:
    """The corpus and its parts as padded arrays."""

    corpus: TranslationCorpus
    train: Batch
    dev: Batch
    test: Batch
    new_recipient: Batch
    running: Batch


def data_of(config: FixedTranslator) -> Data:
    """Draw the corpus of a configuration."""
    corpus = translation_corpus(
        TranslationConfig(
            train=config.pairs,
            dev=config.dev,
            test=config.test,
            probe=config.probe,
            coordinated=0.0,
            seed=config.corpus,
        )
    )

    def part(name: str) -> Batch:
        pairs = [(e.source, e.target) for e in corpus.part(name)]
        return batch_of(pairs, corpus.source_vocabulary, corpus.target_vocabulary)

    return Data(corpus, *(part(name) for name in ("train", "dev", "test", "new_recipient", "running")))


def model_of(
    config: FixedTranslator, corpus: TranslationCorpus, interface: Interface, seed: int
) -> FixedSummary:
    """Return a translator before training."""
    sizes = FixedSummaryConfig.over(
        corpus.source_vocabulary,
        corpus.target_vocabulary,
        width=config.width,
        interface=interface,
        forget_bias=config.forget_bias,
    )
    return FixedSummary.initial(sizes, seed=seed)


def part_at(example: Example, position: int) -> str:
    """Return what the reference word at a position expresses, one of `WRONG`.

    Args:
        example: a sentence pair of one thing.
        position: from 0 to the number of words; the last one is EOS.

    Raises:
        ValueError: if the position lies outside.
    """
    if not 0 <= position <= len(example.target):
        raise ValueError(f"position must lie in [0, {len(example.target)}], got {position}")
    event, (item, *_) = example.event, example.event.items
    phrases = {
        "giver": f"{event.giver.subject} {event.giver.inside}",
        "recipient": event.recipient.object,
        "verb": f"{event.verb.past} {event.verb.base}",
        "number": item.number.en or item.thing.article,
        "thing": f"{item.thing.singular} {item.thing.plural}",
        "time": event.time.en,
    }
    word = (*example.target, EOS)[position]
    return next((part for part, words in phrases.items() if word in words.split()), "other")


def train_one(config: FixedTranslator, data: Data, case: tuple[Interface, int]) -> dict[str, Any]:
    """Train one translator and measure it.

    Args:
        config: what is trained.
        data: of `data_of`.
        case: interface and seed.

    Returns:
        By metric one value, or a list; see `run`.
    """
    interface, seed = case
    model = model_of(config, data.corpus, interface, seed)
    points: list[float] = []

    def watch(update: int) -> None:
        if update % config.every == 0:
            points.append(exact_of(_written(config, data, model, data.dev), data.dev).share)

    losses = train(model, data.train, Training.of(config), np.random.default_rng([seed, 1]), watch)
    scores = label_scores(model, data.test)
    written = _written(config, data, model, data.test)
    running = _written(config, data, model, data.running)
    probe = _written(config, data, model, data.new_recipient)
    return {
        "curve": points,
        "loss": curve(losses, config.every),
        "nll": scores.nll,
        "accuracy": scores.accuracy,
        "all_right": scores.all_right,
        "exact": exact_of(written, data.test).share,
        "ended": float(np.mean([row.ended for row in written])),
        "new_recipient": exact_of(probe, data.new_recipient).share,
        "new_recipient_first": _shown(data, data.corpus.new_recipient[0], probe[0]),
        "running": [_text(data, row) for row in running],
        **_first_errors(config, data, written, scores.hits),
    }


@memoised
def run(config: FixedTranslator) -> Record:
    """Train every interface with every seed.

    Args:
        config: what is trained.

    Returns:
        Metrics named `<interface>_<metric>`. `curve`: share of dev sentences generated exactly, every `every` updates
        from 0 on; `loss`: mean training loss of as many updates. Of the test part: `nll`, `accuracy` per token with
        true histories; `all_right`, share of sentences with the label likeliest at each position; `exact` and `ended`,
        shares of free greedy generation; `errors`, counts of first errors by `WRONG`; `positions`, how many positions
        of failed sentences lie before, at and after the first error, and how many of those after it are wrong with
        free and with true histories; `exchanged`, how many failures are right but for giver and recipient exchanged;
        `failures`, the first few as (source, reference, written). `new_recipient`: share exact in that probe, and
        `new_recipient_first` its first sentence; `running`: what became of the running sentence and its variants.
    """
    data = data_of(config)
    cases = {interface: (interface,) for interface in config.interfaces}
    return Record(
        name="fixed_translator",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_case(cases, config.seeds, partial(train_one, config, data)),
        data_hash=data.corpus.digest,
        versions=versions_of("numpy", "torch"),
    )


def _written(config: FixedTranslator, data: Data, model: FixedSummary, part: Batch) -> tuple[Generated, ...]:
    return translate(model, part, eos=data.corpus.target_vocabulary.id(EOS), limit=config.limit)


def _text(data: Data, row: Generated) -> str:
    """Return what was written without EOS, with an ellipsis if the limit cut it off."""
    words = data.corpus.target_vocabulary.decode(row.ids)
    return " ".join(words[:-1] if row.ended else (*words, "…"))


def _shown(data: Data, example: Example, row: Generated) -> tuple[str, str, str]:
    return "".join(example.source), " ".join(example.target), _text(data, row)


def _exchanged(example: Example) -> str:
    """Return the translation with giver and recipient exchanged."""
    event = example.event
    return " ".join(pair_of(replace(event, giver=event.recipient, recipient=event.giver)).target)


def _first_errors(
    config: FixedTranslator, data: Data, written: tuple[Generated, ...], hits: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return counts and examples of failed test sentences; `hits` are those with true histories."""
    errors = dict.fromkeys(WRONG, 0)
    positions = dict.fromkeys(("before", "first", "after", "after_free", "after_true"), 0)
    failures: list[tuple[str, str, str]] = []
    exchanged = 0
    for example, row, labels, hit in zip(data.corpus.test, written, labels_of(data.test), hits, strict=True):
        first = first_difference(row.ids, labels)
        if first is None:
            continue
        errors[part_at(example, first)] += 1
        later = range(first + 1, len(labels))
        positions["before"] += first
        positions["first"] += 1
        positions["after"] += len(later)
        positions["after_free"] += sum(row.ids[i : i + 1] != labels[i : i + 1] for i in later)
        positions["after_true"] += sum(not hit[i] for i in later)
        exchanged += _text(data, row) == _exchanged(example)
        failures.append(_shown(data, example, row))
    return {
        "errors": errors,
        "positions": positions,
        "exchanged": exchanged,
        "failures": failures[: config.shown],
    }
