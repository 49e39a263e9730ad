"""What goes into the first block: a token's row, scaled by sqrt(C), plus its position.

Vaswani et al. 2017 (arXiv:1706.03762), sections 3.4 and 3.5; sections 4.5 and 4.11 of the course.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from onesentence.attention.positions import sinusoidal
from onesentence.transformer.config import Positions, TransformerConfig


class InputEmbedding(nn.Module):
    """sqrt(C) E[token] + position, with dropout; C stands for width.

    E starts with standard deviation 1 / sqrt(C), so a scaled row starts with about 1, as large as a position.

    Args:
        vocabulary: number of symbols.
        config: sizes and design.
    """

    table: Tensor

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
        self.register_buffer("table", torch.empty(0, C), persistent=False)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Return (B, T, C).

        Args:
            ids: (B, T).
            positions: from 0, (B, T) or (T,).

        Raises:
            ValueError: if positions are learned and one lies outside of those that there are.
        """
        C = self.tokens.embedding_dim
        x = self.tokens(ids) * C**0.5
        if self.positions != "none":
            x = x + self._of(positions)
        out: Tensor = self.dropout(x)
        return out

    def _of(self, positions: Tensor) -> Tensor:
        last = int(positions.max())
        if self.learned is not None:
            if last >= self.learned.num_embeddings:
                raise ValueError(
                    f"positions must lie in [0, {self.learned.num_embeddings}) where they are learned, got {last}"
                )
            learned: Tensor = self.learned(positions)
            return learned
        if last >= len(self.table):  # computed once, for twice as many as asked
            numbers = sinusoidal(np.arange(2 * last + 2), self.tokens.embedding_dim)
            self.table = torch.from_numpy(numbers).to(self.table)
        return self.table[positions]
