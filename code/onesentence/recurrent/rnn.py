"""The tanh RNN, forwards and backwards.

    u_t = W_x x_t + W_h h_{t-1} + b        (H,)
    h_t = tanh(u_t)

and for a loss L that reads the states, with delta_t = dL/du_t and delta_{T+1} = 0,

    delta_t = (dL/dh_t directly + W_h^T delta_{t+1}) * (1 - h_t * h_t)
    dL/dW_x = sum_t delta_t x_t^T    dL/dW_h = sum_t delta_t h_{t-1}^T    dL/db = sum_t delta_t

`W_x` (H, d), `W_h` (H, H), `b` (H,): columns are inputs, as in the formula, so code with rows of examples multiplies
by the transpose. `torch.nn.RNN` has two biases, b_ih and b_hh; only their sum matters, and `from_torch` takes it.

Sections 2.1 and 2.9 of the course; Elman 1990 (Cognitive Science 14); Pascanu, Mikolov and Bengio 2013
(arXiv:1211.5063), section 1.1, whose states are before the nonlinearity.
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


@dataclass(frozen=True, eq=False)
class RNN:
    """A tanh RNN; the arrays are copies of those given, an optimiser may change them in place.

    Attributes:
        W_x: (H, d).
        W_h: (H, H).
        b: (H,).

    Example:
        >>> cell = RNN(W_x=[[0.5]], W_h=[[0.8]], b=[0.0])
        >>> cell.run([[1.0], [0.0]]).h[:, 0].round(6).tolist()
        [0.462117, 0.353724]
    """

    W_x: FloatArray
    W_h: FloatArray
    b: FloatArray

    def __post_init__(self) -> None:
        shape = as_floats("W_x", self.W_x).shape
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"W_x must have shape (H, d) with H, d >= 1, got {shape}")
        H, d = shape
        for name, expected in (("W_x", (H, d)), ("W_h", (H, H)), ("b", (H,))):
            object.__setattr__(self, name, checked_weights(name, getattr(self, name), expected))

    @classmethod
    def initial(cls, *, inputs: int, hidden: int, rng: np.random.Generator) -> RNN:
        """Draw the parameters uniformly from ±1/sqrt(H), as `torch.nn.RNN` does.

        Args:
            inputs: d.
            hidden: H.
            rng: source of all randomness.

        Raises:
            TypeError: if a size is not an integer or `rng` is not a generator.
            ValueError: if a size is less than 1.
        """
        checked_sizes(rng, inputs=inputs, hidden=hidden)
        bound = hidden**-0.5
        return cls(
            W_x=rng.uniform(-bound, bound, (hidden, inputs)),
            W_h=rng.uniform(-bound, bound, (hidden, hidden)),
            b=rng.uniform(-bound, bound, hidden),
        )

    @classmethod
    def from_torch(cls, module: torch.nn.RNN) -> RNN:
        """Copy the first layer of a one-directional `torch.nn.RNN` with tanh, its two biases added.

        Raises:
            ValueError: if the module has several layers, two directions or another nonlinearity.
        """
        if module.num_layers != 1 or module.bidirectional or module.nonlinearity != "tanh":
            raise ValueError(f"module: expected one layer, one direction and tanh, got {module}")
        weights = {name: value.detach().numpy() for name, value in module.named_parameters()}
        W_x = weights["weight_ih_l0"]
        b = weights["bias_ih_l0"] + weights["bias_hh_l0"] if module.bias else np.zeros_like(W_x[:, 0])
        return cls(W_x=W_x, W_h=weights["weight_hh_l0"], b=b)

    @property
    def input_size(self) -> int:
        """D, width of an input."""
        return int(self.W_x.shape[1])

    @property
    def hidden_size(self) -> int:
        """H, width of the state."""
        return int(self.W_x.shape[0])

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        return {"W_x": self.W_x, "W_h": self.W_h, "b": self.b}

    def start(self, batch: tuple[int, ...] = ()) -> State:
        """Return the zero state for a batch of this shape."""
        return (np.zeros((*batch, self.hidden_size), dtype=self.b.dtype),)

    def step(self, x: ArrayLike, state: State) -> State:
        """Return the state after one input.

        Args:
            x: (..., d).
            state: one array (..., H).

        Raises:
            TypeError: if the arguments do not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.

        Example:
            >>> cell = RNN(W_x=np.eye(2), W_h=0.5 * np.eye(2), b=np.zeros(2))
            >>> cell.step([1.0, 0.0], cell.start())[0].round(6).tolist()
            [0.761594, 0.0]
        """
        return one_step(self, x, state)

    def run(self, x: ArrayLike, state: State | None = None, mask: ArrayLike | None = None) -> Trace:
        """Step through a sequence.

        Args:
            x: inputs, (..., T, d).
            state: one array (..., H) to begin with; None is zero.
            mask: True at real tokens, (..., T); elsewhere the state is carried over. None: all are real.

        Raises:
            TypeError: if an argument does not hold what it should.
            ValueError: if a shape does not fit or a number is not finite.
        """
        inputs, real = checked_sequence(x, mask, self.input_size)
        *batch, T, _ = inputs.shape
        shape = (*batch, self.hidden_size)
        (h,) = checked_state("state", self.start() if state is None else state, shape)
        u = time_first(inputs) @ self.W_x.T + self.b  # (T, ..., H): what does not depend on the state
        states = np.empty((T + 1, *shape), dtype=u.dtype)
        states[0] = h
        padded = not real.all()
        for t in range(T):
            u[t] += states[t] @ self.W_h.T
            np.tanh(u[t], out=states[t + 1])
            if padded:
                states[t + 1] = np.where(real[..., t, None], states[t + 1], states[t])
        return Trace(inputs, real, (time_last(states),), {"u": time_last(u)})

    def backward(self, trace: Trace, dh: ArrayLike, last: State | None = None) -> Gradients:
        """Go back through time.

        Args:
            trace: a pass of `run` of this cell.
            dh: dL/dh_t as the losses at each step give it, (..., T, H).
            last: dL/d(last state) in addition, one array (..., H); None is zero.

        Raises:
            TypeError: if an argument does not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.
        """
        direct = time_first(checked_gradient(dh, trace, ("u",)))
        states, x = time_first(trace.states[0]), time_first(trace.x)
        shape = states.shape[1:]
        (later,) = checked_state("last", self.start() if last is None else last, shape)
        delta = 1 - states[1:] ** 2  # tanh' at every step; becomes dL/du_t from the end
        padded = not trace.mask.all()
        for t in reversed(range(len(direct))):
            both = direct[t] + later  # this step's own losses, and all later ones through the state
            delta[t] *= both
            if padded:
                real = trace.mask[..., t, None]
                delta[t] = np.where(real, delta[t], 0)
                later = np.where(real, delta[t] @ self.W_h, both)
            else:
                later = delta[t] @ self.W_h
        flat = delta.reshape(-1, self.hidden_size)
        return Gradients(
            parameters={
                "W_x": flat.T @ x.reshape(-1, self.input_size),
                "W_h": flat.T @ states[:-1].reshape(-1, self.hidden_size),
                "b": flat.sum(axis=0),
            },
            x=time_last(delta @ self.W_x),
            start=(later,),
        )
