"""One sequence cut into chunks: what passes a border forwards, and what passes it backwards.

    mode       state at a border     gradient at a border
    "full"     carried over          carried back
    "detach"   carried over          stopped
    "reset"    set to zero           stopped

`full` is backpropagation through time over the whole sequence, whatever the chunks: it needs what every step computed.
`detach` is truncated BPTT with windows of one chunk: the losses are those of `full`, the gradients are not. `reset`
forgets; its losses are those of sequences that begin at each border. Parameters are the same in all chunks here; who
updates them in between goes on with a state that the old ones computed.

Section 2.14 of the course; truncated BPTT: Williams and Peng 1990 (Neural Computation 2(4)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onesentence.numerics import FloatArray, as_mask
from onesentence.recurrent.cell import State
from onesentence.recurrent.language_model import LossGradients, Pass, RecurrentLM

Mode = Literal["full", "detach", "reset"]
MODES: tuple[Mode, ...] = ("full", "detach", "reset")


def chunk_ranges(length: int, size: int) -> list[range]:
    """Return the positions of each chunk, from 0; the last may be shorter.

    Args:
        length: T.
        size: positions per chunk.

    Raises:
        ValueError: if one of them is less than 1.

    Example:
        >>> [list(chunk) for chunk in chunk_ranges(5, 2)]
        [[0, 1], [2, 3], [4]]
    """
    if length < 1 or size < 1:
        raise ValueError(f"length and size must be at least 1, got {length} and {size}")
    return [range(begin, min(begin + size, length)) for begin in range(0, length, size)]


@dataclass(frozen=True, eq=False)
class Chunk:
    """What one chunk began with and what it gave.

    Attributes:
        positions: which of the sequence.
        start: the state that it began with.
        done: its forward pass.
        gradients: its own loss, and the gradients that reach it.
    """

    positions: range
    start: State
    done: Pass
    gradients: LossGradients


@dataclass(frozen=True, eq=False)
class ChunkedRun:
    """All chunks of a sequence, in order.

    Attributes:
        mode: what passed the borders.
        chunks: one after the other.
    """

    mode: Mode
    chunks: tuple[Chunk, ...]

    @property
    def loss(self) -> float:
        """Sum of the losses of all chunks, in nats."""
        return sum(chunk.gradients.loss for chunk in self.chunks)

    @property
    def h(self) -> FloatArray:
        """Hidden states, (..., T, H)."""
        return np.concatenate([chunk.done.trace.h for chunk in self.chunks], axis=-2)

    @property
    def x_gradient(self) -> FloatArray:
        """dL/dx_t as far as it got, (..., T, d)."""
        return np.concatenate([chunk.gradients.x for chunk in self.chunks], axis=-2)

    @property
    def parameters(self) -> dict[str, FloatArray]:
        """Gradients of the parameters, added over the chunks."""
        every = [chunk.gradients.parameters for chunk in self.chunks]
        return {name: np.sum([one[name] for one in every], axis=0) for name in every[0]}

    @property
    def kept(self) -> int:
        """How many numbers of forward passes must be held at once: of all chunks in `full`, else of the largest."""
        sizes = [saved_numbers(chunk.done) for chunk in self.chunks]
        return sum(sizes) if self.mode == "full" else max(sizes)


def saved_numbers(done: Pass) -> int:
    """Return how many numbers a pass holds for its way back: inputs, states, what the cell saved, scores.

    The states of a pass of T steps are counted T times: its first belongs to the pass before it. A view of the states
    among what the cell saved is not counted again.

    Example:
        >>> from onesentence.recurrent.rnn import RNN
        >>> rng = np.random.default_rng(0)
        >>> lm = RecurrentLM.initial(RNN.initial(inputs=3, hidden=4, rng=rng), table=5, rng=rng)
        >>> saved_numbers(lm.forward([0, 1]))  # 2 (3 + 4 + 4 + 5): x, h, u and scores of two steps
        32
    """
    trace = done.trace
    states = sum(part[..., 1:, :].size for part in trace.states)
    saved = sum(
        array.size
        for array in trace.saved.values()
        if not any(np.may_share_memory(array, part) for part in trace.states)
    )
    return int(trace.x.size + states + saved + done.logits.size)


def run_chunks(
    lm: RecurrentLM,
    ids: ArrayLike,
    targets: ArrayLike,
    *,
    size: int,
    mode: Mode,
    scored: ArrayLike | None = None,
    state: State | None = None,
) -> ChunkedRun:
    """Run a sequence chunk by chunk, forwards and backwards, with the same parameters throughout.

    Args:
        lm: the model.
        ids: what is read, (..., T).
        targets: what comes next, (..., T).
        size: steps per chunk.
        mode: what passes a border, one of `MODES`.
        scored: True where the loss counts, broadcastable to (..., T); None counts all.
        state: what the first chunk begins with, zero if None; in `reset` what every chunk begins with.

    Raises:
        TypeError, ValueError: as `RecurrentLM.gradients`; ValueError for an unknown mode, or a size below 1.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {MODES}, got {mode!r}")
    numbers, labels = np.asarray(ids), np.asarray(targets)
    if numbers.ndim == 0 or labels.shape != numbers.shape:
        raise ValueError(f"ids and targets must share a shape (..., T), got {numbers.shape}, {labels.shape}")
    counting = as_mask("scored", True if scored is None else scored, numbers.shape)
    first = lm.cell.start(numbers.shape[:-1]) if state is None else state
    ranges = chunk_ranges(numbers.shape[-1], size)
    passes, starts = [], []
    carried = first
    for positions in ranges:
        starts.append(first if mode == "reset" else carried)
        passes.append(lm.forward(numbers[..., positions], state=starts[-1]))
        carried = passes[-1].last
    gradients: list[LossGradients] = []
    for done, positions in zip(reversed(passes), reversed(ranges), strict=True):
        last = gradients[-1].start if mode == "full" and gradients else None
        gradients.append(lm.backward(done, labels[..., positions], counting[..., positions], last))
    parts = zip(ranges, starts, passes, reversed(gradients), strict=True)
    return ChunkedRun(mode, tuple(Chunk(*part) for part in parts))
