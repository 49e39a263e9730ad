"""Reading translators trained on the generated corpus: where they read, and what happens when a unit is taken away.

Corpus and parts are those of `fixed_translator`; the encoder reads in both directions. The training never sees an
alignment. Against the gold alignment of the test part stand the weights, read with true histories: how often the
largest one of a target word lies on a unit aligned to it, and how much weight all such units have. For the running
sentence three interventions at each unit, the loss of each target word with and without it:

    unread    the unit may not be read; the encoder has seen it, so its neighbours' states and c_src still know of it
    deleted   the unit is not in the source at all; the rest is no sentence of the grammar, so off its distribution
    replaced  another word of its kind stands there; such sentences occur, and the answer is then another one

Section 3.9 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import torch

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.cases import by_seed
from onesentence.experiments.fixed_translator import Data, FixedTranslator, data_of, part_at
from onesentence.generate.exact_match import ExactMatch
from onesentence.numerics import FloatArray
from onesentence.seq2seq.agreement import agreement, gold_of
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.evaluation import exact_of, translate
from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.seq2seq.training import Training, label_scores, train
from onesentence.text.translation_corpus import TranslationCorpus
from onesentence.text.vocabulary import EOS

REPLACEMENTS: tuple[tuple[str, str], ...] = (
    ("我", "你"),
    ("昨天", "上周"),
    ("给", "借给"),
    ("他", "她"),
    ("一", "两"),
    ("书", "词典"),
)
"""Units of the running sentence and another of their kind; 书 and 词典 have one measure word."""


@dataclass(frozen=True)
class Alignment:
    """What is trained.

    Attributes:
        corpus: sizes and seed of the corpus; nothing else of it is used.
        width: of embeddings and states, of each direction.
        updates, batch, rate, clip: as `Training`.
        limit: largest number of choices per sentence.
        seeds: of parameters and order.
    """

    corpus: FixedTranslator = field(default_factory=FixedTranslator)
    width: int = 64
    updates: int = 250
    batch: int = 64
    rate: float = 7e-3
    clip: float = 1.0
    limit: int = 20
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")
        if self.limit < 1:
            raise ValueError(f"limit must be at least 1, got {self.limit}")


def model_of(config: Alignment, corpus: TranslationCorpus, seed: int) -> Reading:
    """Return a translator before training."""
    sizes = ReadingConfig.over(
        corpus.source_vocabulary, corpus.target_vocabulary, width=config.width, two_way=True
    )
    return Reading.initial(sizes, seed=seed)


def occlusion(model: Reading, row: Batch, at: int, kind: Literal["unread", "deleted"]) -> FloatArray:
    """Return what hiding one unit adds to the loss of each label, in nats.

    Args:
        model: the translator.
        row: one sentence without padding.
        at: position of the unit.
        kind: whether it may only not be read, or is not in the source.

    Returns:
        (T,); negative where the label has become likelier.

    Raises:
        ValueError: if there is more than one sentence, or the position lies outside.
    """
    if len(row) != 1 or not 0 <= at < row.source.shape[1]:
        raise ValueError(
            f"at must lie in [0, {row.source.shape[1]}) of one sentence, got {at} of {len(row)} sentences"
        )
    source, real = torch.from_numpy(row.source), torch.from_numpy(row.source_mask)
    shown = torch.arange(source.shape[1]) != at
    if kind == "unread":
        return _losses(model, row, source, real, shown[None]) - _losses(model, row, source, real)
    return _losses(model, row, source[:, shown], real[:, shown]) - _losses(model, row, source, real)


def train_one(config: Alignment, data: Data, case: tuple[int]) -> dict[str, Any]:
    """Train one translator and measure it; see `run`.

    Args:
        config: what is trained.
        data: of `fixed_translator.data_of`.
        case: the seed.
    """
    (seed,) = case
    model = model_of(config, data.corpus, seed)
    before = _agreement(model, data)
    train(model, data.train, Training.of(config), np.random.default_rng([seed, 1]))
    after = _agreement(model, data)
    row = data.running.rows([0])
    units = range(row.source.shape[1])
    return {
        "nll": label_scores(model, data.test).nll,
        "exact": _exact(config, model, data, data.test).share,
        "running": _exact(config, model, data, row).hits == 1,
        "hits": after["hits"],
        "mass": after["mass"],
        "hits_before": before["hits"],
        "by_part": after["by_part"],
        "weights": _weights(model, row)[0].tolist(),
        "unread": np.stack([occlusion(model, row, j, "unread") for j in units], axis=1).tolist(),
        "deleted": np.stack([occlusion(model, row, j, "deleted") for j in units], axis=1).tolist(),
        "replaced": _replaced(model, data, row).tolist(),
    }


@memoised
def run(config: Alignment) -> Record:
    """Train a translator with every seed.

    Args:
        config: what is trained.

    Returns:
        Of the test part: `nll`, nats per label with true histories; `exact`, share of sentences generated greedily;
        `hits` and `mass`, means of `agreement` over its target words, `hits_before` the same before training, `by_part`
        the hits as (right, all) by what the word expresses. Of the running sentence: `running`, whether it is generated
        exactly; `weights`, (T, S) with EOS last; `unread` and `deleted`, what `occlusion` of each unit adds to each
        loss, (T, S); `replaced`, the same for `REPLACEMENTS`, (T, 6).
    """
    data = data_of(config.corpus)
    return Record(
        name="alignment",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_seed([], config.seeds, partial(train_one, config, data)),
        data_hash=data.corpus.digest,
        versions=versions_of("numpy", "torch"),
    )


def _weights(model: Reading, data: Batch) -> FloatArray:
    return model.read_weights(*map(torch.from_numpy, (data.source, data.source_mask, data.inputs))).numpy()


def _exact(config: Alignment, model: Reading, data: Data, part: Batch) -> ExactMatch:
    eos = data.corpus.target_vocabulary.id(EOS)
    return exact_of(translate(model, part, eos=eos, limit=config.limit), part)


def _agreement(model: Reading, data: Data) -> dict[str, Any]:
    hits: list[bool] = []
    mass: list[float] = []
    by_part: dict[str, list[int]] = {}
    for example, weights in zip(data.corpus.test, _weights(model, data.test), strict=True):
        gold = gold_of(example.pair)
        right, share = agreement(weights[: gold.shape[0], : gold.shape[1]], gold)
        hits += right.tolist()
        mass += share.tolist()
        for i, hit in zip(np.flatnonzero(gold.any(axis=1)), right, strict=True):
            counts = by_part.setdefault(part_at(example, int(i)), [0, 0])
            counts[0] += int(hit)
            counts[1] += 1
    return {"hits": float(np.mean(hits)), "mass": float(np.mean(mass)), "by_part": by_part}


@torch.no_grad()
def _losses(
    model: Reading,
    row: Batch,
    source: torch.Tensor,
    real: torch.Tensor,
    may_read: torch.Tensor | None = None,
) -> FloatArray:
    """Return -ln p of each label of one sentence, (T,)."""
    logits, _ = model.run(source, real, torch.from_numpy(row.inputs), may_read)
    return torch.nn.functional.cross_entropy(
        logits[0].double(), torch.from_numpy(row.labels)[0], reduction="none"
    ).numpy()


def _replaced(model: Reading, data: Data, row: Batch) -> FloatArray:
    """Return what each of `REPLACEMENTS` adds to the loss of each label, (T, 6)."""
    words = data.corpus.source_vocabulary
    source, real = torch.from_numpy(row.source), torch.from_numpy(row.source_mask)
    columns = []
    for old, new in REPLACEMENTS:
        changed = torch.where(source == words.id(old), words.id(new), source)
        columns.append(_losses(model, row, changed, real) - _losses(model, row, source, real))
    return np.stack(columns, axis=1)
