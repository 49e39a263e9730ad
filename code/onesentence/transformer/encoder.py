"""The encoder: every source position reads every other, block after block.

Symbols: `B` batch, `S` source length, `C` width. Padding may stand on either side; a position counts from the first
real unit of its sentence, so a sentence is encoded as if it stood alone. Sections 4.7, 4.11 and 4.13 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from onesentence.transformer.block import EncoderBlock
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.embedding import InputEmbedding
from onesentence.transformer.norms import LayerNorm


@dataclass(frozen=True, eq=False)
class Memory:
    """A batch of sources as the encoder has read it.

    Attributes:
        states: one row per unit, (B, S, C); rows of padding mean nothing.
        mask: True at real units, (B, S).
    """

    states: Tensor
    mask: Tensor


class Encoder(nn.Module):
    """Embeddings, positions and blocks.

    Args:
        config: sizes and design.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.embedding = InputEmbedding(config.source_size, config)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(config.encoder_layers))
        self.last = LayerNorm(config.d_model) if config.order == "pre" else nn.Identity()

    def forward(self, ids: Tensor, mask: Tensor) -> Memory:
        """Read a batch.

        Args:
            ids: integers, (B, S); not looked at where the mask is False.
            mask: True at real units, (B, S).

        Raises:
            TypeError: if `mask` is not boolean or `ids` not integer.
            ValueError: if the shapes differ, a sentence has no unit, or an id lies outside the vocabulary.
        """
        if mask.dtype != torch.bool:
            raise TypeError(f"mask must be boolean (True = a real unit), got {mask.dtype}")
        if ids.ndim != 2:
            raise ValueError(f"ids must have shape (B, S), got {tuple(ids.shape)}")
        if mask.shape != ids.shape:
            raise ValueError(f"mask must have the shape of ids, {tuple(ids.shape)}, got {tuple(mask.shape)}")
        if not bool(mask.any(dim=1).all()):
            raise ValueError("mask: every sentence needs at least one real unit, got one without")
        places = (mask.cumsum(dim=1) - 1).clamp(min=0)
        x = self.embedding(ids.masked_fill(~mask, 0), places)
        may_read = None if bool(mask.all()) else mask[:, None, None]  # over heads and queries
        for block in self.blocks:
            x = block(x, may_read)
        return Memory(self.last(x), mask)
