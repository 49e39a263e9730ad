"""Two cells over one given sequence: one reads from left to right, the other from right to left.

    f_t = forward cell of (x_t, f_{t-1})        b_t = backward cell of (x_t, b_{t+1})        h_t = [f_t; b_t]

The two share no parameters and do not meet before the concatenation. h_t depends on the whole sequence, so there is
no `step`: it cannot be computed before the sequence has ended. At padded positions either cell carries its state
over, so both read the same real tokens whichever side the padding stands on.

Section 2.13 of the course; Schuster and Paliwal 1997 (IEEE Transactions on Signal Processing 45).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_floats, as_mask
from onesentence.recurrent.cell import Cell, Gradients, State, Trace


@dataclass(frozen=True, eq=False)
class TwoWayTrace:
    """What one pass computed.

    Attributes:
        forth: the pass from left to right.
        back: the pass from right to left, along its own time: its step 0 reads the last position.
    """

    forth: Trace
    back: Trace

    @property
    def h(self) -> FloatArray:
        """[f_t; b_t] at each position, (..., T, H + H')."""
        return np.concatenate([self.forth.h, self.back.h[..., ::-1, :]], axis=-1)

    @property
    def last(self) -> State:
        """The states of both cells after they have read everything, first the parts of `forth`, then of `back`."""
        return (*self.forth.last, *self.back.last)


@dataclass(frozen=True, eq=False)
class Bidirectional:
    """Two cells of the same input width.

    Attributes:
        forth: reads from left to right.
        back: reads from right to left.

    Example:
        >>> from onesentence.recurrent.rnn import RNN
        >>> same = RNN(W_x=[[0.5]], W_h=[[0.8]], b=[0.0])
        >>> Bidirectional(same, same).run([[1.0], [0.0]]).h.round(6).tolist()
        [[0.462117, 0.462117], [0.353724, 0.0]]
    """

    forth: Cell
    back: Cell

    def __post_init__(self) -> None:
        if self.forth.input_size != self.back.input_size:
            raise ValueError(
                f"back must read inputs of width {self.forth.input_size} as forth does,"
                f" got width {self.back.input_size}"
            )

    @property
    def input_size(self) -> int:
        """D, width of an input."""
        return self.forth.input_size

    @property
    def hidden_size(self) -> int:
        """Width of [f_t; b_t], the sum of the two cells' widths."""
        return self.forth.hidden_size + self.back.hidden_size

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays as `forth.NAME` and `back.NAME`, not copies."""
        return _named(self.forth.parameters(), self.back.parameters())

    def run(self, x: ArrayLike, state: State | None = None, mask: ArrayLike | None = None) -> TwoWayTrace:
        """Read a whole sequence both ways.

        Args:
            x: inputs, (..., T, d).
            state: what the cells begin with, first the parts of `forth`, then of `back`; None is zero.
            mask: True at real tokens, broadcastable to (..., T). None: all are real.

        Raises:
            TypeError: if an argument does not hold what it should.
            ValueError: if a shape does not fit or a number is not finite.
        """
        inputs = as_floats("x", x)
        if inputs.ndim < 2:
            raise ValueError(f"x must have shape (..., T, {self.input_size}), got {inputs.shape}")
        real = as_mask("mask", True if mask is None else mask, inputs.shape[:-1])
        first, second = self._split("state", state)
        forth = self.forth.run(inputs, first, real)
        return TwoWayTrace(forth, self.back.run(inputs[..., ::-1, :], second, real[..., ::-1]))

    def backward(self, trace: TwoWayTrace, dh: ArrayLike, last: State | None = None) -> Gradients:
        """Go back through both passes.

        Args:
            trace: a pass of `run`.
            dh: dL/dh_t, (..., T, H + H').
            last: dL/d(last state) in addition, in the order of `state`; None is zero.

        Raises:
            TypeError: if an argument does not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.
        """
        gradient = as_floats("dh", dh)
        if gradient.shape != trace.h.shape:
            raise ValueError(f"dh must have shape {trace.h.shape}, got {gradient.shape}")
        first, second = self._split("last", last)
        H = self.forth.hidden_size
        forth = self.forth.backward(trace.forth, gradient[..., :H], first)
        back = self.back.backward(trace.back, gradient[..., ::-1, H:], second)
        parameters = _named(forth.parameters, back.parameters)
        return Gradients(parameters, forth.x + back.x[..., ::-1, :], (*forth.start, *back.start))

    def _split(self, name: str, state: State | None) -> tuple[State | None, State | None]:
        if state is None:
            return None, None
        parts, all_parts = len(self.forth.start()), len(self.forth.start()) + len(self.back.start())
        if not isinstance(state, tuple):
            raise TypeError(f"{name} must be a tuple of {all_parts} arrays, got {type(state).__name__}")
        if len(state) != all_parts:
            raise ValueError(f"{name} must have {all_parts} parts, got {len(state)}")
        return state[:parts], state[parts:]


def _named(forth: dict[str, FloatArray], back: dict[str, FloatArray]) -> dict[str, FloatArray]:
    return {f"forth.{k}": v for k, v in forth.items()} | {f"back.{k}": v for k, v in back.items()}
