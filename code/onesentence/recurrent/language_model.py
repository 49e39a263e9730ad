"""A recurrent language model, forwards and backwards: embedding table, any cell, an output head.

    x_t = E[i_t]                   (d,)    i_t is the id read at step t
    state_t = cell(x_t, state_{t-1})       its first part is h_t, (H,)
    a_t = W_y h_t + b_y            (V,)    scores of what comes next
    L = sum_t -log softmax(a_t)[y_t]

and with e_t = p_t - onehot(y_t), the gradient of step t's own loss by its scores,

    dL/dW_y = sum_t e_t h_t^T    dL/db_y = sum_t e_t    dL/dh_t, directly, = W_y^T e_t

The cell takes dL/dh_t back through time and returns dL/dx_t; row i of dL/dE is the sum of dL/dx_t over all t with
i_t = i. The loss is a sum over tokens; for a mean divide it and every gradient by the number of tokens that count.

Symbols: `V` ids, `d` embedding width, `H` state width, `T` steps, `...` any batch axes, also none. Masks are True at
real tokens: a padded position changes no state, no loss and no gradient. Section 2.9 of the course; Pascanu, Mikolov
and Bengio 2013 (arXiv:1211.5063), section 1.1. Difference: any cell, and sentences padded to a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import Ids, as_ids, checked_integer, checked_sizes
from onesentence.numerics import (
    FloatArray,
    as_floats,
    as_mask,
    log_softmax,
    token_loss_gradients,
    token_losses,
)
from onesentence.recurrent.cell import Cell, State, Trace, checked_weights


@dataclass(frozen=True, eq=False)
class Pass:
    """What one forward pass of the model computed.

    Attributes:
        ids: what was read, (..., T); 0 at padded positions.
        trace: the cell's pass.
        logits: scores, (..., T, V).
    """

    ids: Ids
    trace: Trace
    logits: FloatArray

    @property
    def last(self) -> State:
        """The state after the last step, for the next chunk to begin with."""
        return self.trace.last


@dataclass(frozen=True, eq=False)
class LossGradients:
    """A loss and its gradients.

    Attributes:
        loss: in nats, summed over the tokens that count.
        parameters: dL/dtheta by the names of `parameters()`.
        x: dL/dx_t, (..., T, d), before equal ids are added up.
        start: dL/d(state before the first step).
        last: value of the state after the last step.
    """

    loss: float
    parameters: dict[str, FloatArray]
    x: FloatArray
    start: State
    last: State


@dataclass(frozen=True, eq=False)
class RecurrentLM:
    """The model; `E`, `W_y`, `b_y` are copies, an optimiser may change all parameters in place.

    Attributes:
        E: embedding table, (V, d).
        cell: RNN, LSTM or GRU with inputs of width d.
        W_y: output weights, (V, H).
        b_y: output bias, (V,).
        never: ids that are never predicted, such as BOS and PAD: their logits are -inf.

    Example:
        >>> from onesentence.recurrent.rnn import RNN
        >>> rng = np.random.default_rng(0)
        >>> cell = RNN.initial(inputs=3, hidden=4, rng=rng)
        >>> lm = RecurrentLM.initial(cell, table=5, rng=rng)
        >>> lm.logits([0, 2, 1]).shape
        (3, 5)
        >>> sorted(lm.gradients([0, 2, 1], [2, 1, 4]).parameters)
        ['E', 'W_y', 'b_y', 'cell.W_h', 'cell.W_x', 'cell.b']
    """

    E: FloatArray
    cell: Cell
    W_y: FloatArray
    b_y: FloatArray
    never: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        shape = as_floats("E", self.E).shape
        if len(shape) != 2 or shape[0] < 1 or shape[1] != self.cell.input_size:
            raise ValueError(f"E must have shape (V, {self.cell.input_size}) with V >= 1, got {shape}")
        V = shape[0]
        for name, expected in (("E", shape), ("W_y", (V, self.cell.hidden_size)), ("b_y", (V,))):
            object.__setattr__(self, name, checked_weights(name, getattr(self, name), expected))
        object.__setattr__(self, "never", tuple(as_ids("never", tuple(self.never)).tolist()))
        if not all(0 <= i < V for i in self.never) or len(set(self.never)) >= V:
            raise ValueError(f"never must hold ids in [0, {V}) and leave one, got {self.never}")

    @classmethod
    def initial(
        cls, cell: Cell, *, table: int, rng: np.random.Generator, never: Iterable[int] = ()
    ) -> RecurrentLM:
        """Draw table and head around a cell: E standard normal as `torch.nn.Embedding`, W_y of variance 1/H, b_y 0.

        Args:
            cell: the cell; it is used as it is, not copied.
            table: V.
            rng: source of all randomness.
            never: ids that are never predicted.

        Raises:
            TypeError: if `table` or an id is not an integer, or `rng` is not a generator.
            ValueError: if `table` is less than 1, or an id lies outside it.
        """
        checked_sizes(rng, table=table)
        E = rng.normal(size=(table, cell.input_size))
        W_y = rng.normal(size=(table, cell.hidden_size)) / np.sqrt(cell.hidden_size)
        return cls(E=E, cell=cell, W_y=W_y, b_y=np.zeros(table), never=tuple(never))

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies; the cell's names get the prefix `cell.`."""
        inner = {f"cell.{name}": value for name, value in self.cell.parameters().items()}
        return {"E": self.E, **inner, "W_y": self.W_y, "b_y": self.b_y}

    def forward(self, ids: ArrayLike, mask: ArrayLike | None = None, state: State | None = None) -> Pass:
        """Read a sequence and score what comes after each of its tokens.

        Args:
            ids: (..., T), each in [0, V) where the mask is True.
            mask: True at real tokens, broadcastable to (..., T); None where all are.
            state: the state to begin with, zero if None; a chunk begins with `last` of the one before it.

        Raises:
            TypeError: if `ids` holds no integers, `mask` no booleans, or `state` is no tuple.
            ValueError: if a shape does not fit, an id lies outside the table, or a state is not finite.
        """
        numbers, real = self._checked_ids(ids, mask)
        trace = self.cell.run(self.E[numbers], state, real)
        logits = trace.h @ self.W_y.T + self.b_y
        logits[..., list(self.never)] = -np.inf
        return Pass(numbers, trace, logits)

    def logits(self, ids: ArrayLike, mask: ArrayLike | None = None, state: State | None = None) -> FloatArray:
        """Return the scores (..., T, V) of what comes after each token; arguments as for `forward`."""
        return self.forward(ids, mask, state).logits

    def loss(
        self,
        ids: ArrayLike,
        targets: ArrayLike,
        mask: ArrayLike | None = None,
        *,
        scored: ArrayLike | None = None,
        state: State | None = None,
    ) -> float:
        """Return the sum of -log p[target] in nats; arguments as for `gradients`."""
        done = self.forward(ids, mask, state)
        return float(token_losses(done.logits, targets, self._counting(done, scored)).sum())

    def backward(
        self, done: Pass, targets: ArrayLike, scored: ArrayLike | None = None, last: State | None = None
    ) -> LossGradients:
        """Go back through a pass.

        Args:
            done: a pass of `forward` with the present parameters.
            targets: the right next ids, (..., T), each in [0, V) where it counts.
            scored: True where the loss counts, broadcastable to (..., T); padded positions never do. None: all real.
            last: dL/d(state after the last step) by losses further on, None where there are none.

        Raises:
            TypeError, ValueError: as for `gradients`.
        """
        counting = self._counting(done, scored)
        losses = token_losses(done.logits, targets, counting)
        e = token_loss_gradients(done.logits, targets, counting)  # (..., T, V): p - onehot
        inner = self.cell.backward(done.trace, e @ self.W_y, last)
        dE = np.zeros_like(self.E)
        np.add.at(dE, done.ids, inner.x)  # equal ids add up; dE[ids] = ... would keep only the last
        flat = e.reshape(-1, len(self.E))
        parameters = {
            "E": dE,
            **{f"cell.{name}": value for name, value in inner.parameters.items()},
            "W_y": flat.T @ done.trace.h.reshape(-1, self.cell.hidden_size),
            "b_y": flat.sum(axis=0),
        }
        return LossGradients(float(losses.sum()), parameters, inner.x, inner.start, done.last)

    def gradients(
        self,
        ids: ArrayLike,
        targets: ArrayLike,
        mask: ArrayLike | None = None,
        *,
        scored: ArrayLike | None = None,
        state: State | None = None,
    ) -> LossGradients:
        """Return the loss, its gradients by backpropagation through time, and the last state.

        Args:
            ids: what is read, (..., T).
            targets: the right next ids, (..., T); `generate.shift` makes both from sentences.
            mask: True at real tokens, broadcastable to (..., T); None where all are.
            scored: True where the loss counts; None: at every real token.
            state: the state to begin with; it counts as a constant whose gradient is `start`.

        Raises:
            TypeError: if an argument does not hold what it should.
            ValueError: if a shape does not fit or an id lies outside the table.
        """
        return self.backward(self.forward(ids, mask, state), targets, scored)

    def log_probs(self, context: Sequence[int] | Ids) -> FloatArray:
        """Return log p(. | context) in nats, (V,).

        Args:
            context: ids read before, BOS among them if the model was trained with it; at least one.

        Raises:
            TypeError: if the ids are not integers.
            ValueError: if there is none, they do not stand in one row, or one lies outside the table.
        """
        if np.ndim(context) != 1 or not len(context):
            raise ValueError(f"context must hold at least one id in a row, got shape {np.shape(context)}")
        return log_softmax(self.logits(context)[-1])

    def prob(self, token: int, context: Sequence[int] | Ids) -> float:
        """Return p(token | context); 0 for an id that is never predicted.

        Raises:
            TypeError, ValueError: as for `log_probs`; ValueError for a token outside the table.
        """
        if not checked_integer("token", token, 0) < len(self.E):
            raise ValueError(f"token must lie in [0, {len(self.E)}), got {token}")
        return float(np.exp(self.log_probs(context)[token]))

    def _checked_ids(self, ids: ArrayLike, mask: ArrayLike | None) -> tuple[Ids, NDArray[np.bool_]]:
        numbers = as_ids("ids", ids)
        if numbers.ndim == 0:
            raise ValueError("ids must have shape (..., T), got a scalar")
        real = as_mask("mask", True if mask is None else mask, numbers.shape)
        return as_ids("ids", np.where(real, numbers, 0), len(self.E)), real

    def _counting(self, done: Pass, scored: ArrayLike | None) -> NDArray[np.bool_]:
        asked = as_mask("scored", True if scored is None else scored, done.ids.shape)
        return asked & done.trace.mask
