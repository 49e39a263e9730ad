"""Recurrent encoders over padded sources, in one direction or in both, as if each source stood alone.

    f_j = f(x_j, f_{j-1})                                 c_src = f_S
    f_j = f(x_j, f_{j-1}),  b_j = f'(x_j, b_{j+1})        h_j = [f_j; b_j],  c_src = [f_S; b_1]

Nothing padded comes before a real unit: where a source does not begin with its real units they are moved to the front,
in their order, and the backward layer gets them turned round in their places. That equals `pack_padded_sequence` and is
faster at the sizes of this book. Sections 2.3, 2.4 and 2.13; Bahdanau, Cho and Bengio 2014 (arXiv:1409.0473), section
3.2, call an h_j of both directions an annotation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from onesentence.seq2seq.layers import CellKind, recurrent_layer


@dataclass(frozen=True, eq=False)
class Encoded:
    """A batch of sources as an encoder has read it.

    Attributes:
        states: h, (B, S, E), E = H or, of both directions, 2H; 0 at padded positions.
        mask: True at real units, (B, S).
        summary: c_src, what each direction has after its last unit, (B, E).
    """

    states: Tensor
    mask: Tensor
    summary: Tensor


class SourceLayers(nn.Module):
    """One recurrent layer over inputs, or one in each direction.

    Args:
        inputs: width of an input.
        hidden: H, width of a direction.
        cell: which recurrent layer.
        two_way: whether there is a second layer, from the end.
        forget_bias: as for `layers.recurrent_layer`.

    Example:
        >>> layers = SourceLayers(inputs=3, hidden=4, cell="gru", two_way=True)
        >>> encoded = layers(torch.ones(2, 5, 3), torch.ones(2, 5, dtype=torch.bool))
        >>> tuple(encoded.states.shape), tuple(encoded.summary.shape)
        ((2, 5, 8), (2, 8))
    """

    def __init__(
        self, *, inputs: int, hidden: int, cell: CellKind, two_way: bool, forget_bias: float | None = None
    ) -> None:
        super().__init__()
        self.forth = recurrent_layer(cell, inputs=inputs, hidden=hidden, forget_bias=forget_bias)
        self.back = (
            recurrent_layer(cell, inputs=inputs, hidden=hidden, forget_bias=forget_bias) if two_way else None
        )

    def forward(self, x: Tensor, mask: Tensor) -> Encoded:
        """Read a batch.

        Args:
            x: inputs, (B, S, d).
            mask: True at real units, (B, S), at least one per row; padding may stand anywhere.
        """
        if not bool((mask[:, 1:] & ~mask[:, :-1]).any()):  # every source begins with its real units
            return self._read(x, mask)
        order = torch.argsort(mask.logical_not(), dim=1, stable=True)  # real units first, in their order
        front = self._read(x.gather(1, order[..., None].expand_as(x)), mask.gather(1, order))
        places = order[..., None].expand_as(front.states)
        return Encoded(torch.zeros_like(front.states).scatter(1, places, front.states), mask, front.summary)

    def _read(self, x: Tensor, mask: Tensor) -> Encoded:
        """Read sources that begin with their real units."""
        rows, lengths = torch.arange(len(x), device=x.device), mask.sum(dim=1)
        states, _ = self.forth(x)
        summary = states[rows, lengths - 1]
        if self.back is not None:
            places = torch.arange(mask.shape[1], device=x.device)
            # real places the other way round, padding where it is: turned twice, all is as it was
            turn = torch.where(mask, lengths[:, None] - 1 - places, places)[..., None]
            back, _ = self.back(x.gather(1, turn.expand_as(x)))
            summary = torch.cat([summary, back[rows, lengths - 1]], dim=-1)
            states = torch.cat([states, back.gather(1, turn.expand_as(back))], dim=-1)
        return Encoded(states.masked_fill(~mask[..., None], 0), mask, summary)


class Encoder(nn.Module):
    """Embeddings and recurrent layers over the source.

    Args:
        vocabulary: number of source symbols.
        embedding: width of an embedding.
        hidden: H of each direction.
        cell: which recurrent layer.
        two_way: whether the source is read from its end too.
        forget_bias: as for `layers.recurrent_layer`.
    """

    def __init__(
        self,
        *,
        vocabulary: int,
        embedding: int,
        hidden: int,
        cell: CellKind,
        two_way: bool = False,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.layers = SourceLayers(
            inputs=embedding, hidden=hidden, cell=cell, two_way=two_way, forget_bias=forget_bias
        )

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        """Read a batch; a translator has checked it.

        Args:
            source: ids, (B, S), in the vocabulary also where nothing is real.
            mask: True at real units, (B, S), at least one per row.
        """
        encoded: Encoded = self.layers(self.embedding(source), mask)
        return encoded
