"""The fixed-summary translator again, in NumPy, one step after another, to be read.

Same formulas and same numbers as `fixed_summary`, whose parameters `from_torch` copies; the cells are those of
`onesentence.recurrent`. There is no padding here except through the encoder's mask, and no training.

Sections 2.3 to 2.5 of the course.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import as_ids, checked_integer, checked_sizes
from onesentence.numerics import FloatArray, as_floats, softmax
from onesentence.recurrent.cell import Cell, State, checked_weights
from onesentence.recurrent.gru import GRU
from onesentence.recurrent.lstm import LSTM
from onesentence.recurrent.rnn import RNN

if TYPE_CHECKING:
    import torch

    from onesentence.seq2seq.fixed_summary import FixedSummary


@dataclass(frozen=True, eq=False)
class TeachingState:
    """What the decoder carries from step to step.

    Attributes:
        parts: s, one or two arrays (..., H).
        summary: c_src, (..., H), where it is read again at each step; None where it has gone into s_0.
    """

    parts: State
    summary: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """One line of a generation.

    Attributes:
        fed: the token that was read, BOS in the first step.
        state: the state after it.
        distribution: p over the target vocabulary, (V,).
        chosen: the token taken from the distribution; it is what the next step reads.
    """

    fed: int
    state: TeachingState
    distribution: FloatArray
    chosen: int


@dataclass(frozen=True, eq=False)
class TeachingTranslator:
    """The parameters and the formulas; `initial` draws one, `from_torch` copies a trained one.

    Attributes:
        E_x: source embeddings, (source vocabulary, d).
        encoder: cell of input width d and state width H.
        E_y: target embeddings, (V, d).
        decoder: cell of input width d, or d + H where c_src is read again at each step.
        W_y: (V, H).
        b_y: (V,); -inf bars a symbol.
        G: g's matrix, (parts * H, H), and its bias (parts * H,); None where c_src is read again at each step.
    """

    E_x: FloatArray
    encoder: Cell
    E_y: FloatArray
    decoder: Cell
    W_y: FloatArray
    b_y: FloatArray
    G: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        H, d = self.encoder.hidden_size, self.encoder.input_size
        if self.decoder.hidden_size != H:
            raise ValueError(
                f"decoder must have state width {H} like encoder, got {self.decoder.hidden_size}"
            )
        V, parts = len(self.E_y), len(self.decoder.start())
        inputs = self.decoder.input_size - (H if self.G is None else 0)
        shapes = {"E_x": (len(self.E_x), d), "E_y": (V, inputs), "W_y": (V, H)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, checked_weights(name, getattr(self, name), shape))
        bias = as_floats("b_y", self.b_y)
        if bias.shape != (V,) or not np.isfinite(bias).any() or not (bias < np.inf).all():
            raise ValueError(f"b_y must have shape ({V},), finite or -inf and not all -inf, got {bias.shape}")
        object.__setattr__(self, "b_y", bias.copy())
        if self.G is not None:
            matrix, offset = self.G
            checked = (
                checked_weights("G", matrix, (parts * H, H)),
                checked_weights("G", offset, (parts * H,)),
            )
            object.__setattr__(self, "G", checked)

    @classmethod
    def initial(
        cls,
        *,
        source_size: int,
        target_size: int,
        width: int,
        rng: np.random.Generator,
        inject: bool = False,
        barred: Sequence[int] = (),
    ) -> TeachingTranslator:
        """Draw a small tanh RNN translator, untrained: embeddings and states of one width, normal embeddings.

        Args:
            source_size: source symbols.
            target_size: V.
            width: d and H.
            rng: source of all randomness.
            inject: whether c_src is read again at each step; otherwise it sets s_0.
            barred: target ids that are never predicted.

        Raises:
            TypeError: if a size or a barred id is not an integer, or `rng` is not a generator.
            ValueError: if a size is less than 1, or a barred id lies outside.
        """
        checked_sizes(rng, source_size=source_size, target_size=target_size, width=width)
        bias = np.zeros(target_size)
        bias[as_ids("barred", barred, target_size)] = -np.inf
        encoder = RNN.initial(inputs=width, hidden=width, rng=rng)
        decoder = RNN.initial(inputs=2 * width if inject else width, hidden=width, rng=rng)
        bridge = (rng.normal(size=(width, width)) / np.sqrt(width), np.zeros(width))
        return cls(
            E_x=rng.normal(size=(source_size, width)),
            encoder=encoder,
            E_y=rng.normal(size=(target_size, width)),
            decoder=decoder,
            W_y=rng.normal(size=(target_size, width)),
            b_y=bias,
            G=None if inject else bridge,
        )

    @classmethod
    def from_torch(cls, model: FixedSummary) -> TeachingTranslator:
        """Copy the parameters of a PyTorch translator."""
        weights = {name: value.detach().numpy() for name, value in model.named_parameters()}
        may_come = model.output.may_come.numpy()
        return cls(
            E_x=weights["encoder.embedding.weight"],
            encoder=_cell_of(model.encoder.layers.forth),
            E_y=weights["embedding.weight"],
            decoder=_cell_of(model.decoder),
            W_y=weights["output.linear.weight"],
            b_y=np.where(may_come, weights["output.linear.bias"], -np.inf),
            G=None if model.bridge is None else (weights["bridge.weight"], weights["bridge.bias"]),
        )

    def summary(self, source: ArrayLike, mask: ArrayLike | None = None) -> FloatArray:
        """Return c_src, the encoder's hidden state after the last unit.

        Args:
            source: ids, (..., S).
            mask: True at real units, (..., S); None: all are.

        Returns:
            (..., H).

        Raises:
            TypeError, ValueError: if the ids are no integers or lie outside, a shape does not fit, or a sentence has no real
                unit.
        """
        x = self.E_x[as_ids("source", source, len(self.E_x))]
        trace = self.encoder.run(x, mask=mask)
        if not trace.mask.any(axis=-1).all():
            raise ValueError("mask: every sentence needs at least one real unit, got one without")
        return trace.last[0]

    def first_state(self, summary: ArrayLike) -> TeachingState:
        """Return the state before BOS is read: g(c_src), or zero and c_src beside it."""
        c_src = as_floats("summary", summary)
        if self.G is None:
            return TeachingState(self.decoder.start(c_src.shape[:-1]), c_src)
        matrix, offset = self.G
        s0 = np.tanh(c_src @ matrix.T + offset)
        return TeachingState(tuple(np.split(s0, len(self.decoder.start()), axis=-1)))

    def start(self, source: ArrayLike, mask: ArrayLike | None = None) -> TeachingState:
        """Read a source and return the state that generation starts with; arguments as for `summary`."""
        return self.first_state(self.summary(source, mask))

    def step(self, ids: ArrayLike, state: TeachingState) -> tuple[FloatArray, TeachingState]:
        """Read one target token, and nothing else but the state.

        Args:
            ids: (...).
            state: of `start`, or what the step before returned.

        Returns:
            Logits, (..., V), and the state.

        Raises:
            TypeError, ValueError: if the ids are no integers or lie outside.
        """
        x = self.E_y[as_ids("ids", ids, len(self.E_y))]
        if state.summary is not None:
            x = np.concatenate(
                [x, np.broadcast_to(state.summary, (*x.shape[:-1], state.summary.shape[-1]))], -1
            )
        parts = self.decoder.step(x, state.parts)
        return parts[0] @ self.W_y.T + self.b_y, TeachingState(parts, state.summary)

    def logits(self, source: ArrayLike, inputs: ArrayLike) -> FloatArray:
        """Return logits (T, V) of one sentence with the true history given: the steps one after another.

        Args:
            source: ids, (S,).
            inputs: BOS and the target without EOS, (T,).

        Raises:
            TypeError, ValueError: as `start` and `step`; ValueError too if `inputs` are no vector of at least one id.
        """
        state, rows, tokens = self.start(source), [], as_ids("inputs", inputs)
        if tokens.ndim != 1 or not tokens.size:
            raise ValueError(f"inputs must have shape (T,) with T >= 1, got {tokens.shape}")
        for token in tokens:
            row, state = self.step(token, state)
            rows.append(row)
        return np.stack(rows)

    def walk(
        self,
        source: ArrayLike,
        choose: Callable[[FloatArray], int],
        *,
        bos: int,
        eos: int,
        limit: int,
    ) -> tuple[Step, ...]:
        """Generate one sentence and keep every step.

        Args:
            source: ids, (S,).
            choose: from logits (V,) to a token.
            bos: what the first step reads.
            eos: the choice that ends it.
            limit: largest number of steps.

        Raises:
            TypeError: if `limit` or `eos` is not an integer.
            ValueError: if `limit` is below 1 or `eos` lies outside the target vocabulary.
        """
        checked_integer("limit", limit, 1)
        as_ids("eos", eos, len(self.E_y))
        state, fed = self.start(source), bos
        steps: list[Step] = []
        while len(steps) < limit:
            logits, state = self.step(fed, state)
            chosen = int(choose(logits))
            steps.append(Step(fed, state, softmax(logits), chosen))
            if chosen == eos:
                break
            fed = chosen  # a candidate becomes an input only now
        return tuple(steps)


def _cell_of(layer: torch.nn.RNNBase) -> Cell:
    by_name = {"RNN_TANH": RNN.from_torch, "GRU": GRU.from_torch, "LSTM": LSTM.from_torch}
    cell: Cell = by_name[layer.mode](layer)  # type: ignore[operator]
    return cell
