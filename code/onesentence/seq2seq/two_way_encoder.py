"""An LSTM in each direction over padded sources, as if each stood alone, in PyTorch.

    f_j = forward LSTM of (x_j, f_{j-1})      b_j = backward LSTM of (x_j, b_{j+1})      s_j = [f_j; b_j]

Padding stands on the right; the backward layer gets the real units turned round in their places, so neither reads
anything padded before them. That is faster than `pack_padded_sequence` at the sizes of this book, and equal to it.
Section 2.13 of the course.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TwoWayEncoder(nn.Module):
    """The two layers, with as many parameters as one bidirectional `nn.LSTM`.

    Args:
        inputs: width of an input.
        hidden: E, width of a direction.

    Example:
        >>> encoder = TwoWayEncoder(3, 4)
        >>> states, ends = encoder(torch.ones(2, 5, 3), torch.ones(2, 5, dtype=torch.bool))
        >>> tuple(states.shape), tuple(ends.shape)
        ((2, 5, 8), (2, 8))
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forth = nn.LSTM(inputs, hidden, batch_first=True)
        self.back = nn.LSTM(inputs, hidden, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Read a batch.

        Args:
            x: inputs, (B, S, d).
            mask: True at real units, (B, S), at least one per row, padding on the right.

        Returns:
            s, (B, S, 2E), 0 at padded positions, and [f_S; b_1], what either direction has after its last unit, (B, 2E).
        """
        lengths = mask.sum(dim=1)
        rows, places = torch.arange(len(x)), torch.arange(mask.shape[1])
        # real places the other way round, padding where it is: turned twice, all is as it was
        turn = torch.where(mask, lengths[:, None] - 1 - places, places)[..., None]
        forth, _ = self.forth(x)
        back, _ = self.back(x.gather(1, turn.expand_as(x)))
        ends = torch.cat([forth[rows, lengths - 1], back[rows, lengths - 1]], dim=-1)
        states = torch.cat([forth, back.gather(1, turn.expand_as(back))], dim=-1)
        return states.masked_fill(~mask[..., None], 0), ends
