"""What every translator of the book can do, whatever it is made of: teacher forcing, generation, refusing bad input.

    first_state(source, mask)   reads sources, gives the state before BOS             the subclass says how
    decode(inputs, state)       reads target tokens, says what may come after each    the subclass says how
    forward                     = decode(BOS and the whole target, first_state)       true histories, checked
    start, step                 = first_state, decode of one token                    NumPy arrays in, logits out

The two written by a subclass get checked input and can rely on it. A state is all that `decode` knows of the source and
of the tokens read before; it may be a recurrent state, or a cache that grows with each call. Sections 2.4 and 2.5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from onesentence.checks import as_ids
from onesentence.numerics import FloatArray
from onesentence.seq2seq.checks import checked_ids, checked_source


class Sizes(Protocol):
    """A configuration: whatever a subclass needs, and these two."""

    @property
    def source_size(self) -> int:
        """Number of source symbols."""
        ...

    @property
    def target_size(self) -> int:
        """V, number of target symbols."""
        ...


class DecoderRows(Protocol):
    """A state: whatever a subclass needs, and the number of its sentences."""

    @property
    def rows(self) -> int:
        """B."""
        ...


Config = TypeVar("Config", bound=Sizes)
State = TypeVar("State", bound=DecoderRows)


class Translator(nn.Module, ABC, Generic[Config, State]):
    """A translator without its parts; `initial` draws one.

    Args:
        config: sizes and design.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config

    @classmethod
    def initial(cls, config: Config, *, seed: int) -> Self:
        """Draw the parameters as PyTorch's layers do by default; the global generator is left as it was.

        Args:
            config: sizes and design.
            seed: of the parameters.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(config)

    @abstractmethod
    def first_state(self, source: Tensor, mask: Tensor) -> State:
        """Read sources and return the state before BOS is read.

        Args:
            source: ids, (B, S), in the vocabulary also where nothing is real.
            mask: True at real units, (B, S), at least one per row.
        """

    @abstractmethod
    def decode(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """Read target tokens and say after each what may come next.

        Args:
            inputs: ids, (B, T), the first of a sentence BOS; T is 1 in generation.
            state: of `first_state`, or what an earlier call returned; left as it is.

        Returns:
            Logits, (B, T, V), and the state after the last token.
        """

    def checked(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        """Return the source with 0 where nothing is real; arguments and errors as `forward`."""
        real = checked_source(source, source_mask, self.config.source_size)
        checked_ids("inputs", inputs, 2, self.config.target_size)
        if len(inputs) != len(source):
            raise ValueError(f"inputs must have {len(source)} rows like source, got {len(inputs)}")
        return real

    def forward(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        """Return logits (B, T, V) with the true history given: teacher forcing.

        Args:
            source: ids, (B, S); not looked at where the mask is False.
            source_mask: True at real units, (B, S); padding may stand on either side.
            inputs: BOS and the target without EOS, (B, T), padding on the right. Logits at padded positions mean
                nothing and are for the loss to leave out.

        Raises:
            TypeError: if ids are not integers or the mask not boolean.
            ValueError: if a shape does not fit, a source has no real unit, or an id lies outside its vocabulary.
        """
        real = self.checked(source, source_mask, inputs)
        logits, _ = self.decode(inputs, self.first_state(real, source_mask))
        return logits

    @torch.no_grad()
    def start(self, source: ArrayLike, mask: ArrayLike | None = None) -> State:
        """Read sources and return the state that generation starts with.

        Args:
            source: ids, (B, S).
            mask: True at real units, (B, S); None: all are.

        Raises:
            TypeError, ValueError: as `forward`.
        """
        ids = torch.from_numpy(as_ids("source", source))
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else torch.from_numpy(np.array(mask))
        return self.first_state(checked_source(ids, real, self.config.source_size), real)

    @torch.no_grad()
    def step(self, ids: ArrayLike, state: State) -> tuple[FloatArray, State]:
        """Read one token of each sentence, and nothing else but the state.

        Args:
            ids: (B,).
            state: of `start`, or what the step before returned.

        Returns:
            Logits, (B, V), and the state.

        Raises:
            TypeError, ValueError: if the ids are no integers, lie outside, or are not as many as the state's rows.
        """
        inputs = torch.from_numpy(as_ids("ids", ids))
        checked_ids("ids", inputs, 1, self.config.target_size)
        if len(inputs) != state.rows:
            raise ValueError(f"ids must have {state.rows} rows like the state, got {len(inputs)}")
        logits, state = self.decode(inputs[:, None], state)
        return logits[:, 0].numpy(), state
