"""Tests that tell Transformer translators apart: less data, a name in a new role, and a longer list.

The first two are measured with the beginning of the training part of `fixed_translator`, the updates being the same for
every size. The third needs sentences with two things, so it has a corpus of its own: one or two things in training, three
in the probe. Sections 4.7 to 4.12 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.experiments.fixed_translator import Data, data_of
from onesentence.experiments.translations import THINGS_KINDS, failures, kinds, things_kind, written
from onesentence.experiments.translator import Translator, plan_of, sizes_of
from onesentence.seq2seq.batches import Batch, batch_of
from onesentence.seq2seq.training import train
from onesentence.text.translation_config import TranslationConfig
from onesentence.text.translation_corpus import Example, TranslationCorpus, translation_corpus
from onesentence.transformer.translator import TransformerTranslator


@dataclass(frozen=True)
class Limits:
    """What is trained.

    Attributes:
        base: the translator; its seeds and updates are not used.
        updates: of every run.
        pairs: sizes of training, each the beginning of the next.
        coordinated: share of sentences with two things, in the corpus of the probe.
        seeds: of parameters and order.
    """

    base: Translator = field(default_factory=Translator)
    updates: int = 125
    pairs: tuple[int, ...] = (125,)
    coordinated: float = 0.25
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError(f"seeds must not be empty, got {self.seeds}")
        if any(not 1 <= n <= self.base.corpus.pairs for n in self.pairs):
            raise ValueError(f"pairs must lie in [1, {self.base.corpus.pairs}], got {self.pairs}")
        if not 0 < self.coordinated < 1:
            raise ValueError(f"coordinated must lie between 0 and 1, got {self.coordinated}")
        if self.updates < 1:
            raise ValueError(f"updates must be at least 1, got {self.updates}")


def lists_of(config: Limits) -> TranslationCorpus:
    """Draw the corpus with one or two things, and the probe with three."""
    asked = config.base.corpus
    return translation_corpus(
        TranslationConfig(
            train=asked.pairs,
            dev=asked.dev,
            test=asked.test,
            probe=asked.probe,
            coordinated=config.coordinated,
            seed=asked.corpus,
        )
    )


def part_of(corpus: TranslationCorpus, examples: tuple[Example, ...]) -> Batch:
    """Return examples as one batch."""
    pairs = [(e.source, e.target) for e in examples]
    return batch_of(pairs, corpus.source_vocabulary, corpus.target_vocabulary)


def train_fewer(config: Limits, data: Data, case: tuple[int, int]) -> dict[str, Any]:
    """Train with the first pairs only; see `run`.

    Args:
        config: what is trained.
        data: of `fixed_translator.data_of`.
        case: number of pairs and seed.
    """
    pairs, seed = case
    model = TransformerTranslator.initial(sizes_of(config.base, data.corpus), seed=seed)
    plan = plan_of(config.base, config.updates)
    losses = train(model, data.train.rows(range(pairs)), plan, np.random.default_rng([seed, 1]))
    words, limit = data.corpus.target_vocabulary, config.base.limit
    test, probe = (written(model, part, words, limit=limit) for part in (data.test, data.new_recipient))
    return {
        "loss": float(np.mean(losses[-10:])),
        "exact": test.exact,
        "bleu": test.bleu,
        "new_recipient": probe.exact,
        "failures": failures(data.corpus.test, test, config.base.shown),
    }


def train_lists(config: Limits, corpus: TranslationCorpus, seed: int) -> dict[str, Any]:
    """Train with one or two things and ask for three; see `run`.

    Args:
        config: what is trained.
        corpus: of `lists_of`.
        seed: of parameters and order.
    """
    model = TransformerTranslator.initial(sizes_of(config.base, corpus), seed=seed)
    plan = plan_of(config.base, config.updates)
    train(model, part_of(corpus, corpus.train), plan, np.random.default_rng([seed, 1]))
    words, limit = corpus.target_vocabulary, 2 * config.base.limit  # a list of three is longer
    known, three = (
        written(model, part_of(corpus, part), words, limit=limit)
        for part in (corpus.test, corpus.three_things)
    )
    pairs = [len(e.event.items) == 2 for e in corpus.test]
    right = np.array(known.right)
    return {
        "exact": known.exact,
        "exact_two": float(right[np.array(pairs)].mean()),
        "three": three.exact,
        "three_bleu": three.bleu,
        "three_kinds": kinds(corpus.three_things, three, things_kind, THINGS_KINDS),
        "three_failures": failures(corpus.three_things, three, config.base.shown),
    }


@memoised
def run(config: Limits) -> Record:
    """Train every size, and the lists, with every seed.

    Args:
        config: what is trained.

    Returns:
        One value a seed. `pairs_<n>_<metric>`: `loss`, the mean of the last ten updates; of the test part `exact`,
        `bleu` and `failures`; `new_recipient`, share exact in that probe. `lists_<metric>`: `exact`, of the test part
        with one or two things, and `exact_two`, of those with two; of the probe with three things `three`, share exact,
        `three_bleu`, `three_kinds`, counts by `THINGS_KINDS`, and `three_failures`, the first few.
    """
    data, corpus = data_of(config.base.corpus), lists_of(config)
    cases = [(pairs, seed) for pairs in config.pairs for seed in config.seeds]
    metrics: dict[str, list[Any]] = {}
    for (pairs, _), result in zip(cases, seeds.over(cases, partial(train_fewer, config, data)), strict=True):
        for name, value in result.items():
            metrics.setdefault(f"pairs_{pairs}_{name}", []).append(value)
    for result in seeds.over(config.seeds, partial(train_lists, config, corpus)):
        for name, value in result.items():
            metrics.setdefault(f"lists_{name}", []).append(value)
    return Record(
        name="translator_limits",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=metrics,
        data_hash=corpus.digest,
        versions=versions_of("numpy", "torch"),
    )
