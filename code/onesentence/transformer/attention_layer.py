"""Multi-head attention that trains, in PyTorch; `attention.multi_head` holds the formula head by head in NumPy.

Symbols: `B` batch, `T` query length, `S` key length, `C` width, `H` heads, `D` head size C / H. One matrix holds W^Q,
W^K and W^V of all heads, rows in this order and head by head inside, as `nn.MultiheadAttention` keeps them, so weights
can be copied either way. Masks are `True = may read` and broadcast to (B, H, T, S): `nn.MultiheadAttention` means the
opposite by True. A query that may read nothing gets output W^O 0 + b^O and passes no gradient to keys or values.

Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.2, which has no biases; `nn.MultiheadAttention` has. Sections 4.3,
4.6 and 4.8 of the course.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import torch
from torch import Tensor, nn

from onesentence.checks import checked_integer

KeysValues: TypeAlias = tuple[Tensor, Tensor]
"""Keys and values of all heads, (B, H, S, D) each."""


class MultiHeadAttention(nn.Module):
    """Projections, H reads at once, and the projection back.

    Args:
        C: width, a multiple of H.
        H: number of heads.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1 or `C` no multiple of `H`.

    Example:
        >>> layer = MultiHeadAttention(8, 2)
        >>> x = torch.zeros(1, 3, 8)
        >>> tuple(layer(x).shape), tuple(layer.weights(x)[0, 0, 0].tolist())
        ((1, 3, 8), (0.3333333432674408, 0.3333333432674408, 0.3333333432674408))
    """

    def __init__(self, C: int, H: int) -> None:
        super().__init__()
        C, H = checked_integer("C", C, 1), checked_integer("H", H, 1)
        if C % H:
            raise ValueError(f"C must be a multiple of H = {H}, got {C}")
        self.C, self.H = C, H
        self.project = nn.Linear(C, 3 * C)  # W^Q, W^K, W^V
        self.merge = nn.Linear(C, C)  # W^O
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)
        nn.init.zeros_(self.merge.bias)

    def forward(self, x: Tensor, *, mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """Read the positions of x with queries of the same x: self-attention.

        Args:
            x: (B, T, C).
            mask: `True = may read`, broadcastable to (B, H, T, T).
            causal: no position reads a later one; not together with a mask.

        Returns:
            (B, T, C).

        Raises:
            TypeError: if the mask is not boolean.
            ValueError: if a shape does not fit, or there is a mask beside `causal`.
        """
        q, kv = self.queries_keys_values(x)
        return self.attend(q, kv, mask=mask, causal=causal)

    def queries_keys_values(self, x: Tensor) -> tuple[Tensor, KeysValues]:
        """Return all three of the same (B, T, C), projected at once: what self-attention reads with."""
        self._check_input("x", x)
        q, k, v = self._heads(self.project(x), 3)
        return q, (k, v)

    def queries(self, x: Tensor) -> Tensor:
        """Return the queries of (B, T, C), (B, H, T, D)."""
        self._check_input("x", x)
        return self._heads(self._part(x, 0, 1), 1)[0]

    def keys_values(self, source: Tensor) -> KeysValues:
        """Return keys and values of (B, S, C), computed once and read as often as wanted."""
        self._check_input("source", source)
        k, v = self._heads(self._part(source, 1, 3), 2)
        return k, v

    def attend(
        self, q: Tensor, kv: KeysValues, *, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """Read keys and values with queries and bring the heads back together.

        Args:
            q: of `queries`, (B, H, T, D).
            kv: of `keys_values`.
            mask: `True = may read`, broadcastable to (B, H, T, S).
            causal: query i reads keys 0 to i; not together with a mask.

        Returns:
            (B, T, C).

        Raises:
            TypeError, ValueError: as `forward`.
        """
        k, v = kv
        _check_read(q, k, v, mask)
        if causal and mask is not None:
            raise ValueError("causal: not together with a mask, got both")
        heads = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        B, _, T, _ = heads.shape
        out: Tensor = self.merge(heads.transpose(1, 2).reshape(B, T, self.C))
        return out

    def weights(self, x: Tensor, source: Tensor | None = None, *, mask: Tensor | None = None) -> Tensor:
        """Return alpha, (B, H, T, S): what `forward` and `attend` multiply the values with.

        Args:
            x: what asks, (B, T, C).
            source: what is read, (B, S, C); None means x.
            mask: `True = may read`, broadcastable to (B, H, T, S). A row that is all False gets weights 0.

        Raises:
            TypeError, ValueError: as `forward`.
        """
        q = self.queries(x)
        k, v = self.keys_values(x if source is None else source)
        _check_read(q, k, v, mask)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is None:
            return scores.softmax(dim=-1)
        lowest = torch.finfo(scores.dtype).min  # finite: a row of -inf only would be NaN on the way
        return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)

    def _check_input(self, name: str, x: Tensor) -> None:
        if x.ndim != 3 or x.shape[-1] != self.C:
            raise ValueError(f"{name} must have shape (B, length, {self.C}), got {tuple(x.shape)}")

    def _part(self, x: Tensor, start: int, stop: int) -> Tensor:
        """Project with some of W^Q, W^K, W^V."""
        rows = slice(start * self.C, stop * self.C)
        out: Tensor = nn.functional.linear(x, self.project.weight[rows], self.project.bias[rows])
        return out

    def _heads(self, projected: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Split (B, T, parts * C) into parts of (B, H, T, D)."""
        B, T, _ = projected.shape
        apart = projected.view(B, T, parts, self.H, self.C // self.H)
        heads: tuple[Tensor, ...] = apart.permute(2, 0, 3, 1, 4).unbind(0)
        return heads


def _check_read(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    """Refuse keys, values and masks that do not fit the queries, or that PyTorch would read another way."""
    B, H, T, D = q.shape
    if k.shape != v.shape or k.ndim != 4 or (*k.shape[:2], k.shape[3]) != (B, H, D):
        raise ValueError(
            f"keys and values must have shape ({B}, {H}, S, {D}), got {tuple(k.shape)} and {tuple(v.shape)}"
        )
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be boolean (True = may read), got {mask.dtype}")
    scores, own = (B, H, T, k.shape[2]), tuple(mask.shape)
    axes = zip(own[::-1], scores[::-1], strict=False)
    if len(own) > 4 or any(n not in (1, size) for n, size in axes):
        raise ValueError(f"mask must broadcast to {scores}, got shape {own}")
