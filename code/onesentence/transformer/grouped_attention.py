"""Self-attention whose query heads share key heads, with positions in queries and keys: one layer of a causal model.

    q = W^Q x (H D),   k = W^K x (G D),   v = W^V x (G D),   out = W^O of the H heads        query head h reads h // (H / G)

G = H is multi-head attention, G = 1 multi-query attention. One matrix holds W^Q, W^K and W^V, in this order and head by
head inside; there are no biases, as in Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.2. Queries and keys are turned
by RoPE before keys go into a cache. Ainslie et al. 2023 (arXiv:2305.13245), section 2.2; sections 7.2, 7.4 and 7.10 of the
course. Symbols: `B` batch, `T` tokens, `C` width, `D` head size.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from onesentence.cache.base import Seen
from onesentence.checks import checked_integer
from onesentence.transformer.readers import Reader, by_sdpa
from onesentence.transformer.rotary import Turns


class GroupedAttention(nn.Module):
    """Projections, the read, and the projection back.

    Args:
        C: width, a multiple of H.
        H: query heads, a multiple of G.
        G: key heads.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1 or no such multiple.

    Example:
        >>> import torch
        >>> layer = GroupedAttention(8, 4, 2)
        >>> tuple(layer.project.weight.shape), tuple(layer(torch.zeros(1, 3, 8)).shape)
        ((16, 8), (1, 3, 8))
    """

    def __init__(self, C: int, H: int, G: int) -> None:
        super().__init__()
        C, H, G = (checked_integer(name, n, 1) for name, n in (("C", C), ("H", H), ("G", G)))
        if C % H:
            raise ValueError(f"C must be a multiple of H = {H}, got {C}")
        if H % G:
            raise ValueError(f"H must be a multiple of G = {G}, got {H}")
        self.C, self.H, self.G, self.D = C, H, G, C // H
        self.project = nn.Linear(C, (H + 2 * G) * self.D, bias=False)  # W^Q, W^K, W^V
        self.merge = nn.Linear(C, C, bias=False)  # W^O
        nn.init.xavier_uniform_(self.project.weight)

    def forward(
        self,
        x: Tensor,
        turns: Turns | None = None,
        put: Callable[[Tensor, Tensor], Seen] | None = None,
        read: Reader = by_sdpa,
    ) -> Tensor:
        """Read what queries of x may read.

        Args:
            x: (B, T, C).
            turns: rotation of queries and keys; None leaves them as they are.
            put: takes the new keys and values, (B, G, T, D) each, and says what the queries may read, as `Step.put` does;
                None: x alone, in causal order.
            read: what executes the read.

        Returns:
            (B, T, C).

        Raises:
            ValueError: if x has another shape.
        """
        if x.ndim != 3 or x.shape[-1] != self.C:
            raise ValueError(f"x must have shape (B, T, {self.C}), got {tuple(x.shape)}")
        B, T, C = x.shape
        H, G = self.H, self.G
        heads = self.project(x).view(B, T, H + 2 * G, self.D).transpose(1, 2)  # (B, H + 2 G, T, D)
        q_and_k, v = heads.split((H + G, G), dim=1)
        if turns is not None:
            q_and_k = turns(q_and_k)
        q, k = q_and_k.split((H, G), dim=1)
        out = read(q, Seen(k, v, causal=True) if put is None else put(k, v))  # (B, H, T, D)
        merged: Tensor = self.merge(out.transpose(1, 2).reshape(B, T, C))
        return merged
