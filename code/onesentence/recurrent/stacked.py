"""Cells on top of each other: each reads, at every time step, the hidden state of the one below.

    h_t^(1) = cell 1 of (x_t, h_{t-1}^(1))        h_t^(l) = cell l of (h_t^(l-1), h_{t-1}^(l))        l = 2 ... L

Two axes: along time a layer uses the same parameters at every step, along depth each layer has its own. The stack is
a cell itself. Its state holds the parts of the highest layer first, so that its first array is what the rest of a
model reads, then those of the layers below, down to the first.

Section 2.13 of the course; Graves, Mohamed and Hinton 2013 (arXiv:1303.5778), whose layers read the one below and
their own past, as here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray
from onesentence.recurrent.cell import Cell, Gradients, State, Trace, one_step


@dataclass(frozen=True, eq=False)
class Stacked:
    """Layers from the lowest to the highest.

    Attributes:
        layers: cells; the input width of each is the state width of the one below.

    Example:
        >>> from onesentence.recurrent.rnn import RNN
        >>> cell = RNN(W_x=[[0.5]], W_h=[[0.8]], b=[0.0])
        >>> stack = Stacked((cell, cell))
        >>> [part.round(6).tolist() for part in stack.run([[1.0]]).last]  # tanh(0.5 tanh(0.5)), tanh(0.5)
        [[0.227033], [0.462117]]
    """

    layers: tuple[Cell, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.layers, tuple) or not self.layers:
            raise ValueError(f"layers must be a tuple of at least one cell, got {self.layers!r}")
        for i, (below, above) in enumerate(zip(self.layers, self.layers[1:], strict=False), start=2):
            if above.input_size != below.hidden_size:
                raise ValueError(
                    f"layers: layer {i} must read inputs of width {below.hidden_size}, the state below,"
                    f" got width {above.input_size}"
                )

    @property
    def input_size(self) -> int:
        """D, width of an input of the lowest layer."""
        return self.layers[0].input_size

    @property
    def hidden_size(self) -> int:
        """H, width of the highest layer's state."""
        return self.layers[-1].hidden_size

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays as `1.NAME`, `2.NAME` ... from the lowest layer, not copies."""
        return _named(cell.parameters() for cell in self.layers)

    def start(self, batch: tuple[int, ...] = ()) -> State:
        """Return the zero state for a batch of this shape."""
        return _joined([cell.start(batch) for cell in self.layers])

    def parts(self, state: State) -> list[State]:
        """Return the state of each layer, lowest first.

        Args:
            state: arrays of all the layers, highest first.

        Raises:
            TypeError: if it is not a tuple.
            ValueError: if it has another number of arrays than the layers need.
        """
        sizes = [len(cell.start()) for cell in self.layers]
        if not isinstance(state, tuple):
            raise TypeError(f"state must be a tuple of {sum(sizes)} arrays, got {type(state).__name__}")
        if len(state) != sum(sizes):
            raise ValueError(f"state must have {sum(sizes)} parts, got {len(state)}")
        ends = [sum(sizes[i:]) for i in range(len(sizes))]
        return [state[end - size : end] for end, size in zip(ends, sizes, strict=True)]

    def step(self, x: ArrayLike, state: State) -> State:
        """Return the state after one input.

        Args:
            x: (..., d).
            state: arrays of all the layers, highest first.

        Raises:
            TypeError: if the arguments do not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.
        """
        return one_step(self, x, state)

    def run(self, x: ArrayLike, state: State | None = None, mask: ArrayLike | None = None) -> Trace:
        """Step through a sequence, a layer at a time.

        Args:
            x: inputs, (..., T, d).
            state: arrays of all the layers, highest first; None is zero.
            mask: True at real tokens, (..., T). None: all are real.

        Returns:
            The pass; `saved` has each layer's values under `1.NAME`, `2.NAME` ...

        Raises:
            TypeError: if an argument does not hold what it should.
            ValueError: if a shape does not fit or a number is not finite.
        """
        traces: list[Trace] = []
        for cell, part in zip(self.layers, self.parts(self.start() if state is None else state), strict=True):
            traces.append(cell.run(traces[-1].h if traces else x, part, mask))
        states = _joined([trace.states for trace in traces])
        return Trace(traces[0].x, traces[0].mask, states, _named(trace.saved for trace in traces))

    def backward(self, trace: Trace, dh: ArrayLike, last: State | None = None) -> Gradients:
        """Go back through time, from the highest layer down: dL/dx of a layer is dL/dh of the one below.

        Args:
            trace: a pass of `run` of this stack.
            dh: dL/dh_t of the highest layer, (..., T, H).
            last: dL/d(last state) in addition, shaped like the state; None is zero.

        Raises:
            TypeError: if an argument does not hold real numbers.
            ValueError: if a shape does not fit or a number is not finite.
        """
        ends = self.parts(self.start() if last is None else last)
        states = self.parts(trace.states)
        found: list[Gradients] = []
        for i in reversed(range(len(self.layers))):
            mine = {
                k.partition(".")[2]: v for k, v in trace.saved.items() if k.partition(".")[0] == str(i + 1)
            }
            below = trace.x if i == 0 else states[i - 1][0][..., 1:, :]
            own = Trace(below, trace.mask, states[i], mine)
            found.insert(0, self.layers[i].backward(own, found[0].x if found else dh, ends[i]))
        start = _joined([gradients.start for gradients in found])
        return Gradients(_named(gradients.parameters for gradients in found), found[0].x, start)


def _named(layers: Iterable[dict[str, FloatArray]]) -> dict[str, FloatArray]:
    return {
        f"{i}.{name}": value for i, arrays in enumerate(layers, start=1) for name, value in arrays.items()
    }


def _joined(states: list[State]) -> State:
    return tuple(part for state in reversed(states) for part in state)
