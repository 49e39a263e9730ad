"""Where a translator comes to look whose read is trained by the loss of the translation and by nothing else.

Corpus: `text.translation_corpus` without coordination. Its gold alignments are compared with the weights of the read
and are never part of the loss. Section 3.7 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.experiments.fixed_translator import WRONG, part_at
from onesentence.experiments.reading_translator import ReadingTranslator, Sizes
from onesentence.seq2seq.agreement import agreement, gold_of
from onesentence.seq2seq.batches import Batch, batch_of
from onesentence.seq2seq.training import Training, label_scores, train
from onesentence.text.parallel import pair_of
from onesentence.text.translation_config import TranslationConfig
from onesentence.text.translation_corpus import Example, TranslationCorpus, translation_corpus

KINDS = ("giver", "time", "verb", "recipient", "number", "measure", "thing", "other")
"""What a source unit is; the gold alignment links a measure word to nothing."""


@dataclass(frozen=True)
class LearningRead:
    """What is trained.

    Attributes:
        pairs: training sentences.
        test: test sentences, of held-out triples.
        corpus: seed of the corpus.
        width: d, of everything.
        updates, batch, rate: as `Training`.
        every: updates between two points of the curves.
        seeds: of parameters and order.
    """

    pairs: int = 1200
    test: int = 120
    corpus: int = 2
    width: int = 32
    updates: int = 200
    batch: int = 32
    rate: float = 0.01
    every: int = 50
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width must be at least 1, got {self.width}")
        if self.every < 1 or self.updates % self.every:
            raise ValueError(f"every must divide updates = {self.updates}, got {self.every}")
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")


def corpus_of(config: LearningRead) -> TranslationCorpus:
    """Draw the corpus of a configuration."""
    return translation_corpus(
        TranslationConfig(train=config.pairs, dev=1, test=config.test, coordinated=0.0, seed=config.corpus)
    )


def batch(corpus: TranslationCorpus, examples: tuple[Example, ...]) -> Batch:
    """Return examples as one batch."""
    pairs = [(e.source, e.target) for e in examples]
    return batch_of(pairs, corpus.source_vocabulary, corpus.target_vocabulary)


def gold(examples: tuple[Example, ...], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return where the gold alignment has a link, (B, T, S); EOS and padding have none.

    Args:
        examples: B sentence pairs.
        shape: (B, T, S).
    """
    links = np.zeros(shape, dtype=bool)
    for n, example in enumerate(examples):
        own = gold_of(example.pair)
        links[n, : own.shape[0], : own.shape[1]] = own
    return links


def told_her(corpus: TranslationCorpus) -> tuple[Example, Example]:
    """Return the running sentence with her as recipient, and the running sentence itself."""
    him = corpus.variant("running")
    her = next(person for person in corpus.config.people if person.zh == "她")
    event = replace(him.event, recipient=her)
    return Example(event, pair_of(event)), him


@torch.no_grad()
def diagnose(model: ReadingTranslator, corpus: TranslationCorpus) -> dict[str, float]:
    """Ask a model for ln p(her) - ln p(him) after `I gave`, the source saying her, and take things away from it.

    Args:
        model: trained or not.
        corpus: its corpus.

    Returns:
        `weight` of the position of 她, `intact`, and what becomes of it when that position may not be read
        (`unread`), when only its value is made of 他 (`value`), only its key (`key`), or its whole annotation (`both`).
    """
    data = batch(corpus, told_her(corpus))
    at, step = told_her(corpus)[0].source.index("她"), 2
    her, him = (corpus.target_vocabulary.id(word) for word in ("her", "him"))
    mask = torch.from_numpy(data.source_mask[:1])
    h, other = model.annotations(*map(torch.from_numpy, (data.source, data.source_mask)))[:, None]
    s = model.states(torch.from_numpy(data.inputs[:1, : step + 1]))[:, -1:]
    unread = mask.clone()
    unread[0, at] = False

    def ask(h_k: Tensor, h_v: Tensor, may: Tensor = mask) -> float:
        logits = model.read(s, h_k, h_v, may)[1][0, 0]
        return float(logits[her] - logits[him])

    return {
        "weight": float(model.read(s, h, h, mask)[0][0, 0, at]),
        "intact": ask(h, h),
        "unread": ask(h, h, unread),
        "value": ask(h, other),
        "key": ask(other, h),
        "both": ask(other, other),
    }


def one(config: LearningRead, corpus: TranslationCorpus, seed: int) -> dict[str, Any]:
    """Train one model and compare its weights with the gold alignment.

    Args:
        config: what is trained.
        corpus: of `corpus_of`.
        seed: of parameters and order.

    Returns:
        By metric one value, or a list; see `run`.
    """
    sizes = Sizes(len(corpus.source_vocabulary), len(corpus.target_vocabulary), config.width)
    model = ReadingTranslator.initial(sizes, seed=seed)
    test, running = batch(corpus, corpus.test), batch(corpus, (corpus.variant("running"),))
    links = gold(corpus.test, (*test.inputs.shape, test.source.shape[1]))
    curves: dict[str, list[float]] = {"hit": [], "mass": [], "nll": []}
    shown: list[Any] = []

    def watch(update: int) -> None:
        if update % config.every == 0:
            hit, mass = agreement(model.weights(test), links)
            nll = label_scores(model, test).nll
            for name, value in (("hit", hit.mean()), ("mass", mass.mean()), ("nll", nll)):
                curves[name].append(float(value))
        if update in (0, config.updates):
            shown.append(model.weights(running)[0].tolist())

    plan = Training(updates=config.updates, batch=config.batch, rate=config.rate)
    train(model, batch(corpus, corpus.train), plan, np.random.default_rng([seed, 1]), watch)
    return {
        **curves,
        "before": shown[0],
        "after": shown[1],
        **_by_part(model, corpus, test, links),
        "diagnosis": diagnose(model, corpus),
    }


def kind_at(example: Example, position: int) -> str:
    """Return what a source unit is, one of `KINDS`.

    Args:
        example: a sentence pair of one thing.
        position: of the unit.
    """
    event, item = example.event, example.event.items[0]
    units = (event.giver, event.time, event.verb, event.recipient, item.number)
    words = [*(unit.zh for unit in units), item.thing.measure, item.thing.zh]
    unit = example.source[position]
    return KINDS[words.index(unit)] if unit in words else "other"


def _by_part(
    model: ReadingTranslator, corpus: TranslationCorpus, test: Batch, links: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the agreement by what a word expresses, where the words look, and what the wrong ones had read."""
    alpha, linked = model.weights(test), links.any(axis=-1)
    hit, _ = agreement(alpha, links)
    scores = label_scores(model, test)
    hits = scores.hits
    right = hits[linked]
    looks = np.zeros((len(WRONG), len(KINDS)), dtype=int)
    shares: dict[str, list[float]] = {part: [] for part in WRONG}
    for (n, i), one_hit in zip(np.argwhere(linked), hit, strict=True):
        part = part_at(corpus.test[n], int(i))
        shares[part].append(float(one_hit))
        kind = kind_at(corpus.test[n], int(alpha[n, i].argmax()))
        looks[WRONG.index(part), KINDS.index(kind)] += 1
    equal = links / test.source_mask.sum(axis=1)[:, None, None]
    return {
        "parts": {part: float(np.mean(values)) for part, values in shares.items()},
        "looks": looks.tolist(),
        "exact": scores.all_right,
        "linked": len(hit),
        "wrong": int((~right).sum()),
        "wrong_on_gold": int((~right & (hit == 1)).sum()),
        "right_off_gold": int((right & (hit == 0)).sum()),
        "uniform": float(equal.sum(axis=-1)[linked].mean()),
    }


@memoised
def run(config: LearningRead) -> Record:
    """Train with every seed.

    Args:
        config: what is trained.

    Returns:
        Per seed, of the test part with true histories: `hit`, share of words with a gold link whose largest weight lies
        on one, `mass`, mean weight on the links, and `nll`, nats per token, every `every` updates from 0 on; after
        training `parts`, the hits by `fixed_translator.WRONG`; `looks`, counts of where their largest weight lies,
        `WRONG` by `KINDS`;
        `exact`, share of sentences with every label likeliest; of the `linked` words how many are `wrong`, how many of
        these had their largest weight on gold, and how many right ones had not; `uniform`, the mass that equal weights
        would have. `before` and `after`: weights of the running sentence, rows with EOS. `diagnosis`: of `diagnose`.
    """
    corpus = corpus_of(config)
    results = seeds.over(config.seeds, partial(one, config, corpus))
    return Record(
        name="learning_read",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics={name: [result[name] for result in results] for name in results[0]},
        data_hash=corpus.digest,
        versions=versions_of("numpy", "torch"),
    )
