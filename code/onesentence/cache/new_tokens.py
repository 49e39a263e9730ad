"""Where the tokens of one step stand, and which slots their queries may read.

    row b has read n_b tokens; its r-th new token (from 0, padding not counted) has position n_b + r

Query at position p reads the slot that holds position s if s <= p and, with a window, s > p - window. Nothing else is
needed: no mask knows where padding stood. Symbols as in `cache.base`; sections 7.1 and 7.2 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class NewTokens:
    """The tokens of one step.

    Attributes:
        real: True at tokens, (B, T).
        positions: place of each in its row, (B, T) int64; 0 at padding.
        before: tokens of each row without them, (B,) int64 on the CPU.
        after: tokens of each row with them, likewise.
        longest: slots that the longest row needs; 1 if no row has a token, so that there is something to read.
        full: no padding.
        even: no padding, and all rows have one length.
    """

    real: Tensor
    positions: Tensor
    before: Tensor
    after: Tensor
    longest: int
    full: bool
    even: bool

    @cached_property
    def T(self) -> int:
        """Columns of the step, padding among them."""
        return self.real.shape[1]

    @cached_property
    def where(self) -> tuple[Tensor, Tensor]:
        """Row and column of each token, padding left out: two of (n,)."""
        rows, columns = self.real.nonzero(as_tuple=True)
        return rows, columns

    @cached_property
    def places(self) -> Tensor:
        """Position of each token, (n,), in the order of `where`."""
        return self.positions[self.where]

    def tokens_of(self, part: Tensor) -> Tensor:
        """Return what belongs to tokens of (B, G, T, D): (n, G, D), in the order of `where`."""
        columns = part.transpose(1, 2)
        return columns.flatten(0, 1) if self.full else columns[self.real]


def new_tokens(lengths: Tensor, real: Tensor, device: torch.device) -> NewTokens:
    """Return what is to be known of a step.

    Args:
        lengths: tokens of each row so far, (B,) int64 on the CPU.
        real: True at tokens, (B, T).
        device: of what it returns, unless it says CPU.

    Example:
        >>> real = torch.tensor([[False, True, True], [True, False, True]])
        >>> new = new_tokens(torch.tensor([5, 0]), real, torch.device("cpu"))
        >>> new.positions.tolist(), new.after.tolist(), new.even
        ([[0, 5, 6], [0, 0, 1]], [7, 2], False)
    """
    at_hand, T, counts = real.cpu(), real.shape[1], lengths.tolist()
    full = bool(at_hand.all())
    if full:  # a decoding step is made of small calls: as few of them as will do
        places, after = lengths[:, None] + torch.arange(T) if T > 1 else lengths[:, None], lengths + T
    else:
        places = (lengths[:, None] + at_hand.cumsum(dim=1) - 1).masked_fill(~at_hand, 0)
        after = lengths + at_hand.sum(dim=1)
    return NewTokens(
        real=real.to(device),
        positions=places.to(device),
        before=lengths,
        after=after,
        longest=max(counts) + T if full else max(1, *after.tolist()),
        full=full,
        even=full and counts.count(counts[0]) == len(counts),
    )


def mask_of_run(new: NewTokens, start: int, S: int, window: int | None = None) -> tuple[Tensor | None, bool]:
    """Return mask and `causal` of `Seen` where slot j of every row is the place of position start + j.

    Args:
        new: tokens that read.
        start: position of the first slot.
        S: slots. In rows that are even they end with the last new token, and a single query may read them all.
        window: latest tokens that a query reads, itself among them.

    Example:
        >>> new = new_tokens(torch.tensor([2]), torch.ones(1, 2, dtype=torch.bool), torch.device("cpu"))
        >>> mask_of_run(new, 0, 4)[0].int().tolist()
        [[[[1, 1, 1, 0], [1, 1, 1, 1]]]]
    """
    if new.even and new.T == 1:
        return None, False
    if new.even and S == new.T and (window is None or window >= S):
        return None, True
    if new.T == 1 and not start:
        return mask_of_lengths(new.after.to(new.positions.device), S), False
    held = torch.arange(start, start + S, device=new.positions.device)
    rows = 1 if new.even else len(new.positions)  # rows that are even share one mask
    return mask_of_slots(new.positions[:rows], new.real[:rows], held[None], window), False


def mask_of_lengths(lengths: Tensor, S: int) -> Tensor:
    """Return the mask of `Seen` where each row may read its first slots.

    Args:
        lengths: how many, (B,); a row of none reads slot 0, whatever it holds.
        S: slots.

    Returns:
        (B, 1, 1, S).

    Example:
        >>> mask_of_lengths(torch.tensor([0, 2]), 3).int().tolist()
        [[[[1, 0, 0]]], [[[1, 1, 0]]]]
    """
    return (torch.arange(S, device=lengths.device) < lengths.clamp(min=1)[:, None])[:, None, None]


def mask_of_slots(positions: Tensor, real: Tensor, held: Tensor, window: int | None = None) -> Tensor:
    """Return the mask of `Seen` where slots hold whatever positions.

    Args:
        positions: of the queries, (B, T).
        real: True at tokens, (B, T); the query of a padding reads slot 0, whatever it holds.
        held: position that each slot holds, -1 if none, (B, S) or (1, S).
        window: latest tokens that a query reads, itself among them.

    Returns:
        (B, 1, T, S).
    """
    asked, held = positions[:, :, None], held[:, None]
    mask = (held >= 0) & (held <= asked)
    if window is not None:
        mask &= held > asked - window
    mask[:, :, 0] |= ~real
    return mask[:, None]
