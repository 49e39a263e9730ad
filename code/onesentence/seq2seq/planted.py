"""A reader that writes its source backwards, built by hand, with one fault planted in it.

    s_j = [A[x_j]; place_j]                   states: the letter as the encoder renders it, and where it stands
    e_tj = sharp * place_{S-1-t+shift} . s_j  step t reads from the end
    c_t = sum_j alpha_tj A[x_j]
    logits = sharp * G c_t                    EOS from step S on

No fault: A and G the identity, shift 0. `source`: A renders two letters alike. `reading`: shift is not 0. `output`: G
exchanges two letters, a fault behind the read that is neither. So what a diagnosis should say of it is known.

A construction of this book, not of the course.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onesentence.attention.read import read
from onesentence.checks import as_ids, checked_integer
from onesentence.numerics import FloatArray

Fault = Literal["none", "source", "reading", "output"]
LONGEST = 8


@dataclass(frozen=True, eq=False)
class PlantedState:
    """What a planted reader carries.

    Attributes:
        states: (S, n + LONGEST).
        weights: of the read just done, (S,).
        size: S.
        done: steps so far.
    """

    states: FloatArray
    weights: FloatArray
    size: int
    done: int


@dataclass(frozen=True)
class PlantedReader:
    """Ids 0 to n - 1 are letters, n is EOS, n + 1 is BOS.

    Attributes:
        fault: where it is.
        letters: n, at least 3; the fault concerns letters 0 and 1.
        sharp: how decided reads and choices are, finite and at least 2: the place asked for must outweigh LONGEST - 1
            others with one letter, e^sharp > 7.

    Example:
        >>> right, wrong = PlantedReader(), PlantedReader("output")
        >>> right.write([2, 0, 1]), wrong.write([2, 0, 1])
        ((1, 0, 2, 4), (0, 1, 2, 4))
    """

    fault: Fault = "none"
    letters: int = 4
    sharp: float = 6.0

    def __post_init__(self) -> None:
        if self.fault not in ("none", "source", "reading", "output"):
            raise ValueError(f"fault: expected none, source, reading or output, got {self.fault!r}")
        checked_integer("letters", self.letters, 3)
        if not 2 <= self.sharp < np.inf:
            raise ValueError(f"sharp must be finite and at least 2, got {self.sharp}")

    @property
    def eos(self) -> int:
        """Id that ends a text."""
        return self.letters

    @property
    def bos(self) -> int:
        """Id that the first step reads."""
        return self.letters + 1

    def start(self, source: ArrayLike) -> PlantedState:
        """Read a source.

        Args:
            source: ids of letters, (S,), S from 1 to LONGEST.

        Raises:
            TypeError: if they are no integers.
            ValueError: if there are too many or none, or one is no letter.
        """
        ids = as_ids("source", source, self.letters)
        if ids.ndim != 1 or not 1 <= len(ids) <= LONGEST:
            raise ValueError(f"source must have shape (S,) with S from 1 to {LONGEST}, got {ids.shape}")
        A = np.eye(self.letters)
        if self.fault == "source":
            A[1] = A[0]
        states = np.hstack([A[ids], np.eye(LONGEST)[: len(ids)]])
        return PlantedState(states, np.full(len(ids), 1 / len(ids)), len(ids), 0)

    def step(self, token: int, state: PlantedState) -> tuple[FloatArray, PlantedState]:
        """Read the source; the token is not looked at, so nothing can come of a wrong history.

        Args:
            token: an id.
            state: of `start`, or what the step before returned.

        Returns:
            Logits, (n + 2,), and the state.
        """
        n, at = self.letters, state.size - 1 - state.done - (self.fault == "reading")
        q = self.sharp * np.eye(LONGEST)[max(at, 0)]
        found = read(q, state.states[:, n:], state.states[:, :n])
        G = np.eye(n)
        if self.fault == "output":
            G[[0, 1]] = G[[1, 0]]
        logits = np.zeros(n + 2)
        logits[:n] = self.sharp * G @ found.context
        logits[self.eos] = 2 * self.sharp if state.done >= state.size else -self.sharp
        logits[self.bos] = -2 * self.sharp
        return logits, replace(state, weights=found.weights, done=state.done + 1)

    def write(self, source: ArrayLike) -> tuple[int, ...]:
        """Return what it writes greedily, EOS at the end."""
        state, ids = self.start(source), [self.bos]
        while ids[-1] != self.eos:
            logits, state = self.step(ids[-1], state)
            ids.append(int(logits.argmax()))
        return tuple(ids[1:])
