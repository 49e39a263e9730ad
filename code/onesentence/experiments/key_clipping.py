"""Clipping by norm under plain gradient descent: starts of W_h from contracting to expanding, with and without.

A tanh RNN with hand-written gradients reads the pairs of `text.key_pairs`. W_h starts as `gain` times a random orthogonal
matrix, the same one for every gain, and the embeddings are small, so that tanh hardly bends and the gain alone says
whether products of Jacobians shrink or grow.

The rate and the size of the embeddings were chosen. Of the combinations of gains 0.5 to 3, rates 0.1 to 2 and embeddings
0.1 and 1, three seeds each, clipping changed how many seeds learnt in a third; in none with a gain of 0.5 or 3 or a rate
of 2. The page repeats the scan for a gain of 1. The results stand for a regime, not for RNNs in general.

Section 2.11 of the course.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from onesentence.checks import Ids
from onesentence.embed.optim import SGD
from onesentence.evidence.records import Record, memoised, versions_of
from onesentence.experiments.cases import by_seed
from onesentence.numerics import FloatArray, token_loss_gradients, token_losses
from onesentence.recurrent.clipping import clip_norm, global_norm
from onesentence.recurrent.rnn import RNN
from onesentence.text.key_pairs import TOKENS, key_pairs, pairs_right


@dataclass(frozen=True, eq=False)
class Reader:
    """Embeddings, a tanh RNN, two scores from its last state.

    Attributes:
        E: embeddings, (V, d).
        cell: the RNN.
        W_y: (2, H).
    """

    E: FloatArray
    cell: RNN
    W_y: FloatArray

    @classmethod
    def initial(
        cls, *, gain: float, inputs: float, embedding: int, hidden: int, rng: np.random.Generator
    ) -> Reader:
        """Draw a reader whose W_h is `gain` times an orthogonal matrix, biases 0.

        Args:
            gain: every singular value of W_h.
            inputs: standard deviation of the embeddings.
            embedding: d.
            hidden: H.
            rng: source of all randomness.
        """
        orthogonal = np.linalg.qr(rng.normal(size=(hidden, hidden)))[0]
        W_x = rng.uniform(-1, 1, (hidden, embedding)) / np.sqrt(hidden)
        E = inputs * rng.normal(size=(len(TOKENS), embedding))
        W_y = rng.normal(size=(2, hidden)) / np.sqrt(hidden)
        return cls(E=E, cell=RNN(W_x=W_x, W_h=gain * orthogonal, b=np.zeros(hidden)), W_y=W_y)

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        return {"E": self.E, **self.cell.parameters(), "W_y": self.W_y}

    def scores(self, stories: Ids) -> FloatArray:
        """Return scores of red and blue, (..., 2), for ids (..., T)."""
        return self.cell.run(self.E[stories]).last[0] @ self.W_y.T

    def gradients(self, stories: Ids) -> tuple[float, dict[str, FloatArray]]:
        """Return the mean loss in nats over pairs (pairs, 2, T), and its gradient by the names of `parameters`."""
        labels = np.tile([0, 1], (len(stories), 1))
        trace = self.cell.run(self.E[stories])
        scores = trace.last[0] @ self.W_y.T
        e = token_loss_gradients(scores, labels) / labels.size
        dh = np.zeros_like(trace.h)
        dh[..., -1, :] = e @ self.W_y  # only the last state is read
        back = self.cell.backward(trace, dh)
        dE = np.zeros_like(self.E)
        np.add.at(dE, stories, back.x)
        dW_y = np.einsum("pki,pkh->ih", e, trace.last[0])
        loss = float(token_losses(scores, labels).mean())
        return loss, {"E": dE, **back.parameters, "W_y": dW_y}


@dataclass(frozen=True)
class Clipping:
    """What is trained.

    Attributes:
        gains: singular values of W_h at the start.
        threshold: of clipping by norm; every gain is trained with and without.
        inputs: standard deviation of the embeddings.
        events: between fact and question, five tokens each.
        embedding: d.
        hidden: H.
        pairs: pairs per step.
        updates: steps of gradient descent.
        rate: step size.
        asked: pairs in the test.
        seeds: each draws a start and stories.
    """

    gains: tuple[float, ...] = (0.5, 1.0, 3.0)
    threshold: float = 1.0
    inputs: float = 0.1
    events: int = 3
    embedding: int = 8
    hidden: int = 16
    pairs: int = 8
    updates: int = 80
    rate: float = 0.1
    asked: int = 100
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    def __post_init__(self) -> None:
        if not self.gains or min(self.gains) <= 0:
            raise ValueError(f"gains must be positive, got {self.gains}")
        if not self.seeds:
            raise ValueError("seeds: expected at least one, got none")


def start(config: Clipping, gain: float, seed: int) -> Reader:
    """Return an untrained reader.

    Args:
        config: sizes.
        gain: singular value of W_h.
        seed: of the start; the same orthogonal matrix for every gain.
    """
    rng = np.random.default_rng([seed, 0])
    return Reader.initial(
        gain=gain, inputs=config.inputs, embedding=config.embedding, hidden=config.hidden, rng=rng
    )


def one(case: tuple[float, bool, int], config: Clipping) -> dict[str, Any]:
    """Train one reader.

    Args:
        case: gain, whether to clip, seed.
        config: the rest.

    Returns:
        `right`, share of the test pairs; `norms` before clipping, one per update; of these the `largest`, the `median`
        and the share `over` the threshold; `loss`, mean of the last ten updates in nats.
    """
    gain, clip, seed = case
    reader, rng = start(config, gain, seed), np.random.default_rng([seed, 1])
    sgd, norms, losses = SGD(rate=config.rate), [], []
    for _ in range(config.updates):
        loss, gradients = reader.gradients(key_pairs(config.pairs, config.events, rng))
        if clip:
            gradients, norm = clip_norm(gradients, config.threshold)
        else:
            norm = global_norm(gradients)
        sgd.step(reader.parameters(), gradients)
        norms.append(norm)
        losses.append(loss)
    answers = reader.scores(key_pairs(config.asked, config.events, rng)).argmax(axis=-1)
    return {
        "right": pairs_right(answers),
        "norms": norms,
        "largest": max(norms),
        "median": float(np.median(norms)),
        "over": float(np.mean(np.array(norms) > config.threshold)),
        "loss": float(np.mean(losses[-10:])),
    }


@memoised
def run(config: Clipping) -> Record:
    """Train every gain without and with clipping, with every seed.

    Args:
        config: what is trained.

    Returns:
        Per seed a list over gains of two values, without and with clipping, for each name of `one`.
    """
    return Record(
        name="key_clipping",
        identity="trained",
        config=dataclasses.asdict(config),
        seeds=config.seeds,
        metrics=by_seed([config.gains, (False, True)], config.seeds, partial(one, config=config)),
        versions=versions_of("numpy"),
    )
