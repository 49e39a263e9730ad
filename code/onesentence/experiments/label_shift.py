"""What a translator learns when its labels are its inputs: the target not shifted, everything else the same.

    shifted    inputs BOS I gave him ...    labels I   gave him ... EOS
    unshifted  inputs BOS I gave him ...    labels BOS I    gave him ...

Both have the causal mask, the same parameters at the start, batches and updates. Corpus: `text.translation_corpus`
with few words, only statements of giving; test sentences have triples that training never has. Section 4.6 of the
course, which says that the mask cannot save a wrong shift; the experiment is the book's.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from onesentence.checks import checked_integer
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.seq2seq.batches import Batch, batch_of
from onesentence.seq2seq.evaluation import labels_of, translate
from onesentence.seq2seq.training import Training, label_scores, train
from onesentence.text.translation_config import TranslationConfig
from onesentence.text.translation_corpus import TranslationCorpus, translation_corpus
from onesentence.text.translation_words import CAST, GOODS, NUMBERS, OCCASIONS, TRANSFERS
from onesentence.text.vocabulary import EOS
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.translator import TransformerTranslator

PEOPLE = ("我", "他", "她", "玛丽", "张明", "李华")


@dataclass(frozen=True)
class LabelShift:
    """What is trained.

    Attributes:
        pairs, test: sentences of training and test.
        corpus: seed of the corpus.
        width: d_model; four heads, d_ff twice as wide, one block on each side.
        updates, batch, rate: as `Training`.
        limit: largest number of choices per generated sentence.
        seeds: of parameters and order.
    """

    pairs: int = 500
    test: int = 50
    corpus: int = 5
    width: int = 32
    updates: int = 50
    batch: int = 32
    rate: float = 0.015
    limit: int = 12
    seeds: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")
        for name in ("pairs", "test", "updates", "batch", "limit"):
            checked_integer(name, getattr(self, name), 1)
        if checked_integer("width", self.width, 4) % 4:
            raise ValueError(f"width must be a multiple of the four heads, got {self.width}")


def corpus_of(config: LabelShift) -> TranslationCorpus:
    """Draw the corpus of a configuration."""
    return translation_corpus(
        TranslationConfig(
            train=config.pairs,
            dev=1,
            test=config.test,
            probe=1,
            coordinated=0.0,
            negated=0.0,
            question=0.0,
            seed=config.corpus,
            people=tuple(person for person in CAST if person.zh in PEOPLE),
            verbs=tuple(verb for verb in TRANSFERS if verb.zh == "给"),
            numbers=NUMBERS[:2],
            things=GOODS[:8],
            times=OCCASIONS[:3],
        )
    )


def unshifted(data: Batch) -> Batch:
    """Return a batch whose labels are its inputs; as many of them count as before.

    Example:
        >>> ids, all_ = np.array([[1, 7, 8]]), np.ones((1, 3), dtype=bool)
        >>> unshifted(Batch(ids, all_, ids, np.array([[7, 8, 2]]), all_)).labels.tolist()
        [[1, 7, 8]]
    """
    return replace(data, labels=data.inputs)


def train_one(config: LabelShift, corpus: TranslationCorpus, case: tuple[bool, int]) -> dict[str, Any]:
    """Train one translator and measure it; see `run`.

    Args:
        config: what is trained.
        corpus: of `corpus_of`.
        case: whether the labels are shifted, and the seed.
    """
    shift, seed = case
    sides = corpus.source_vocabulary, corpus.target_vocabulary

    def part(name: str) -> Batch:
        return batch_of([(e.source, e.target) for e in corpus.part(name)], *sides)

    def asked(data: Batch) -> Batch:
        return data if shift else unshifted(data)

    model = TransformerTranslator.initial(_sizes(config, corpus), seed=seed)
    plan = Training(updates=config.updates, batch=config.batch, rate=config.rate)
    losses = train(model, asked(part("train")), plan, np.random.default_rng([seed, 1]))
    test, eos = part("test"), sides[1].id(EOS)
    wrong = replace(test, source=np.roll(test.source, 1, axis=0), source_mask=np.roll(test.source_mask, 1, 0))
    written = translate(model, test, eos=eos, limit=config.limit)
    exact = [row.ids == label for row, label in zip(written, labels_of(test), strict=True)]
    running = translate(model, part("running"), eos=eos, limit=config.limit)[0]
    return {
        "loss": losses,
        "nll": _nll(model, asked(test)),
        "wrong_source": _nll(model, asked(wrong)),
        "exact": float(np.mean(exact)),
        "running": " ".join(sides[1].decode(running.ids)),
    }


@memoised
def run(config: LabelShift) -> Record:
    """Train with shifted and with unshifted labels, with every seed.

    Args:
        config: what is trained.

    Returns:
        Metrics named `shifted_<metric>` and `unshifted_<metric>`, one value a seed. `loss`: of each update; of the test
        part, `nll`, nats per label with true histories, and `wrong_source`, the same with every source replaced by that
        of another sentence; `exact`, share of test sentences that greedy generation writes like the reference;
        `running`, what it writes for the running sentence.
    """
    corpus = corpus_of(config)
    cases = [(shift, seed) for shift in (True, False) for seed in config.seeds]
    results = seeds.over(cases, partial(train_one, config, corpus))
    metrics: dict[str, list[Any]] = {}
    for (shift, _), result in zip(cases, results, strict=True):
        for name, value in result.items():
            metrics.setdefault(f"{'shifted' if shift else 'unshifted'}_{name}", []).append(value)
    return Record(
        name="label_shift",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=metrics,
        versions=versions_of("numpy", "torch"),
    )


def _sizes(config: LabelShift, corpus: TranslationCorpus) -> TransformerConfig:
    return TransformerConfig(
        len(corpus.source_vocabulary),
        len(corpus.target_vocabulary),
        d_model=config.width,
        d_ff=2 * config.width,
        encoder_layers=1,
        decoder_layers=1,
    )


def _nll(model: TransformerTranslator, data: Batch) -> float:
    return label_scores(model, data).nll
