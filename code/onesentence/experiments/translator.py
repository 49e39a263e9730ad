"""Transformer translators trained on the corpus of the fixed summary and of the reading translators.

Corpus and parts are those of `fixed_translator`. The test part is measured at several numbers of updates, so that a
comparison with another experiment can be made at that experiment's number. Post-norm, as in 2017; the rate rises over
the first updates and then stays. Sections 4.7 to 4.12 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

import numpy as np
import torch

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.experiments.fixed_translator import Data, FixedTranslator, data_of
from onesentence.experiments.translations import (
    RECIPIENT_KINDS,
    Written,
    failures,
    kinds,
    recipient_kind,
    written,
)
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.training import Training, label_scores, train
from onesentence.text.translation_corpus import TranslationCorpus
from onesentence.text.vocabulary import BOS, PAD, UNK
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.read_weights import Place, read_weights, without_head
from onesentence.transformer.translator import TransformerTranslator


@dataclass(frozen=True)
class Translator:
    """What is trained.

    Attributes:
        corpus: sizes and seed of the corpus; nothing else of it is used. Rate, warm-up and sizes were chosen on dev of
            corpus 0, so the default corpus is new to them.
        d_model, n_head, d_ff, layers: as `TransformerConfig`, as many blocks on each side.
        updates, batch, rate, warm_up, clip: as `Training`.
        every: updates between two points of the learning curve, which is of dev.
        averaged: updates that a point of the loss curve is the mean of.
        measured: numbers of updates at which the test part is measured, the last one `updates`.
        ablated: sentences of dev, the first ones, with which each head is taken away.
        limit: largest number of choices per sentence.
        shown: failures kept per run, the first of the test part.
        seeds: of parameters and order.
    """

    corpus: FixedTranslator = field(default_factory=FixedTranslator)
    d_model: int = 64
    n_head: int = 4
    d_ff: int = 128
    layers: int = 2
    updates: int = 200
    batch: int = 64
    rate: float = 3e-3
    warm_up: int = 50
    clip: float = 1.0
    every: int = 50
    averaged: int = 10
    measured: tuple[int, ...] = (125, 200)
    ablated: int = 60
    limit: int = 20
    shown: int = 3
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError(f"seeds must not be empty, got {self.seeds}")
        for name in ("every", "averaged"):
            step = getattr(self, name)
            if step < 1 or self.updates % step:
                raise ValueError(f"{name} must divide updates = {self.updates}, got {step}")
        rising = sorted(set(self.measured))
        if list(self.measured) != rising or not rising or rising[0] < 1 or rising[-1] != self.updates:
            raise ValueError(f"measured must rise from 1 or more to {self.updates}, got {self.measured}")
        if not 1 <= self.ablated <= self.corpus.dev:
            raise ValueError(f"ablated must lie in [1, {self.corpus.dev}], got {self.ablated}")
        if self.limit < 1:
            raise ValueError(f"limit must be at least 1, got {self.limit}")


def sizes_of(config: Translator, corpus: TranslationCorpus, **changed: Any) -> TransformerConfig:
    """Return the sizes of a translator.

    Args:
        config: what is trained.
        corpus: whose vocabularies it has.
        changed: fields of `TransformerConfig` that an ablation sets.
    """
    target = corpus.target_vocabulary
    return TransformerConfig(
        source_size=len(corpus.source_vocabulary),
        target_size=len(target),
        d_model=config.d_model,
        n_head=config.n_head,
        d_ff=config.d_ff,
        encoder_layers=config.layers,
        decoder_layers=config.layers,
        barred=tuple(target.id(symbol) for symbol in (PAD, BOS, UNK)),
        **changed,
    )


def plan_of(config: Translator, updates: int | None = None) -> Training:
    """Return how a translator is trained, for another number of updates if one is given."""
    return Training(
        updates=updates or config.updates,
        batch=config.batch,
        rate=config.rate,
        clip=config.clip,
        warm_up=config.warm_up,
    )


def train_one(config: Translator, data: Data, seed: int) -> dict[str, Any]:
    """Train one translator and measure it; see `run`.

    Args:
        config: what is trained.
        data: of `fixed_translator.data_of`.
        seed: of parameters and order.
    """
    corpus, words = data.corpus, data.corpus.target_vocabulary
    model = TransformerTranslator.initial(sizes_of(config, corpus), seed=seed)
    curve: list[float] = []
    tests: dict[str, list[float]] = {}
    wrote: list[tuple[Written, Written]] = []

    def watch(update: int) -> None:
        if update % config.every == 0:
            curve.append(label_scores(model, data.dev).all_right)
        if update in config.measured:
            wrote.append(
                (
                    written(model, data.test, words, limit=config.limit),
                    written(model, data.new_recipient, words, limit=config.limit),
                )
            )
            for name, value in measures(model, data.test, *wrote[-1]).items():
                tests.setdefault(name, []).append(value)

    losses = train(model, data.train, plan_of(config), np.random.default_rng([seed, 1]), watch)
    (test, probe), running = wrote[-1], written(model, data.running, words, limit=config.limit)
    kind = recipient_kind(corpus.config.people)
    row = data.running.rows([0])
    few = data.dev.rows(range(config.ablated))
    read = read_weights(model, *map(torch.from_numpy, (row.source, row.source_mask, row.inputs)))
    return {
        "curve": curve,
        "loss": np.reshape(losses, (-1, config.averaged)).mean(axis=1).tolist(),
        **tests,
        "failures": failures(corpus.test, test, config.shown),
        "running": list(running.texts),
        "new_recipient_kinds": kinds(corpus.new_recipient, probe, kind, RECIPIENT_KINDS),
        "new_recipient_first": probe.texts[0],
        **{place: getattr(read, place)[0].tolist() for place in get_args(Place)},
        "without": {place: _without(config, model, few, place) for place in get_args(Place)},
    }


def measures(model: TransformerTranslator, part: Batch, test: Written, probe: Written) -> dict[str, float]:
    """Return the numbers of a translator on test and probe, see `run`.

    Args:
        model: the translator.
        part: the test part.
        test: what it wrote for the test part.
        probe: what it wrote for the probe.
    """
    scores = label_scores(model, part)
    return {
        "nll": scores.nll,
        "accuracy": scores.accuracy,
        "accuracy_elsewhere": label_scores(model, elsewhere(part)).accuracy,
        "exact": test.exact,
        "bleu": test.bleu,
        "new_recipient": probe.exact,
        "new_recipient_bleu": probe.bleu,
    }


def elsewhere(part: Batch) -> Batch:
    """Return the pairs with the source of the next pair, the last one with that of the first."""
    return dataclasses.replace(
        part, source=np.roll(part.source, -1, axis=0), source_mask=np.roll(part.source_mask, -1, axis=0)
    )


@memoised
def run(config: Translator) -> Record:
    """Train with every seed.

    Args:
        config: what is trained.

    Returns:
        One value a seed. `curve`: share of dev sentences with the label likeliest at each position, which are those that
        greedy generation writes exactly (see `seq2seq.evaluation`), every `every` updates from 0 on; `loss`: mean
        training loss of `averaged` updates. With one value for each of `measured`: of the test part `nll`, nats
        per label, and `accuracy`, both with true histories, `accuracy_elsewhere`, the same with the source of
        `elsewhere`, and of greedy generation `exact` and `bleu`; of the probe `new_recipient` and
        `new_recipient_bleu`. After the last update: `failures`, the first few as (source, reference, written);
        `running`, what became of the running sentence and its variants; `new_recipient_kinds`, counts by
        `RECIPIENT_KINDS`, and `new_recipient_first`, its first sentence; `encoder`, `decoder` and `cross`, weights of
        the running sentence with true history, (L, H, T, S), EOS last; `without`, by place, share of dev sentences
        (the first `ablated` ones) with the label likeliest at each position when one head is taken away, (L, H).
    """
    data = data_of(config.corpus)
    results = seeds.over(config.seeds, partial(train_one, config, data))
    return Record(
        name="translator",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics={name: [result[name] for result in results] for name in results[0]},
        data_hash=data.corpus.digest,
        versions=versions_of("numpy", "torch"),
    )


def _without(
    config: Translator, model: TransformerTranslator, part: Batch, place: Place
) -> list[list[float]]:
    table = []
    for layer in range(config.layers):
        row = []
        for head in range(config.n_head):
            with without_head(model, place, layer, head):
                row.append(label_scores(model, part).all_right)
        table.append(row)
    return table
