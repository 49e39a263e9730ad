"""Whether a word's vector differs between contexts, and whether it differs by sense: before training and after.

The networks of `bank_models` learn the sense of `bank` from labels, on `text.bank_corpus`. Before and after, the same is
asked of test sentences that training never has: whether the vectors of `bank` in the two sentences of a pair differ,
whether the nearest vector of another sentence has the same sense, and whether the network's own answers are right for
both sentences of a pair. Afterwards the same answers are asked for pairs with new cue words. Section 4.2 of the course.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from onesentence.checks import checked_integer, checked_number
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments import seeds
from onesentence.experiments.bank_models import WAYS, BankReader, Way
from onesentence.numerics import FloatArray
from onesentence.text.bank_corpus import BankCorpus, BankSentence, Pair, bank_corpus, course_sentences
from onesentence.text.vocabulary import PAD, Vocabulary

Batch = tuple[Tensor, Tensor, Tensor]
"""Ids (B, T), mask (B, T), places of bank (B,)."""


@dataclass(frozen=True)
class BankSenses:
    """What is trained.

    Attributes:
        ways: networks.
        width: C of rows and states.
        radius: of the window; pairs whose cue is farther from `bank` are called far.
        held_out: test pairs.
        data: seed of the split, the same for all.
        updates, batch, rate: of Adam.
        seeds: of parameters and order of training.
    """

    ways: tuple[Way, ...] = WAYS
    width: int = 16
    radius: int = 2
    held_out: int = 60
    data: int = 0
    updates: int = 50
    batch: int = 32
    rate: float = 0.02
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.ways or not self.seeds:
            raise ValueError(f"ways and seeds must not be empty, got {self.ways} and {self.seeds}")
        if unknown := [way for way in self.ways if way not in WAYS]:
            raise ValueError(f"ways: expected some of {', '.join(WAYS)}, got {unknown[0]!r}")
        for name in ("width", "held_out", "updates", "batch", "radius"):
            checked_integer(name, getattr(self, name), 0)
        if self.width < 2 or self.width % 2:
            raise ValueError(f"width must be even and at least 2, got {self.width}")
        if checked_number("rate", self.rate) <= 0:
            raise ValueError(f"rate must be positive, got {self.rate}")
        if min(self.updates, self.batch, self.radius) < 1:
            raise ValueError(
                f"updates, batch and radius must be at least 1, got {self.updates}, {self.batch}, {self.radius}"
            )


@dataclass(frozen=True)
class Data:
    """The sentences and the number of each word.

    Attributes:
        corpus: of `bank_corpus`.
        vocabulary: of all its sentences.
    """

    corpus: BankCorpus
    vocabulary: Vocabulary

    def batch(self, sentences: Sequence[BankSentence]) -> Batch:
        """Return sentences as padded ids, mask and places of `bank`."""
        longest = max(len(one.tokens) for one in sentences)
        ids = np.full((len(sentences), longest), self.vocabulary.id(PAD))
        mask = np.zeros(ids.shape, dtype=bool)
        for row, one in enumerate(sentences):
            ids[row, : len(one.tokens)] = self.vocabulary.encode(one.tokens)
            mask[row, : len(one.tokens)] = True
        places = np.array([one.bank for one in sentences])
        return torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(places)


def data_of(config: BankSenses) -> Data:
    """Split the sentences of a configuration.

    Raises:
        ValueError: if there is no test pair within the radius, or none beyond it.
    """
    corpus = bank_corpus(np.random.default_rng(config.data), held_out=config.held_out)
    if len({pair[0].distance > config.radius for pair in corpus.test}) < 2:
        raise ValueError(
            f"held_out: expected test pairs within and beyond radius = {config.radius}, got {config.held_out} of one kind"
        )
    every = [*corpus.train, *_flat(corpus.test), *_flat(corpus.new), *course_sentences()]
    return Data(corpus, Vocabulary.from_sentences([s.tokens for s in every], specials=(PAD,), order="sorted"))


def train(model: BankReader, config: BankSenses, data: Data, rng: np.random.Generator) -> list[float]:
    """Train a network in place.

    Args:
        model: untrained.
        config: how.
        data: of `data_of`.
        rng: draws the batches.

    Returns:
        The loss of each update, nats.
    """
    batch = data.batch(data.corpus.train)
    labels = torch.tensor([one.sense for one in data.corpus.train])
    adam = torch.optim.Adam(model.parameters(), lr=config.rate, fused=True)
    losses = []
    for _ in range(config.updates):
        rows = torch.from_numpy(rng.permutation(len(labels))[: config.batch])
        loss = nn.functional.cross_entropy(model(*(part[rows] for part in batch)), labels[rows])
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        losses.append(loss.item())
    return losses


def same_sense(states: FloatArray, senses: FloatArray) -> float:
    """Return the share of vectors whose nearest other vector has their sense.

    Args:
        states: (N, C), N at least 2.
        senses: (N,).

    Raises:
        ValueError: if there are fewer than two vectors, one is not finite, or there is not a sense for each.

    Example:
        >>> same_sense(np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 0]))
        0.5
    """
    if len(states) < 2:
        raise ValueError(f"states: expected at least two, got {len(states)}")
    if states.ndim != 2 or len(senses) != len(states) or not np.isfinite(states).all():
        expected = f"({len(states)}, C), finite, with as many senses"
        raise ValueError(f"states must have shape {expected}, got {states.shape} and {len(senses)}")
    apart = np.linalg.norm(states[:, None] - states[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    return float((senses[apart.argmin(axis=1)] == senses).mean())


def two_axes(states: FloatArray) -> FloatArray:
    """Return vectors on the two axes along which they vary most, (N, 2).

    Args:
        states: (N, C).
    """
    centred = states - states.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    out: FloatArray = centred @ axes[:2].T
    return out


def ask(model: BankReader, config: BankSenses, data: Data) -> dict[str, Any]:
    """Ask a network as it stands about the test pairs; see `run` for what comes back."""
    pairs = data.corpus.test
    sentences = _flat(pairs)
    senses = np.array([one.sense for one in sentences])
    with torch.no_grad():
        states = model.states(*data.batch(sentences)).double().numpy()
        right = _right(model, data, pairs)
        new = _right(model, data, data.corpus.new)
        course = _right(model, data, (course_sentences(),))[0]
    far = np.array([pair[0].distance > config.radius for pair in pairs])
    between = np.linalg.norm(states[0::2] - states[1::2], axis=-1)
    return {
        "apart_near": float(between[~far].min()),
        "apart_far": float(between[far].min()),
        "apart_most": float(between[far].max()),
        "nearest": same_sense(states, senses),
        "near": float(right[~far].all(axis=1).mean()),
        "far": float(right[far].all(axis=1).mean()),
        "new": float(new.all(axis=1).mean()),
        "course": course.tolist(),
        "points": two_axes(states).tolist(),
        "readout": _readout(model, data, pairs),
    }


def one(case: tuple[Way, int], config: BankSenses, data: Data) -> dict[str, Any]:
    """Ask, train, ask again.

    Args:
        case: way and seed.
        config: the rest.
        data: of `data_of`.
    """
    way, seed = case
    model = BankReader.initial(way, len(data.vocabulary), C=config.width, radius=config.radius, seed=seed)
    before = ask(model, config, data)
    losses = train(model, config, data, np.random.default_rng([seed, 1]))
    return {"before": before, "after": ask(model, config, data), "loss": losses[-1]}


@memoised
def run(config: BankSenses) -> Record:
    """Train every network with every seed.

    Args:
        config: what is trained.

    Returns:
        Per seed a list over the ways, each name with `_before` or `_after` behind it. Of the test pairs: `apart_near` and
        `apart_far`, the smallest distance between the two vectors of a pair, by whether the cue is within `radius` of
        `bank`, `apart_most` the largest of the far ones; `nearest`, see `same_sense`; `near` and `far`, the share of
        pairs that are right in both sentences; `new`, that of pairs of new cue words; `course`, for each of the course's
        two sentences whether it is right; `readout`, the share of test pairs that a linear reader has right that is
        fitted to the vectors of the training sentences; `points`, the vectors on two axes, money and river by turns.
        `loss`, the last one of training, has nothing behind it.
    """
    data = data_of(config)
    cases = [(way, seed) for seed in config.seeds for way in config.ways]
    results = seeds.over(cases, partial(one, config=config, data=data))
    n = len(config.ways)
    rows = [results[i * n : (i + 1) * n] for i in range(len(config.seeds))]
    metrics: dict[str, list[Any]] = {"loss": [[r["loss"] for r in row] for row in rows]}
    for when in ("before", "after"):
        for name in results[0][when]:
            metrics[f"{name}_{when}"] = [[r[when][name] for r in row] for row in rows]
    return Record(
        name="bank_senses",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=metrics,
        versions=versions_of("numpy", "torch"),
    )


def _flat(pairs: Sequence[Pair]) -> list[BankSentence]:
    return [sentence for pair in pairs for sentence in pair]


def _right(model: BankReader, data: Data, pairs: Sequence[Pair]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return whether the network's answer is right for each sentence of each pair, (N, 2)."""
    sentences = _flat(pairs)
    answers = model(*data.batch(sentences)).argmax(dim=1).numpy()
    senses = np.array([sentence.sense for sentence in sentences])
    right: np.ndarray[Any, np.dtype[np.bool_]] = (answers == senses).reshape(-1, 2)
    return right


def _readout(model: BankReader, data: Data, pairs: Sequence[Pair]) -> float:
    """Fit money = -1, river = 1 by least squares to training and return the share of test pairs that it has right."""
    parts = []
    with torch.no_grad():
        for sentences in (data.corpus.train, _flat(pairs)):
            states = model.states(*data.batch(sentences)).double().numpy()
            parts.append(np.concatenate([states, np.ones((len(states), 1))], axis=1))
    signs = np.array([2.0 * sentence.sense - 1 for sentence in data.corpus.train])
    w = np.linalg.lstsq(parts[0], signs, rcond=1e-6)[0]
    wanted = np.array([sentence.sense for sentence in _flat(pairs)])
    return float(((parts[1] @ w > 0) == wanted).reshape(-1, 2).all(axis=1).mean())
