"""The two kinds of block: an encoder's of two sublayers and a decoder's of three.

    post-norm (2017):  u = LN(x + f(x))            pre-norm:  u = x + f(LN(x))

    encoder:  self-attention over the whole source  ->  FFN
    decoder:  self-attention over the target so far  ->  cross-attention over the whole source  ->  FFN

Dropout falls on a sublayer's output before it is added, as in Vaswani et al. 2017 (arXiv:1706.03762), section 5.4;
`nn.TransformerEncoderLayer` also drops attention weights and the inside of its FFN. Pre-norm: Xiong et al. 2020
(arXiv:2002.04745). Symbols: `B` batch, `T` target length, `S` source length, `C` width. Masks are `True = may read`.
Sections 4.9 to 4.11 of the course.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from onesentence.transformer.attention_layer import KeysValues, MultiHeadAttention
from onesentence.transformer.config import Order, TransformerConfig
from onesentence.transformer.feed_forward import FeedForward
from onesentence.transformer.norms import LayerNorm


class AddNorm(nn.Module):
    """A residual path around a sublayer, with its normalisation and dropout.

    Args:
        C: width.
        order: whether the norm stands after the addition or before the sublayer.
        dropout: share of the sublayer's output that is zeroed in training.
    """

    def __init__(self, C: int, order: Order, dropout: float) -> None:
        super().__init__()
        self.norm, self.order = LayerNorm(C), order
        self.dropout = nn.Dropout(dropout) if dropout else None  # a call saved where there is nothing to drop

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return LN(x + f(x)) or x + f(LN(x)), (B, T, C)."""
        if self.order == "pre":
            return x + self._dropped(sublayer(self.norm(x)))
        out: Tensor = self.norm(x + self._dropped(sublayer(x)))
        return out

    def _dropped(self, y: Tensor) -> Tensor:
        out: Tensor = y if self.dropout is None else self.dropout(y)
        return out


class EncoderBlock(nn.Module):
    """Self-attention, then FFN, each within an `AddNorm`.

    Args:
        config: sizes and design.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        C = config.d_model
        self.attention = MultiHeadAttention(C, config.n_head)
        self.ffn = FeedForward(C, config.d_ff)
        self.around = nn.ModuleList(AddNorm(C, config.order, config.dropout) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return each position with what it has read of the others.

        Args:
            x: (B, S, C).
            mask: `True = may read`, broadcastable to (B, H, S, S).
        """
        u = self.around[0](x, lambda y: self.attention(y, mask=mask))
        out: Tensor = self.around[1](u, self.ffn)
        return out


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention, FFN, each within an `AddNorm`.

    Args:
        config: sizes and design; without `cross` there is no second sublayer.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        C, H = config.d_model, config.n_head
        self.attention = MultiHeadAttention(C, H)
        self.cross = MultiHeadAttention(C, H) if config.cross else None
        self.ffn = FeedForward(C, config.d_ff)
        self.around = nn.ModuleList(
            AddNorm(C, config.order, config.dropout) for _ in range(3 if config.cross else 2)
        )

    def forward(
        self,
        x: Tensor,
        source: KeysValues | None = None,
        source_mask: Tensor | None = None,
        past: KeysValues | None = None,
    ) -> tuple[Tensor, KeysValues]:
        """Return T target positions that have read those before them and the source.

        Args:
            x: (B, T, C).
            source: keys and values of `cross`, (B, H, S, D); not looked at without `cross`.
            source_mask: `True = may read`, broadcastable to (B, H, T, S).
            past: keys and values of P earlier target positions, (B, H, P, D); every query reads all of them.

        Returns:
            (B, T, C), and keys and values of all P + T target positions.
        """
        kept: list[KeysValues] = []

        def own(y: Tensor) -> Tensor:
            q, (k, v) = self.attention.queries_keys_values(y)
            if past is not None:
                k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
            kept.append((k, v))
            T, S = q.shape[2], k.shape[2]
            if T == S:
                return self.attention.attend(q, (k, v), causal=True)
            may = torch.ones(T, S, dtype=torch.bool, device=y.device).tril(S - T)
            return self.attention.attend(q, (k, v), mask=None if T == 1 else may)

        u = self.around[0](x, own)
        if self.cross is not None:
            cross = self.cross
            if source is None:
                raise ValueError("source: a block with cross-attention needs keys and values, got None")
            u = self.around[1](u, lambda y: cross.attend(cross.queries(y), source, mask=source_mask))
        return self.around[-1](u, self.ffn), kept[0]
