"""What goes into the first block: a token's row, scaled by sqrt(C), plus its position.

Vaswani et al. 2017 (arXiv:1706.03762), sections 3.4 and 3.5; sections 4.5 and 4.11 of the course.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from onesentence.attention.positions import sinusoidal
from onesentence.transformer.config import Positions, TransformerConfig


def checked_tokens(name: str, ids: Tensor, size: int | None = None) -> None:
    """Refuse what are no ids of a table.

    Args:
        name: what error messages call them.
        ids: integers in [0, size), at least one, any shape.
        size: rows of the table; None means that there is no end.

    Raises:
        TypeError: if they are not integers.
        ValueError: if there are none, or one lies outside.
    """
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got {ids.dtype}")
    if not ids.numel():
        raise ValueError(f"{name} must not be empty, got shape {tuple(ids.shape)}")
    first, last = int(ids.min()), int(ids.max())
    if size is None and first < 0:
        raise ValueError(f"{name} must be at least 0, got {first}")
    if size is not None and (first < 0 or last >= size):
        raise ValueError(f"{name} must lie in [0, {size}), got {first if first < 0 else last}")


class InputEmbedding(nn.Module):
    """sqrt(C) E[token] + position, with dropout; C stands for width.

    E starts with standard deviation 1 / sqrt(C), so a scaled row starts with about 1, as large as a position.

    Args:
        vocabulary: number of symbols.
        config: sizes and design.
    """

    def __init__(self, vocabulary: int, config: TransformerConfig) -> None:
        super().__init__()
        C = config.d_model
        self.tokens = nn.Embedding(vocabulary, C)
        nn.init.normal_(self.tokens.weight, std=C**-0.5)
        self.positions: Positions = config.positions
        self.learned = nn.Embedding(config.longest, C) if config.positions == "learned" else None
        if self.learned is not None:
            nn.init.normal_(self.learned.weight)
        self.dropout = nn.Dropout(config.dropout)
        self.table = torch.empty(0, C)  # no buffer: cast from float32 to float64 it would stay rounded

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Return (B, T, C).

        Args:
            ids: (B, T).
            positions: from 0, (B, T) or (T,).

        Raises:
            TypeError: if ids or positions are not integers.
            ValueError: if an id lies outside the vocabulary, a position is negative, or positions are learned and one
                lies outside of those that there are.
        """
        checked_tokens("ids", ids, self.tokens.num_embeddings)
        C = self.tokens.embedding_dim
        x = self.tokens(ids) * C**0.5
        if self.positions != "none":
            x = x + self._of(positions)
        out: Tensor = self.dropout(x)
        return out

    def _of(self, positions: Tensor) -> Tensor:
        if self.learned is not None:
            checked_tokens("learned positions", positions, self.learned.num_embeddings)
            learned: Tensor = self.learned(positions)
            return learned
        checked_tokens("positions", positions)
        last, like = int(positions.max()), self.tokens.weight
        if last >= len(self.table) or (self.table.dtype, self.table.device) != (like.dtype, like.device):
            numbers = sinusoidal(np.arange(2 * last + 2), self.tokens.embedding_dim)  # twice as many as asked
            self.table = torch.from_numpy(numbers).to(like)
        return self.table[positions]
