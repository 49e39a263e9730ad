"""What every recurrent cell is to the rest of the book: a state, one step, a whole sequence, and the way back.

Symbols: `T` time steps, `d` input width, `H` state width; a leading `...` stands for any batch axes, also none.
Time is the last axis but one, `x` (..., T, d). A state is a tuple of arrays (..., H) whose first entry is the
hidden state h; the LSTM's second is its cell c. Masks are `True = a real token`: at a padded position the state
is carried over unchanged, so a padded sequence ends in the same state as the sequence alone, whichever side the
padding stands on. Losses are sums over time unless their gradient says otherwise: `backward` takes dL/dh_t at each
position as it is and adds nothing up but the paths through time.

Section 2.1 of the course; backward pass: section 2.9, Pascanu, Mikolov and Bengio 2013 (arXiv:1211.5063), section 1.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.numerics import FloatArray, as_floats, as_mask

State: TypeAlias = tuple[FloatArray, ...]
"""A state: arrays (..., H), the hidden state first."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What one forward pass over a sequence computed; `backward` reads it, so do pages.

    Attributes:
        x: inputs, (..., T, d).
        mask: True at real tokens, (..., T).
        states: per part of the state an array (..., T + 1, H); index 0 along time is the state before the first step.
        saved: intermediate values by name, each (..., T, H); which ones there are is the cell's business.
    """

    x: FloatArray
    mask: NDArray[np.bool_]
    states: State
    saved: dict[str, FloatArray]

    @property
    def h(self) -> FloatArray:
        """Hidden states after each step, (..., T, H)."""
        return self.states[0][..., 1:, :]

    @property
    def last(self) -> State:
        """The state after the last step, (..., H) each."""
        return tuple(part[..., -1, :] for part in self.states)


@dataclass(frozen=True, eq=False)
class Gradients:
    """What a backward pass returns.

    Attributes:
        parameters: dL/dtheta by the names of `parameters()`, summed over time and batch.
        x: dL/dx, (..., T, d); 0 at padded positions.
        start: dL/d(state before the first step), shaped like that state.
    """

    parameters: dict[str, FloatArray]
    x: FloatArray
    start: State


class Cell(Protocol):
    """A recurrent cell: RNN, LSTM or GRU."""

    @property
    def input_size(self) -> int:
        """D, width of an input."""
        ...

    @property
    def hidden_size(self) -> int:
        """H, width of the hidden state."""
        ...

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name, not copies."""
        ...

    def start(self, batch: tuple[int, ...] = ()) -> State:
        """Return the zero state for a batch of this shape."""
        ...

    def step(self, x: ArrayLike, state: State) -> State:
        """Return the state after one input (..., d)."""
        ...

    def run(self, x: ArrayLike, state: State | None = None, mask: ArrayLike | None = None) -> Trace:
        """Step through a sequence (..., T, d) from a state, by default zero."""
        ...

    def backward(self, trace: Trace, dh: ArrayLike, last: State | None = None) -> Gradients:
        """Return the gradients of a loss, given dL/dh at each step and, where it reads it, dL/d(last state)."""
        ...


def time_first(array: FloatArray) -> FloatArray:
    """Return (..., T, n) as a contiguous copy (T, ..., n): a step then reads one block of memory."""
    return np.ascontiguousarray(np.moveaxis(array, -2, 0))


def time_last(array: FloatArray) -> FloatArray:
    """Return (T, ..., n) as a view (..., T, n)."""
    return np.moveaxis(array, 0, -2)


def checked_sequence(
    x: ArrayLike, mask: ArrayLike | None, width: int
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return inputs and mask after checking them.

    Args:
        x: inputs, (..., T, d).
        mask: True at real tokens, broadcastable to (..., T); None where all are real.
        width: d.

    Raises:
        TypeError: if `x` is not real or `mask` not boolean.
        ValueError: if a shape does not fit, or a real token's input is not finite.
    """
    inputs = as_floats("x", x)
    if inputs.ndim < 2 or inputs.shape[-1] != width:
        raise ValueError(f"x must have shape (..., T, {width}), got {inputs.shape}")
    real = as_mask("mask", True if mask is None else mask, inputs.shape[:-1])
    if not np.isfinite(inputs[real]).all():
        raise ValueError("x must be finite at every real token, got NaN or infinity")
    return np.where(real[..., None], inputs, 0), real


def checked_state(name: str, state: State, shape: tuple[int, ...], parts: int = 1) -> State:
    """Return a state (or its gradient) as arrays of `shape` after checking it.

    Args:
        name: what error messages call it.
        state: a tuple of arrays, each broadcastable to `shape`.
        shape: (..., H).
        parts: how many arrays it must have.

    Raises:
        TypeError: if it is not a tuple, or does not hold real numbers.
        ValueError: if it has another number of parts, does not broadcast to `shape`, or is not finite.
    """
    if not isinstance(state, tuple):
        raise TypeError(f"{name} must be a tuple of {parts} arrays, got {type(state).__name__}")
    if len(state) != parts:
        raise ValueError(f"{name} must have {parts} parts, got {len(state)}")
    arrays = []
    for part in state:
        array = as_floats(name, part)
        if array.shape[-1:] != shape[-1:] or array.ndim > len(shape):
            raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
        try:
            array = np.broadcast_to(array, shape)
        except ValueError as error:
            raise ValueError(f"{name} must have shape {shape}, got {array.shape}") from error
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
        arrays.append(array)
    return tuple(arrays)


def checked_gradient(dh: ArrayLike, trace: Trace, saved: tuple[str, ...]) -> FloatArray:
    """Return dL/dh, (..., T, H), after checking it against the pass that it belongs to.

    Args:
        dh: dL/dh_t at each step.
        trace: the pass.
        saved: what a pass of this kind of cell saves; another kind may have states of the same shape.

    Raises:
        TypeError: if it does not hold real numbers.
        ValueError: if the pass is one of another kind of cell, or the gradient does not have the shape of `trace.h`
            or is not finite.
    """
    if not set(saved) <= set(trace.saved):
        raise ValueError(f"trace must be a pass that saved {saved}, got one with {tuple(trace.saved)}")
    gradient = as_floats("dh", dh)
    if gradient.shape != trace.h.shape:
        raise ValueError(f"dh must have shape {trace.h.shape}, got {gradient.shape}")
    if not np.isfinite(gradient).all():
        raise ValueError("dh must be finite, got NaN or infinity")
    return gradient


def checked_weights(name: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return a parameter as a finite array, a copy of `value`.

    Raises:
        TypeError: if it does not hold real numbers.
        ValueError: if it has another shape or is not finite.
    """
    array = as_floats(name, value).copy()
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity in shape {array.shape}")
    return array


def one_step(cell: Cell, x: ArrayLike, state: State) -> State:
    """Return the state after one input, by a `run` over a sequence of one.

    Args:
        cell: the cell, whose `run` checks the arguments.
        x: (..., d).
        state: as the cell has it.

    Raises:
        TypeError: if the arguments do not hold real numbers.
        ValueError: if a shape does not fit or a number is not finite.
    """
    inputs = as_floats("x", x)
    if inputs.ndim == 0:
        raise ValueError(f"x must have shape (..., {cell.input_size}), got a scalar")
    return cell.run(inputs[..., None, :], state).last
