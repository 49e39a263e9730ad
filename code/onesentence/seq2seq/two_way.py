"""An encoder that reads the source in both directions: each position's state has seen the words on either side.

    h_j = [h_j forwards ; h_j backwards]          c_src = [h_S forwards ; h_1 backwards]

Two encoders of `layers` share the embeddings; the second reads the source turned around, padding included, and its
states are turned back. Bahdanau, Cho and Bengio 2014 (arXiv:1409.0473), section 3.2, call h_j an annotation.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from onesentence.seq2seq.layers import CellKind, Encoded, Encoder


class TwoWayEncoder(nn.Module):
    """Embeddings and one recurrent layer in each direction.

    Args:
        vocabulary: number of source symbols.
        embedding: width of an embedding.
        hidden: H of each direction; states and summary are 2H wide.
        cell: which recurrent layer.
        forget_bias: as for `layers.recurrent_layer`.
    """

    def __init__(
        self,
        *,
        vocabulary: int,
        embedding: int,
        hidden: int,
        cell: CellKind,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__()
        self.ahead, self.back = (
            Encoder(
                vocabulary=vocabulary, embedding=embedding, hidden=hidden, cell=cell, forget_bias=forget_bias
            )
            for _ in range(2)
        )
        self.back.embedding = self.ahead.embedding

    def forward(self, ids: Tensor, mask: Tensor) -> Encoded:
        """Read a batch.

        Args:
            ids: integers, (B, S); not looked at where the mask is False.
            mask: True at real units, (B, S).

        Returns:
            States (B, S, 2H), 0 at padded positions, the mask, and the summary (B, 2H).

        Raises:
            TypeError, ValueError: as `layers.Encoder`.
        """
        there = self.ahead(ids, mask)
        back = self.back(ids.flip(1), mask.flip(1))
        states = torch.cat([there.states, back.states.flip(1)], dim=-1)  # (B, S, 2H)
        return Encoded(states, mask, torch.cat([there.summary, back.summary], dim=-1))
