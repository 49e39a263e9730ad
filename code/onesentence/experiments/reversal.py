"""Six letters backwards: a fixed summary, a summary for each step, and a wider fixed one, over several seeds.

The data are drawn once; a seed draws the parameters and the order of training. `fixed` and `dynamic` of one seed begin
with the same numbers wherever both have them and see the same batches; `wide` is the fixed reader with every width but
the embedding's one larger, so that it has slightly more parameters than the dynamic one. Every trained reader is
written as safetensors beside the records and named by its hash.

Sections 3.10, 3.12 and 3.14 of the course, whose own two runs are not kept; configuration as far as it is told there,
the rest (batch, rate) as this book's trials chose it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import tempfile
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors.torch import load, save

from onesentence.evidence.records import Record, memoised, records_folder, versions_of
from onesentence.experiments.cases import by_case
from onesentence.seq2seq.batches import Batch, batch_of
from onesentence.seq2seq.evaluation import first_difference, labels_of, translate
from onesentence.seq2seq.reversal_model import First, ReaderConfig, SourceReader
from onesentence.seq2seq.training import Training, curve, label_scores, train
from onesentence.text.reversal import (
    VOCABULARY,
    Letters,
    ReversalData,
    backwards,
    reversal_corpus,
    target_tokens,
)
from onesentence.text.vocabulary import EOS

Reader = Literal["fixed", "dynamic", "wide"]


@dataclass(frozen=True)
class ReversalLab:
    """What is trained.

    Attributes:
        data: what is drawn.
        updates, batch, rate, clip: as `Training`; the default `clip` is beyond any norm here, so nothing is clipped.
        limit: largest number of choices per sequence, EOS among them.
        every: updates between two points of the loss curve.
        seeds: of `fixed` and `dynamic`.
        wide_seeds: of `wide`, none if empty.
    """

    data: ReversalData = field(default_factory=ReversalData)
    updates: int = 500
    batch: int = 32
    rate: float = 3e-3
    clip: float = 1e6
    limit: int = 10
    every: int = 50
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    wide_seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")
        if not set(self.wide_seeds) <= set(self.seeds):
            raise ValueError(f"wide_seeds must be among seeds = {self.seeds}, got {self.wide_seeds}")
        if self.every < 1 or self.updates % self.every:
            raise ValueError(f"every must divide updates = {self.updates}, got {self.every}")
        if self.limit <= self.data.longest:
            raise ValueError(f"limit must leave room for EOS behind {self.data.longest}, got {self.limit}")

    @property
    def training(self) -> Training:
        """How a reader is trained."""
        return Training.of(self)


@dataclass(frozen=True, eq=False)
class Parts:
    """Training and test as padded arrays, the test sources as they are, and the hash of all parts.

    Dev is drawn, so that the test part is what it would be with it, and used for nothing.
    """

    train: Batch
    test: Batch
    sources: tuple[Letters, ...]
    digest: str


def parts_of(data: ReversalData) -> Parts:
    """Draw the data."""
    corpus = reversal_corpus(data)
    read, asked = (
        batch_of([(s, backwards(s)) for s in part], VOCABULARY, VOCABULARY)
        for part in (corpus.train, corpus.test)
    )
    return Parts(read, asked, corpus.test, corpus.digest)


def reader_config(reader: Reader, first: First = "zero") -> ReaderConfig:
    """Return the sizes of a reader.

    Example:
        >>> from onesentence.seq2seq.reversal_model import parameter_count
        >>> [parameter_count(reader_config(reader)) for reader in ("fixed", "dynamic", "wide")]
        [15577, 16601, 16736]
    """
    wider = 1 if reader == "wide" else 0
    return ReaderConfig(
        source="dynamic" if reader == "dynamic" else "fixed",
        first=first,
        encoder=16 + wider,
        hidden=32 + wider,
    )


def trained(
    config: ReversalLab, parts: Parts, sizes: ReaderConfig, seed: int
) -> tuple[SourceReader, list[float]]:
    """Return a trained reader and the loss of each update."""
    model = SourceReader.initial(sizes, seed=seed)
    losses = train(model, parts.train, config.training, _order(seed))
    return model, losses


def measured(config: ReversalLab, parts: Parts, model: SourceReader) -> dict[str, Any]:
    """Measure a reader on the test part.

    Returns:
        `nll` and `accuracy` over all target tokens with true histories; `all_right`, share of sequences whose labels
        are likeliest throughout; `exact`, share of sequences that free greedy generation has right, EOS included;
        `ended`, the share it ends by itself; `first_failure`, the index of the first wrong one, None if there is none;
        `by_length`, rows (length, sequences, wrong); `by_position`, rows (position from 1, sequences that are right
        before it, of those wrong there).
    """
    scores = label_scores(model, parts.test)
    written = translate(model, parts.test, eos=VOCABULARY.id(EOS), limit=config.limit)
    labels = labels_of(parts.test)
    firsts = [first_difference(one.ids, two) for one, two in zip(written, labels, strict=True)]
    wrong = [i for i, first in enumerate(firsts) if first is not None]
    return {
        "nll": scores.nll,
        "accuracy": scores.accuracy,
        "tokens": int(parts.test.mask.sum()),
        "all_right": scores.all_right,
        "exact": 1 - len(wrong) / len(firsts),
        "ended": float(np.mean([row.ended for row in written])),
        "first_failure": wrong[0] if wrong else None,
        "by_length": _by_length(parts.sources, wrong),
        "by_position": _by_position([len(row) for row in labels], firsts),
    }


def train_one(config: ReversalLab, parts: Parts, case: tuple[Reader, First, int]) -> dict[str, Any]:
    """Train a reader, write it, measure it.

    Args:
        config: what is trained.
        parts: of `parts_of`.
        case: reader, first query, seed.

    Returns:
        What `measured` gives; `loss`, mean training loss of every `every` updates; `seen`, target tokens of all
        updates; `checkpoint`, the hash that the written file is named by.
    """
    reader, first, seed = case
    model, losses = trained(config, parts, reader_config(reader, first), seed)
    return {
        **measured(config, parts, model),
        "loss": curve(losses, config.every),
        "seen": tokens_seen(parts.train.mask.sum(axis=1), config.training, _order(seed)),
        "checkpoint": write_checkpoint(model),
    }


@memoised
def run(config: ReversalLab) -> Record:
    """Train all readers with all seeds.

    Args:
        config: what is trained.

    Returns:
        Metrics named `<reader>_<metric>`, the metrics those of `train_one`; None for seeds that `wide` was not given.
    """
    parts = parts_of(config.data)
    cases = {reader: (reader, "zero") for reader in get_args(Reader)}
    left_out = {("wide", seed) for seed in config.seeds if seed not in config.wide_seeds}
    return Record(
        name="reversal",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_case(cases, config.seeds, partial(train_one, config, parts), left_out=left_out),
        data_hash=parts.digest,
        versions=versions_of("numpy", "torch", "safetensors"),
    )


def tokens_seen(lengths: ArrayLike, plan: Training, rng: np.random.Generator) -> int:
    """Return how many target tokens the updates of `train` see with this generator.

    Args:
        lengths: target tokens of each training sequence, EOS counted.
        plan: of the training.
        rng: in the state that `train` was given it in.
    """
    sizes = np.asarray(lengths)
    total, left = 0, plan.updates
    while left:
        order = rng.permutation(len(sizes))
        now = min(left, ceil(len(sizes) / plan.batch))
        total += int(sizes[order[: now * plan.batch]].sum())
        left -= now
    return total


def drawn_counts(config: ReversalLab, draws: int, *, repeats: bool) -> NDArray[np.int64]:
    """Count target tokens, EOS among them, of data drawn with other seeds; nothing is trained.

    Args:
        config: sizes and training.
        draws: how many data sets, with the seeds from 0 on.
        repeats: whether a sequence may come again.

    Returns:
        Of the test part and of what all updates see, (draws, 2).
    """
    rows = []
    for seed in range(draws):
        corpus = reversal_corpus(dataclasses.replace(config.data, seed=seed, repeats=repeats))
        lengths = [len(source) + 1 for source in corpus.train]
        rows.append((target_tokens(corpus.test), tokens_seen(lengths, config.training, _order(seed))))
    return np.array(rows)


def checkpoint_file(digest: str) -> Path:
    """Return where the reader with this hash is kept."""
    return records_folder() / f"reversal-{digest[:24]}.safetensors"


def write_checkpoint(model: SourceReader) -> str:
    """Write a reader's parameters as safetensors and return the SHA-256 of the file."""
    content = save({name: value.contiguous() for name, value in model.state_dict().items()})
    digest = hashlib.sha256(content).hexdigest()
    file = checkpoint_file(digest)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=file.parent, suffix=".part", delete=False) as draft:
        draft.write(content)
    os.replace(draft.name, file)
    return digest


def read_checkpoint(file: Path, sizes: ReaderConfig) -> SourceReader:
    """Return the reader that a file holds.

    Args:
        file: written by `write_checkpoint`.
        sizes: of that reader.

    Raises:
        FileNotFoundError: if there is no such file.
        RuntimeError: if its parameters are of other names or sizes.
        safetensors.SafetensorError: if it is no safetensors file.
    """
    model = SourceReader.initial(sizes, seed=0)
    model.load_state_dict(load(file.read_bytes()))
    return model


def _order(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 1])


def _by_length(sources: tuple[Letters, ...], wrong: list[int]) -> list[tuple[int, int, int]]:
    lengths = [len(source) for source in sources]
    failed = [lengths[i] for i in wrong]
    return [(n, lengths.count(n), failed.count(n)) for n in sorted(set(lengths))]


def _by_position(sizes: list[int], firsts: list[int | None]) -> list[tuple[int, int, int]]:
    """Return rows (position from 1, sequences right before it, of those wrong there) up to the longest label."""
    rows = []
    for at in range(max(sizes)):
        there = [
            first
            for size, first in zip(sizes, firsts, strict=True)
            if at < size and (first is None or first >= at)
        ]
        rows.append((at + 1, len(there), there.count(at)))
    return rows
