"""Source order against interface: four cells, trained alike on one word-for-word task of fixed length.

Order: the encoder reads the source as it is, or from its end; the target keeps its order in all cells. Interface: a
fixed summary that sets the decoder's first state (`seq2seq.fixed_summary`, `initial`), or the same with a reading at
each step (`seq2seq.reading`). Both encoders are one LSTM from left to right, of one width. Data, updates, batches, rate
and seeds are shared; reading has more parameters, so the columns are not of equal capacity and only the rows within a
column differ in nothing but the order. Data: `text.clauses`, three clauses, 17 words on each side.

The design of section 3.11 of the course, on constructed sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.cases import by_case
from onesentence.numerics import FloatArray
from onesentence.seq2seq.batches import Batch, batch_of
from onesentence.seq2seq.evaluation import Generative, labels_of, translate
from onesentence.seq2seq.fixed_summary import FixedSummary, FixedSummaryConfig
from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.seq2seq.source_order import reversed_source
from onesentence.seq2seq.training import Training, curve, label_scores, train
from onesentence.text.clauses import clause_pairs
from onesentence.text.parallel import ParallelPair
from onesentence.text.vocabulary import EOS, SPECIALS, Vocabulary

Order = Literal["forward", "reversed"]
Way = Literal["fixed", "reading"]
ORDERS: tuple[Order, ...] = ("forward", "reversed")
WAYS: tuple[Way, ...] = ("fixed", "reading")


@dataclass(frozen=True)
class OrderByInterface:
    """What is trained.

    Attributes:
        pairs, test: sentences of training and test.
        clauses: of each sentence.
        data: seed of the sentences.
        ways: interfaces to train.
        width: of embeddings and states.
        forget_bias: what the LSTMs' forget gates start with; None leaves them as PyTorch draws them, near 0.
        updates, batch, rate, clip: as `Training`.
        every: updates that a point of the loss curve is the mean of.
        seeds: of parameters and order of training.
    """

    pairs: int = 3000
    test: int = 300
    clauses: int = 3
    data: int = 11
    ways: tuple[Way, ...] = WAYS
    width: int = 64
    forget_bias: float | None = None
    updates: int = 250
    batch: int = 16
    rate: float = 7e-3
    clip: float = 1.0
    every: int = 25
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.seeds or not self.ways:
            raise ValueError(f"seeds and ways must not be empty, got {self.seeds} and {self.ways}")
        if self.pairs < 1 or self.test < 1:
            raise ValueError(f"pairs and test must be at least 1, got {self.pairs} and {self.test}")
        if self.every < 1 or self.updates % self.every:
            raise ValueError(f"every must divide updates = {self.updates}, got {self.every}")


@dataclass(frozen=True, eq=False)
class Data:
    """Pairs in the given order, and both orders as padded arrays.

    Attributes:
        train_pairs, test_pairs: with the source as it is.
        source, target: vocabularies of all of them.
        train, test: by order.
    """

    train_pairs: tuple[ParallelPair, ...]
    test_pairs: tuple[ParallelPair, ...]
    source: Vocabulary
    target: Vocabulary
    train: dict[str, Batch]
    test: dict[str, Batch]


def data_of(config: OrderByInterface) -> Data:
    """Draw the sentences of a configuration; the test sentences do not occur in training."""
    rng = np.random.default_rng(config.data)
    train_pairs = clause_pairs(config.pairs, rng, clauses=config.clauses)
    known = {pair.source for pair in train_pairs}
    test_pairs: list[ParallelPair] = []
    while len(test_pairs) < config.test:
        (pair,) = clause_pairs(1, rng, clauses=config.clauses)
        if pair.source not in known:
            test_pairs.append(pair)
    both = (*train_pairs, *test_pairs)
    source = Vocabulary.from_sentences([p.source for p in both], specials=SPECIALS, order="sorted")
    target = Vocabulary.from_sentences([p.target for p in both], specials=SPECIALS, order="sorted")

    def batches(pairs: tuple[ParallelPair, ...]) -> dict[str, Batch]:
        turned = {"forward": pairs, "reversed": tuple(map(reversed_source, pairs))}
        return {
            order: batch_of([(p.source, p.target) for p in some], source, target)
            for order, some in turned.items()
        }

    kept = tuple(test_pairs)
    return Data(train_pairs, kept, source, target, batches(train_pairs), batches(kept))


def model_of(config: OrderByInterface, data: Data, way: Way, seed: int) -> FixedSummary | Reading:
    """Return a translator before training."""
    sizes: dict[str, Any] = {"width": config.width, "forget_bias": config.forget_bias}
    if way == "fixed":
        return FixedSummary.initial(FixedSummaryConfig.over(data.source, data.target, **sizes), seed=seed)
    return Reading.initial(ReadingConfig.over(data.source, data.target, **sizes), seed=seed)


def content(config: OrderByInterface) -> list[int]:
    """Return the target positions, from 0, that hold a word: neither comma nor EOS.

    Example:
        >>> content(OrderByInterface(clauses=2))
        [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    """
    return [i for i in range(6 * config.clauses - 1) if i % 6 != 5]


def most_frequent(data: Data) -> FloatArray:
    """Return the share of test labels that are the commonest word of their position in training, (T,)."""
    train_words = np.array([p.target for p in data.train_pairs])
    test_words = np.array([p.target for p in data.test_pairs])
    shares = []
    for column, asked in zip(train_words.T, test_words.T, strict=True):
        words, counts = np.unique(column, return_counts=True)
        shares.append(float(np.mean(asked == words[counts.argmax()])))
    return np.array(shares)


def order_effect(metrics: Mapping[str, Sequence[Any]], way: Way, name: str = "words") -> FloatArray:
    """Return what reversing the source adds to a metric, one value a seed.

    Args:
        metrics: of a record of `run`.
        way: interface.
        name: metric with one value a seed.

    Example:
        >>> order_effect({"forward_fixed_words": [0.1, 0.25], "reversed_fixed_words": [0.35, 0.5]}, "fixed")
        array([0.25, 0.25])
    """
    there, back = (np.asarray(metrics[f"{order}_{way}_{name}"], dtype=float) for order in ORDERS)
    effect: FloatArray = back - there
    return effect


def train_one(config: OrderByInterface, data: Data, case: tuple[Order, Way, int]) -> dict[str, Any]:
    """Train one translator and measure it; see `run`.

    Args:
        config: what is trained.
        data: of `data_of`.
        case: order, interface and seed.
    """
    order, way, seed = case
    model = model_of(config, data, way, seed)
    losses = train(model, data.train[order], Training.of(config), np.random.default_rng([seed, 1]))
    test = data.test[order]
    right = _right(model, test, data.target.id(EOS))
    return {
        "loss": curve(losses, config.every),
        "nll": label_scores(model, test).nll,
        "positions": right.mean(axis=0).tolist(),
        "words": float(right[:, content(config)].mean()),
        "exact": float(right.all(axis=1).mean()),
    }


@memoised
def run(config: OrderByInterface) -> Record:
    """Train the four cells with every seed.

    Args:
        config: what is trained.

    Returns:
        Metrics named `<order>_<way>_<metric>`. `loss`: mean training loss of every `every` updates. Of the test part:
        `nll`, nats per label with true histories; of greedy generation, position by position against the reference,
        `positions`, share right at each target position, EOS last; `words`, share right of the positions of `content`;
        `exact`, share of whole sentences.
    """
    data = data_of(config)
    cases = {f"{order}_{way}": (order, way) for order in ORDERS for way in config.ways}
    return Record(
        name="order_by_interface",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_case(cases, config.seeds, partial(train_one, config, data)),
        versions=versions_of("numpy", "torch"),
    )


def _right(model: Generative, test: Batch, eos: int) -> FloatArray:
    """Return 1 where greedy generation has the label at its position, (N, T)."""
    limit = test.labels.shape[1]
    written = translate(model, test, eos=eos, limit=limit)
    rows = [(*row.ids, *[-1] * (limit - len(row.ids))) for row in written]
    right: FloatArray = (np.array(rows) == np.array(labels_of(test))).astype(float)
    return right
