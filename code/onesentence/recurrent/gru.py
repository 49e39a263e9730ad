"""The GRU in its four conventions, forwards and backwards.

    r_t = sigmoid(W_xr x_t + b_r + W_hr h_{t-1})           reset gate                (H,)
    z_t = sigmoid(W_xz x_t + b_z + W_hz h_{t-1})           update gate               (H,)
    n_t = tanh(W_xn x_t + b + W_hn (r_t * h_{t-1}) + b_n)     candidate, reset "before"
    n_t = tanh(W_xn x_t + b + r_t * (W_hn h_{t-1} + b_n))     candidate, reset "after"
    h_t = (1 - z_t) * h_{t-1} + z_t * n_t                     update "writes"
    h_t = z_t * h_{t-1} + (1 - z_t) * n_t                     update "keeps"

`W_x` (3H, d), `W_h` (3H, H) and `b` (3H,) hold the rows of r, z, n in this order, as torch does; `b_n` (H,) is the
candidate's second bias. "before" could do without it, only its sum with the candidate's rows of `b` matters there;
"after" multiplies it, and not those rows, by the reset gate.

The course has writes and before. Cho et al. 2014 (arXiv:1406.1078 v3, equations 5 to 8, without biases) has keeps and
before. `torch.nn.GRU` 2.13 has keeps and after. Exchanging writes and keeps is exact, because 1 - sigmoid(a) is
sigmoid(-a); reset before and after are two different families of functions unless W_hn is diagonal.

Sections 2.13 and 2.15 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from onesentence.activations import sigmoid
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
from onesentence.recurrent.gru_convention import Reset, Update, check_reset, check_update, mixed, recalled

if TYPE_CHECKING:
    import torch

SAVED = ("r", "z", "n")
"""What a pass saves of each step: the gates and the candidate."""


@dataclass(frozen=True, eq=False)
class GRU:
    """A GRU; the arrays are copies of those given, an optimiser may change them in place.

    Attributes:
        W_x: (3H, d), rows of r, z, n.
        W_h: (3H, H), rows of r, z, n.
        b: (3H,), rows of r, z, n.
        b_n: (H,), the candidate's bias beside its recurrent part.
        update: what the update gate is a share of: "writes" of the candidate, "keeps" of the old state.
        reset: where the reset gate multiplies: "before" the recurrent matrix or "after" it.

    Example:
        >>> cell = GRU(W_x=[[0.0], [0.0], [1.0]], W_h=np.zeros((3, 1)), b=[0.0, -np.log(3), 0.0], b_n=[0.0])
        >>> cell.run([[np.arctanh(0.6)]], (np.array([0.2]),)).h.round(6).tolist()  # z = 1/4 of 0.6, 3/4 of 0.2
        [[0.3]]
    """

    W_x: FloatArray
    W_h: FloatArray
    b: FloatArray
    b_n: FloatArray
    update: Update = "writes"
    reset: Reset = "before"

    def __post_init__(self) -> None:
        shape = as_floats("W_x", self.W_x).shape
        if len(shape) != 2 or 0 in shape or shape[0] % 3:
            raise ValueError(f"W_x must have shape (3H, d) with H, d >= 1, got {shape}")
        H, d = shape[0] // 3, shape[1]
        shapes = {"W_x": (3 * H, d), "W_h": (3 * H, H), "b": (3 * H,), "b_n": (H,)}
        for name, expected in shapes.items():
            object.__setattr__(self, name, checked_weights(name, getattr(self, name), expected))
        check_update(self.update)
        check_reset(self.reset)

    @classmethod
    def initial(
        cls,
        *,
        inputs: int,
        hidden: int,
        rng: np.random.Generator,
        update: Update = "writes",
        reset: Reset = "before",
    ) -> GRU:
        """Draw the parameters uniformly from ±1/sqrt(H), as `torch.nn.GRU` does.

        Args:
            inputs: d.
            hidden: H.
            rng: source of all randomness.
            update: "writes" or "keeps".
            reset: "before" or "after".

        Raises:
            TypeError: if a size is not an integer or `rng` is not a generator.
            ValueError: if a size is less than 1 or a convention is not one of the two.
        """
        checked_sizes(rng, inputs=inputs, hidden=hidden)
        bound = hidden**-0.5
        return cls(
            W_x=rng.uniform(-bound, bound, (3 * hidden, inputs)),
            W_h=rng.uniform(-bound, bound, (3 * hidden, hidden)),
            b=rng.uniform(-bound, bound, 3 * hidden),
            b_n=rng.uniform(-bound, bound, hidden),
            update=update,
            reset=reset,
        )

    @classmethod
    def from_torch(cls, module: torch.nn.GRU) -> GRU:
        """Copy the first layer of a one-directional `torch.nn.GRU`: update "keeps", reset "after".

        Its two biases are added for r and z. For the candidate they stay apart: `bias_ih` goes to `b`, `bias_hh`,
        which the reset gate multiplies, to `b_n`.

        Raises:
            ValueError: if the module has several layers or two directions.
        """
        if module.num_layers != 1 or module.bidirectional:
            raise ValueError(f"module: expected one layer and one direction, got {module}")
        weights = {name: value.detach().numpy() for name, value in module.named_parameters()}
        H, W_x = module.hidden_size, weights["weight_ih_l0"]
        none = np.zeros(3 * H, dtype=W_x.dtype)
        b, b_hh = weights.get("bias_ih_l0", none).copy(), weights.get("bias_hh_l0", none)
        b[: 2 * H] += b_hh[: 2 * H]
        return cls(
            W_x=W_x, W_h=weights["weight_hh_l0"], b=b, b_n=b_hh[2 * H :], update="keeps", reset="after"
        )

    @property
    def input_size(self) -> int:
        """D, width of an input."""
        return int(self.W_x.shape[1])

    @property
    def hidden_size(self) -> int:
        """H, width of the state."""
        return int(self.W_h.shape[1])

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        return {"W_x": self.W_x, "W_h": self.W_h, "b": self.b, "b_n": self.b_n}

    def start(self, batch: tuple[int, ...] = ()) -> State:
        """Return the zero state for a batch of this shape."""
        return (np.zeros((*batch, self.hidden_size), dtype=self.b.dtype),)

    def converted(self, *, update: Update | None = None, reset: Reset | None = None) -> GRU:
        """Return a cell in another convention that computes the same states.

        Args:
            update: "writes" or "keeps"; None leaves it. The update gate's rows change their signs.
            reset: "before" or "after"; None leaves it. Done only where both agree for all gates and states: U, the
                candidate's rows of `W_h`, is diagonal, and from "after" b_n is 0; from "before" b_n goes to `b`.

        Raises:
            ValueError: for a convention that is none, or a `reset` that the same U does not serve.

        Example:
            >>> course = GRU(W_x=np.ones((3, 1)), W_h=np.ones((3, 1)), b=[0.0, 1.0, 0.0], b_n=[0.0])
            >>> course.converted(update="keeps").b.tolist()
            [0.0, -1.0, 0.0]
        """
        update = self.update if update is None else update
        reset = self.reset if reset is None else reset
        check_update(update)
        check_reset(reset)
        U = self.W_h[2 * self.hidden_size :]
        b, b_n = self.b.copy(), self.b_n
        if reset != self.reset:
            if self.reset == "before":  # only the sum of the two biases matters here
                b[2 * self.hidden_size :] += b_n
                b_n = np.zeros_like(b_n)
            if (np.diag(np.diag(U)) != U).any() or b_n.any():
                raise ValueError(
                    f"reset: not converted to {reset!r}, because U (r * h) and r * (U h + b_n) agree for all r and h"
                    " only where U, the candidate's rows of W_h, is diagonal and b_n is 0"
                )
        sign = np.ones(3 * self.hidden_size, dtype=self.b.dtype)
        if update != self.update:
            sign[self.hidden_size : 2 * self.hidden_size] = -1
        rows = sign[:, None]
        return GRU(rows * self.W_x, rows * self.W_h, sign * b, b_n, update=update, reset=reset)

    def step(self, x: ArrayLike, state: State) -> State:
        """Return the state after one input.

        Args:
            x: (..., d).
            state: one array (..., H).

        Raises:
            TypeError: if the arguments do not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.
        """
        return one_step(self, x, state)

    def run(self, x: ArrayLike, state: State | None = None, mask: ArrayLike | None = None) -> Trace:
        """Step through a sequence.

        Args:
            x: inputs, (..., T, d).
            state: one array (..., H) to begin with; None is zero.
            mask: True at real tokens, (..., T); elsewhere the state is carried over. None: all are real.

        Returns:
            The pass; `saved` has the gates `r` and `z` and the candidate `n`.

        Raises:
            TypeError: if an argument does not hold what it should.
            ValueError: if a shape does not fit or a number is not finite.
        """
        inputs, real = checked_sequence(x, mask, self.input_size)
        *batch, T, _ = inputs.shape
        shape, H = (*batch, self.hidden_size), self.hidden_size
        (h,) = checked_state("state", self.start() if state is None else state, shape)
        a = time_first(inputs) @ self.W_x.T + self.b  # (T, ..., 3H): what does not depend on the state
        saved = {name: np.empty((T, *shape), dtype=a.dtype) for name in SAVED}
        states = np.empty((T + 1, *shape), dtype=a.dtype)
        states[0] = h
        V, U = self.W_h[: 2 * H], self.W_h[2 * H :]
        for t in range(T):
            h = states[t]
            gates = sigmoid(a[t, ..., : 2 * H] + h @ V.T)
            r, z = gates[..., :H], gates[..., H:]
            n = np.tanh(a[t, ..., 2 * H :] + recalled(h, r, U, self.b_n, self.reset))
            states[t + 1] = np.where(real[..., t, None], mixed(h, n, z, self.update), h)
            for name, value in (("r", r), ("z", z), ("n", n)):
                saved[name][t] = value
        return Trace(inputs, real, (time_last(states),), {k: time_last(v) for k, v in saved.items()})

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
        direct = time_first(checked_gradient(dh, trace, SAVED))
        real = np.moveaxis(trace.mask, -1, 0)[..., None]
        old, x = time_first(trace.states[0])[:-1], time_first(trace.x)
        r, z, n = (time_first(trace.saved[name]) for name in SAVED)
        (later,) = checked_state("last", self.start() if last is None else last, direct.shape[1:])
        H, before, sign = self.hidden_size, self.reset == "before", 1 if self.update == "writes" else -1
        V, U = self.W_h[: 2 * H], self.W_h[2 * H :]
        write = z if self.update == "writes" else 1 - z  # share of the candidate in the new state
        slope_n, slope_z = write * (1 - n**2), sign * (n - old) * z * (1 - z)
        slope_r = (old if before else old @ U.T + self.b_n) * r * (1 - r)
        delta = np.empty((*direct.shape[:-1], 3 * H), dtype=old.dtype)  # dL/d(arguments of r, z, n)
        delta_m = np.empty_like(old)
        for t in reversed(range(len(direct))):
            both = direct[t] + later  # this step's own losses, and all later ones through the state
            arriving = np.where(real[t], both, 0)
            candidate = arriving * slope_n[t]
            delta_m[t] = candidate if before else candidate * r[t]
            back = delta_m[t] @ U
            dr = (back if before else candidate) * slope_r[t]
            delta[t] = np.concatenate([dr, arriving * slope_z[t], candidate], axis=-1)
            through = (back * r[t] if before else back) + delta[t, ..., : 2 * H] @ V
            later = np.where(real[t], both * (1 - write[t]) + through, both)
        parameters = self._gathered(delta, delta_m, x, old, r * old if before else old)
        return Gradients(parameters, x=time_last(delta @ self.W_x), start=(later,))

    def _gathered(
        self, delta: FloatArray, delta_m: FloatArray, x: FloatArray, old: FloatArray, read: FloatArray
    ) -> dict[str, FloatArray]:
        """Sum over time and batch: `read` (T, ..., H) is what the candidate's matrix multiplied."""
        H = self.hidden_size
        flat, flat_m = delta.reshape(-1, 3 * H), delta_m.reshape(-1, H)
        gates = flat[:, : 2 * H].T @ old.reshape(-1, H)
        return {
            "W_x": flat.T @ x.reshape(-1, self.input_size),
            "W_h": np.concatenate([gates, flat_m.T @ read.reshape(-1, H)]),
            "b": flat.sum(axis=0),
            "b_n": flat_m.sum(axis=0),
        }
