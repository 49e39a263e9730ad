"""The readers of `reversal_model` again, in NumPy, one sentence and one step after another, to be read.

Same formulas and same numbers; the cells are those of `onesentence.recurrent`, the read is that of
`onesentence.attention`. Everything is computed in float64, whatever the parameters were trained in.

Sections 3.10 to 3.13 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.read import read
from onesentence.generate.sampling import greedy
from onesentence.numerics import FloatArray, log_softmax
from onesentence.recurrent.bidirectional import Bidirectional
from onesentence.recurrent.cell import State
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.torch_layer import torch_layer

if TYPE_CHECKING:
    from torch import nn

    from onesentence.seq2seq.reversal_model import SourceReader


@dataclass(frozen=True, eq=False)
class TeachingReaderState:
    """What the decoder carries from step to step.

    Attributes:
        parts: h and the cell m, (H,) each.
        states: s, (S, 2E).
        weights: alpha of the read just done, (S,); even before the first.
    """

    parts: State
    states: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class ReadStep:
    """One step of a decoder.

    Attributes:
        fed: the token that was read.
        weights: alpha over the source, (S,).
        log_p: log probabilities of what may come next, (V,), in nats.
    """

    fed: int
    weights: FloatArray
    log_p: FloatArray

    @property
    def chosen(self) -> int:
        """The likeliest token."""
        return int(greedy(self.log_p))


@dataclass(frozen=True, eq=False)
class TeachingReader:
    """The parameters and the formulas; `from_torch` copies a trained reader.

    Attributes:
        E: embeddings of both sides, (V, d).
        encoder: an LSTM in each direction.
        decoder: an LSTM with inputs [E[y]; c].
        W_y: (V, H + 2E).
        b_y: (V,).
        W_q: (2E, H); None for the fixed reader.
        b_q: (2E,), 0 where the query has no bias.
        from_encoder: whether h_0 is what the encoder ends with.
    """

    E: FloatArray
    encoder: Bidirectional
    decoder: LSTM
    W_y: FloatArray
    b_y: FloatArray
    W_q: FloatArray | None
    b_q: FloatArray
    from_encoder: bool = False

    @classmethod
    def from_torch(cls, model: SourceReader) -> TeachingReader:
        """Copy the parameters of a PyTorch reader, in float64."""
        w = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
        forth, back = model.encoder.forth, model.encoder.back
        assert back is not None
        return cls(
            E=w["embedding.weight"],
            encoder=Bidirectional(_layer(forth), _layer(back)),
            decoder=_layer(model.decoder),
            W_y=w["output.weight"],
            b_y=w["output.bias"],
            W_q=w.get("query.weight"),
            b_q=w.get("query.bias", np.zeros(2 * model.config.encoder)),
            from_encoder=model.config.first == "encoder",
        )

    def start(self, source: ArrayLike) -> TeachingReaderState:
        """Read a source and return the state before BOS.

        Args:
            source: ids, (S,).

        Raises:
            IndexError: if an id lies outside the vocabulary.
            ValueError: if there is no unit.
        """
        ids = np.asarray(source)
        if ids.ndim != 1 or not ids.size:
            raise ValueError(f"source must have shape (S,) with S >= 1, got {ids.shape}")
        trace = self.encoder.run(self.E[ids])
        h, m = self.decoder.start()
        if self.from_encoder:
            forth, _, back, _ = trace.last
            h = np.concatenate([forth, back])  # [f_S; b_1]
        return TeachingReaderState((h, m), trace.h, np.full(len(ids), 1 / len(ids)))

    def step(self, token: int, state: TeachingReaderState) -> tuple[FloatArray, TeachingReaderState]:
        """Read the source, then one target token.

        Args:
            token: an id.
            state: of `start`, or what the step before returned.

        Returns:
            Logits, (V,), and the state.
        """
        weights, context = state.weights, state.states.mean(axis=0)
        if self.W_q is not None:
            q = self.W_q @ state.parts[0] + self.b_q  # from h_{i-1}, before the token is read
            now = read(q, state.states, state.states)
            weights, context = now.weights, now.context
        parts = self.decoder.step(np.concatenate([self.E[token], context]), state.parts)
        logits = self.W_y @ np.concatenate([parts[0], context]) + self.b_y
        return logits, replace(state, parts=parts, weights=weights)

    def follow(self, source: ArrayLike, inputs: ArrayLike) -> tuple[ReadStep, ...]:
        """Read a given history: teacher forcing.

        Args:
            source: ids, (S,).
            inputs: BOS and the target without EOS, (T,).

        Returns:
            T steps.
        """
        state, steps = self.start(source), []
        for token in np.asarray(inputs).tolist():
            logits, state = self.step(token, state)
            steps.append(ReadStep(token, state.weights, log_softmax(logits)))
        return tuple(steps)

    def write(self, source: ArrayLike, *, bos: int, eos: int, limit: int) -> tuple[ReadStep, ...]:
        """Read what it has chosen itself, the likeliest token of each step, until EOS.

        Args:
            source: ids, (S,).
            bos: what the first step reads.
            eos: the choice that ends it.
            limit: largest number of steps.

        Raises:
            ValueError: if `limit` is below 1.
        """
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        state, fed = self.start(source), bos
        steps: list[ReadStep] = []
        while len(steps) < limit and not (steps and steps[-1].chosen == eos):
            logits, state = self.step(fed, state)
            steps.append(ReadStep(fed, state.weights, log_softmax(logits)))
            fed = steps[-1].chosen
        return tuple(steps)


def _layer(module: nn.RNNBase) -> LSTM:
    """Return a layer of PyTorch as the book's cell, its two biases added in float64."""
    return LSTM.from_torch(torch_layer(module).double())  # type: ignore[type-var, arg-type]
