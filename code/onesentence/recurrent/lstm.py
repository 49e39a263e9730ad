"""The LSTM with a forget gate, without peepholes, forwards and backwards.

    a_t = W_x x_t + W_h h_{t-1} + b            (4H,), in four blocks a_i, a_f, a_g, a_o
    i = sigmoid(a_i)   f = sigmoid(a_f)   o = sigmoid(a_o)   g = tanh(a_g)
    c_t = f * c_{t-1} + i * g
    h_t = o * tanh(c_t)

i input gate, f forget gate, o output gate, g candidate, c cell, h hidden state, each (H,). The course stacks
z = [h_{t-1}; x_t] and has one matrix per gate, W z + b; here the columns for h and for x are two arrays and the
rows of the four gates lie below each other in torch's order i, f, g, o. Way back, with dh and dc the gradients
by h_t and c_t and dc already holding what comes from c_{t+1}:

    dc += dh * o * (1 - tanh(c_t)^2)
    delta = (dc * g * i(1-i),  dc * c_{t-1} * f(1-f),  dc * i * (1-g^2),  dh * tanh(c_t) * o(1-o))
    dh_{t-1} = W_h^T delta        dc_{t-1} = dc * f

The 1997 paper has no forget gate and another gradient (truncated); the forget gate is of the 2000 paper. Both are
written for blocks of several cells per gate; here every cell has gates of its own. `torch.nn.LSTM` has two biases,
b_ih and b_hh; only their sum matters.

Section 2.2 of the course; Hochreiter and Schmidhuber 1997 (Neural Computation 9); Gers, Schmidhuber and Cummins
2000 (Neural Computation 12).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import checked_sizes
from onesentence.numerics import FloatArray, as_floats
from onesentence.recurrent.cell import (
    Gradients,
    State,
    Trace,
    checked_gradient,
    checked_sequence,
    checked_state,
    checked_weights,
    one_step,
    time_first,
    time_last,
)

if TYPE_CHECKING:
    import torch

GATES = ("i", "f", "g", "o")
"""The order of the four blocks of rows."""


@dataclass(frozen=True, eq=False)
class LSTM:
    """An LSTM; the arrays are copies of those given, an optimiser may change them in place.

    Attributes:
        W_x: (4H, d), rows in the order of `GATES`.
        W_h: (4H, H).
        b: (4H,).

    Example:
        >>> cell = LSTM(W_x=np.zeros((4, 1)), W_h=np.zeros((4, 1)), b=[0.0, 100.0, 0.0, 100.0])
        >>> h, c = cell.step([1.0], (np.array([0.0]), np.array([2.0])))  # f = o = 1, g = 0: keep and show
        >>> c.tolist(), h.round(6).tolist()
        ([2.0], [0.964028])
    """

    W_x: FloatArray
    W_h: FloatArray
    b: FloatArray

    def __post_init__(self) -> None:
        shape = as_floats("W_x", self.W_x).shape
        if len(shape) != 2 or 0 in shape or shape[0] % 4:
            raise ValueError(f"W_x must have shape (4H, d) with H, d >= 1, got {shape}")
        rows, d = shape
        for name, expected in (("W_x", (rows, d)), ("W_h", (rows, rows // 4)), ("b", (rows,))):
            object.__setattr__(self, name, checked_weights(name, getattr(self, name), expected))

    @classmethod
    def initial(
        cls, *, inputs: int, hidden: int, rng: np.random.Generator, forget_bias: float | None = None
    ) -> LSTM:
        """Draw the parameters uniformly from ±1/sqrt(H), as `torch.nn.LSTM` does (one bias where torch adds two).

        Args:
            inputs: d.
            hidden: H.
            rng: source of all randomness.
            forget_bias: every bias of the forget gates; None leaves what was drawn. The other parameters are the
                same either way.

        Raises:
            TypeError: if a size is not an integer or `rng` is not a generator.
            ValueError: if a size is less than 1 or `forget_bias` is not finite.
        """
        checked_sizes(rng, inputs=inputs, hidden=hidden)
        bound = hidden**-0.5
        W_x = rng.uniform(-bound, bound, (4 * hidden, inputs))
        W_h = rng.uniform(-bound, bound, (4 * hidden, hidden))
        b = rng.uniform(-bound, bound, 4 * hidden)
        if forget_bias is not None:
            if not np.isfinite(forget_bias):
                raise ValueError(f"forget_bias must be finite, got {forget_bias}")
            b[hidden : 2 * hidden] = forget_bias
        return cls(W_x=W_x, W_h=W_h, b=b)

    @classmethod
    def constant(cls, *, i: ArrayLike, f: ArrayLike, g: ArrayLike, o: ArrayLike, inputs: int = 1) -> LSTM:
        """Return a cell whose gates have the given values whatever it reads: zero weights, only biases.

        A gate of 0 or 1 gets the bias -100 or 100: float64 cannot tell its sigmoid from 0 or 1.

        Args:
            i: input gate, one value in [0, 1] per unit, (H,) or a number.
            f: forget gate, likewise.
            g: candidate, in (-1, 1).
            o: output gate, in [0, 1].
            inputs: d; the inputs have no effect.

        Raises:
            TypeError: if an argument does not hold real numbers.
            ValueError: if a value lies outside its range or the lengths differ.

        Example:
            >>> cell = LSTM.constant(i=0.1, f=0.9, g=0.5, o=0.8)
            >>> h, c = cell.step([0.0], (np.zeros(1), np.ones(1)))
            >>> c.round(6).tolist(), h.round(6).tolist()
            ([0.95], [0.591826])
        """
        values = [
            np.atleast_1d(as_floats(name, value)) for name, value in zip(GATES, (i, f, g, o), strict=True)
        ]
        for name, value in zip(GATES, values, strict=True):
            if value.shape != values[0].shape or value.ndim != 1:
                raise ValueError(f"{name} must have shape {values[0].shape} as i has, got {value.shape}")
            if name == "g" and not (np.abs(value) < 1).all():
                raise ValueError(f"g must lie in (-1, 1), got {value.tolist()}")
            if name != "g" and not ((value >= 0) & (value <= 1)).all():
                raise ValueError(f"{name} must lie in [0, 1], got {value.tolist()}")
        with np.errstate(divide="ignore"):
            scores = [
                np.arctanh(v if name == "g" else 2 * v - 1) for name, v in zip(GATES, values, strict=True)
            ]
        b = np.concatenate([s if name == "g" else 2 * s for name, s in zip(GATES, scores, strict=True)])
        H = len(values[0])
        return cls(W_x=np.zeros((4 * H, inputs)), W_h=np.zeros((4 * H, H)), b=np.clip(b, -100, 100))

    @classmethod
    def from_torch(cls, module: torch.nn.LSTM) -> LSTM:
        """Copy a one-layer, one-directional `torch.nn.LSTM`, its two biases added.

        Raises:
            ValueError: if the module has several layers, two directions or a projection.
        """
        if module.num_layers != 1 or module.bidirectional or module.proj_size:
            raise ValueError(f"module: expected one layer, one direction and no projection, got {module}")
        weights = {name: value.detach().numpy() for name, value in module.named_parameters()}
        W_x = weights["weight_ih_l0"]
        b = (
            weights["bias_ih_l0"] + weights["bias_hh_l0"]
            if module.bias
            else np.zeros(len(W_x), dtype=W_x.dtype)
        )
        return cls(W_x=W_x, W_h=weights["weight_hh_l0"], b=b)

    @property
    def input_size(self) -> int:
        """D, width of an input."""
        return int(self.W_x.shape[1])

    @property
    def hidden_size(self) -> int:
        """H, width of the hidden state and of the cell."""
        return int(self.W_h.shape[1])

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        return {"W_x": self.W_x, "W_h": self.W_h, "b": self.b}

    def start(self, batch: tuple[int, ...] = ()) -> State:
        """Return the zero state (h, c) for a batch of this shape."""
        shape = (*batch, self.hidden_size)
        return np.zeros(shape, dtype=self.b.dtype), np.zeros(shape, dtype=self.b.dtype)

    def step(self, x: ArrayLike, state: State) -> State:
        """Return the state after one input.

        Args:
            x: (..., d).
            state: (h, c), each (..., H).

        Raises:
            TypeError: if the arguments do not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.
        """
        return one_step(self, x, state)

    def run(self, x: ArrayLike, state: State | None = None, mask: ArrayLike | None = None) -> Trace:
        """Step through a sequence.

        Args:
            x: inputs, (..., T, d).
            state: (h, c), each (..., H), to begin with; None is zero.
            mask: True at real tokens, (..., T); elsewhere h and c are carried over. None: all are real.

        Returns:
            The pass: states (h, c); saved gates i, f, o, candidate g and cell c. What is saved of the gates at a
            padded position is without meaning.

        Raises:
            TypeError: if an argument does not hold what it should.
            ValueError: if a shape does not fit or a number is not finite.
        """
        inputs, real = checked_sequence(x, mask, self.input_size)
        *batch, T, _ = inputs.shape
        H = self.hidden_size
        h, c = checked_state("state", self.start() if state is None else state, (*batch, H), parts=2)
        a = time_first(inputs) @ self.W_x.T + self.b  # (T, ..., 4H): what does not depend on the state
        hs, cs = (np.empty((T + 1, *batch, H), dtype=a.dtype) for _ in range(2))
        hs[0], cs[0] = h, c
        padded = not real.all()
        for t in range(T):
            a[t] += hs[t] @ self.W_h.T
            _activate(a[t])
            i, f, g, o = _blocks(a[t])
            cs[t + 1] = f * cs[t] + i * g
            hs[t + 1] = o * np.tanh(cs[t + 1])
            if padded:
                now = real[..., t, None]
                cs[t + 1] = np.where(now, cs[t + 1], cs[t])
                hs[t + 1] = np.where(now, hs[t + 1], hs[t])
        saved = {name: time_last(gate) for name, gate in zip(GATES, _blocks(a), strict=True)}
        states = time_last(hs), time_last(cs)
        return Trace(inputs, real, states, {**saved, "c": states[1][..., 1:, :]})

    def backward(self, trace: Trace, dh: ArrayLike, last: State | None = None) -> Gradients:
        """Go back through time.

        Args:
            trace: a pass of `run` of this cell.
            dh: dL/dh_t as the losses at each step give it, (..., T, H).
            last: dL/d(last h) and dL/d(last c) in addition, each (..., H); None is zero.

        Raises:
            TypeError: if an argument does not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.
        """
        direct = time_first(checked_gradient(dh, trace, GATES))
        hs, x = time_first(trace.states[0]), time_first(trace.x)
        shown, slopes = self._slopes(trace)
        d_h, d_c = checked_state("last", self.start() if last is None else last, hs.shape[1:], parts=2)
        f = time_first(trace.saved["f"])
        delta = np.empty_like(slopes)  # (T, ..., 4, H)
        padded = not trace.mask.all()
        for t in reversed(range(len(direct))):
            both = direct[t] + d_h  # this step's own losses, and all later ones through h
            cell = d_c + both * shown[t]  # all later ones through c, and this h
            delta[t] = slopes[t] * cell[..., None, :]
            delta[t, ..., 3, :] = slopes[t, ..., 3, :] * both  # o acts on h alone
            if padded:
                real = trace.mask[..., t, None]
                delta[t] = np.where(real[..., None], delta[t], 0)
            back = delta[t].reshape(*both.shape[:-1], 4 * self.hidden_size) @ self.W_h
            d_h = np.where(real, back, both) if padded else back
            d_c = np.where(real, cell * f[t], d_c) if padded else cell * f[t]
        rows = delta.reshape(*delta.shape[:-2], 4 * self.hidden_size)
        flat = rows.reshape(-1, 4 * self.hidden_size)
        return Gradients(
            parameters={
                "W_x": flat.T @ x.reshape(-1, self.input_size),
                "W_h": flat.T @ hs[:-1].reshape(-1, self.hidden_size),
                "b": flat.sum(axis=0),
            },
            x=time_last(rows @ self.W_x),
            start=(d_h, d_c),
        )

    def _slopes(self, trace: Trace) -> tuple[FloatArray, FloatArray]:
        """dh/dc, (T, ..., H); and d(c or h)/d(a), (T, ..., 4, H): the factors of delta that do not travel."""
        i, f, g, o = (time_first(trace.saved[name]) for name in GATES)
        c = time_first(trace.states[1])
        squashed = np.tanh(c[1:])
        slopes = np.stack(
            [g * i * (1 - i), c[:-1] * f * (1 - f), i * (1 - g**2), squashed * o * (1 - o)], axis=-2
        )
        return o * (1 - squashed**2), slopes


def _blocks(a: FloatArray) -> tuple[FloatArray, ...]:
    """The four blocks (..., H) of (..., 4H), views."""
    H = a.shape[-1] // 4
    return tuple(a[..., k * H : (k + 1) * H] for k in range(4))


def _activate(a: FloatArray) -> None:
    """Replace the scores (..., 4H) by sigmoid, sigmoid, tanh, sigmoid of them; sigmoid(a) = (1 + tanh(a / 2)) / 2."""
    i, f, _, o = _blocks(a)
    for gate in (i, f, o):
        gate *= 0.5
    np.tanh(a, out=a)
    for gate in (i, f, o):
        gate += 1
        gate *= 0.5
