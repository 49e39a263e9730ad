"""Does a read learn to answer the query? Four scorers on a task that the query decides.

A story has `slots` places, each with a key of its own and an item of its own; the question names one of the keys, the
answer is the item at its place. So the same story has as many answers as keys, and whoever does not look at the query
gives one answer to all of them and is right once per story: with items that are all different, a model whose weights do
not depend on the query is right on 1 in `slots` at most, whatever its parameters.

    e = scorer(E_q[question], E_k[keys]),  c = softmax(e) E_v[items],  p = softmax(c G)

The query reaches the answer through the weights only. Forward and backward pass are those of `attention`, nothing is
differentiated by a library. Section 3.4 of the course; the task is the book's own.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesentence.attention.gradient import weighted_sum_gradients
from onesentence.attention.scorers import Additive, Dot, General, Linear, Scorer
from onesentence.checks import checked_integer
from onesentence.embed.optim import Adam
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.cases import by_seed
from onesentence.numerics import FloatArray, softmax, token_loss_gradients, token_losses

Ids = NDArray[np.int64]

SCORERS = ("linear", "dot", "general", "additive")


@dataclass(frozen=True)
class Retrieval:
    """What is trained.

    Attributes:
        scorers: names in `SCORERS`.
        keys: number of different keys.
        slots: places of a story.
        items: number of different items. With as many as slots, all stand in every story, and the one that is not read
            is known from those that are.
        width: of queries, keys and values, and of the additive scorer's hidden layer.
        updates: steps of Adam.
        batch: stories per update, each with one question.
        rate: of Adam.
        asked: stories in the test, each with every question that it has.
        seeds: each draws parameters and stories.
    """

    scorers: tuple[str, ...] = SCORERS
    keys: int = 8
    slots: int = 4
    items: int = 4
    width: int = 16
    updates: int = 200
    batch: int = 32
    rate: float = 0.02
    asked: int = 200
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.scorers or not set(self.scorers) <= set(SCORERS):
            raise ValueError(f"scorers: expected some of {', '.join(SCORERS)}, got {self.scorers}")
        if not 2 <= self.slots <= self.keys:
            raise ValueError(f"slots must lie in [2, keys = {self.keys}], got {self.slots}")
        if self.items < self.slots:
            raise ValueError(f"items must be at least slots = {self.slots}, got {self.items}")
        for name in ("width", "updates", "batch", "asked"):
            checked_integer(name, getattr(self, name), 1)
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")


def stories(config: Retrieval, count: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Return keys and items, both (count, slots) and without repetition in a story.

    Args:
        config: sizes.
        count: how many stories.
        rng: draws them.
    """
    keys, items = (np.argsort(rng.random((count, n)), axis=1) for n in (config.keys, config.items))
    return keys[:, : config.slots], items[:, : config.slots]


def scorer_of(name: str, width: int, rng: np.random.Generator) -> Scorer:
    """Return a scorer with parameters drawn so that no sum grows with the width.

    Args:
        name: one of `SCORERS`.
        width: of queries, keys and hidden layer.
        rng: draws them.

    Raises:
        ValueError: if there is no such scorer.
    """

    def matrix() -> FloatArray:
        return np.asarray(rng.normal(size=(width, width)) / np.sqrt(width))

    def vector() -> FloatArray:
        return np.asarray(rng.normal(size=width) / np.sqrt(width))

    if name == "linear":
        return Linear(w_q=vector(), w_k=vector(), b=np.zeros(()))
    if name == "dot":
        return Dot(width, scale=None)
    if name == "general":
        return General(matrix() / np.sqrt(width))
    if name == "additive":
        return Additive(W=matrix(), U=matrix(), b=np.zeros(width), v=vector())
    raise ValueError(f"name: expected one of {', '.join(SCORERS)}, got {name!r}")


@dataclass(frozen=True, eq=False)
class Retriever:
    """Three tables, a scorer, an output.

    Attributes:
        scorer: how queries meet keys.
        E_q: queries, (keys, width).
        E_k: keys, (keys, width).
        E_v: values, (items, width).
        G: output, (width, items).
    """

    scorer: Scorer
    E_q: FloatArray
    E_k: FloatArray
    E_v: FloatArray
    G: FloatArray

    @classmethod
    def initial(cls, config: Retrieval, name: str, rng: np.random.Generator) -> Retriever:
        """Draw all parameters.

        Args:
            config: sizes.
            name: of the scorer.
            rng: draws them.
        """
        d = config.width
        E_q, E_k, E_v = (rng.normal(size=(rows, d)) for rows in (config.keys, config.keys, config.items))
        return cls(scorer_of(name, d, rng), E_q, E_k, E_v, rng.normal(size=(d, config.items)) / np.sqrt(d))

    def parameters(self) -> dict[str, FloatArray]:
        """Return all arrays by name, not copies; the scorer's behind a `scorer.`."""
        own = {"E_q": self.E_q, "E_k": self.E_k, "E_v": self.E_v, "G": self.G}
        return own | {f"scorer.{name}": x for name, x in self.scorer.parameters().items()}

    def forward(self, question: Ids, keys: Ids, items: Ids) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights (B, T, S), contexts (B, T, width) and logits (B, T, items) for questions (B, T)."""
        alpha = softmax(self.scorer.scores(self.E_q[question], self.E_k[keys]))
        c = alpha @ self.E_v[items]
        return alpha, c, c @ self.G

    def gradients(
        self, question: Ids, keys: Ids, items: Ids, answer: Ids
    ) -> tuple[float, dict[str, FloatArray]]:
        """Return the mean loss in nats and its gradient by every parameter.

        Args:
            question: keys asked for, (B, T).
            keys: of the places, (B, S).
            items: at the places, (B, S).
            answer: items, (B, T).
        """
        alpha, c, logits = self.forward(question, keys, items)
        dlogits = token_loss_gradients(logits, answer) / answer.size
        g = dlogits @ self.G.T
        de, dv = weighted_sum_gradients(alpha, self.E_v[items], g)
        of = self.scorer.backward(self.E_q[question], self.E_k[keys], de)
        gradients = {name: np.zeros_like(x) for name, x in self.parameters().items()}
        for name, ids, gradient in (("E_q", question, of.q), ("E_k", keys, of.k), ("E_v", items, dv)):
            np.add.at(gradients[name], ids, gradient)
        gradients["G"] = np.einsum("btd,btv->dv", c, dlogits)
        gradients |= {f"scorer.{name}": x for name, x in of.parameters.items()}
        return float(token_losses(logits, answer).mean()), gradients


def train(config: Retrieval, name: str, seed: int) -> Retriever:
    """Return a trained model.

    Args:
        config: what is trained.
        name: of the scorer.
        seed: of parameters and stories.
    """
    rng = np.random.default_rng([seed, 0])
    model = Retriever.initial(config, name, np.random.default_rng([seed, 1]))
    adam, rows = Adam(rate=config.rate), np.arange(config.batch)
    for _ in range(config.updates):
        keys, items = stories(config, config.batch, rng)
        place = rng.integers(config.slots, size=config.batch)
        asked, answer = keys[rows, place], items[rows, place]
        _, gradients = model.gradients(asked[:, None], keys, items, answer[:, None])
        adam.step(model.parameters(), gradients)
    return model


def one(config: Retrieval, case: tuple[str, int]) -> dict[str, Any]:
    """Train one model and ask it every question of stories that it never saw.

    Args:
        config: what is trained.
        case: scorer and seed.

    Returns:
        `right`, share of questions; `loss`, mean in nats; `moved`, the largest difference between the weights of two
        questions about one story; `placed`, the mean weight of the place asked for; `weights`, (questions, places) for
        the first story.
    """
    name, seed = case
    model = train(config, name, seed)
    keys, items = stories(config, config.asked, np.random.default_rng([seed, 2]))
    alpha, _, logits = model.forward(keys, keys, items)  # the questions in the order of the places
    return {
        "right": float((logits.argmax(axis=-1) == items).mean()),
        "loss": float(token_losses(logits, items).mean()),
        "moved": float(np.ptp(alpha, axis=1).max()),
        "placed": float(np.diagonal(alpha, axis1=1, axis2=2).mean()),
        "weights": alpha[0].tolist(),
    }


@memoised
def run(config: Retrieval) -> Record:
    """Train every scorer with every seed.

    Args:
        config: what is trained.

    Returns:
        By metric of `one` a list over seeds of lists over scorers.
    """
    return Record(
        name="linear_scorer",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_seed([config.scorers], config.seeds, partial(one, config)),
        versions=versions_of("numpy"),
    )
