"""Attention with its score table written out: what every other version here is held against.

    P = softmax over keys of (scale Q K^T, -inf where a query may not read),   O = P V,   L = log sum exp of the same row

The table (B, H, T, S) stands in memory, several times over: this is the naive version of sections 7.5 and 7.6. Shapes and
rules as in `kernels.sizes`. It computes in the dtype of its inputs, on any device, and PyTorch differentiates it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from onesentence.kernels.sizes import Sizes, scale_of, sizes_of


def may_read(sizes: Sizes, *, causal: bool, real: Tensor | None, device: torch.device) -> Tensor | None:
    """Return which query may read which key, `True = may read`, or None where all may.

    Args:
        sizes: of the read.
        causal: a query reads keys up to its own place.
        real: True at keys that count, (B, S), or None.
        device: of the mask.

    Returns:
        Broadcastable to (B, H, T, S).
    """
    mask = None if real is None else real[:, None, None]
    if not causal:
        return mask
    before = torch.ones(sizes.T, sizes.S, dtype=torch.bool, device=device).tril(sizes.shift)
    return before if mask is None else mask & before


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    real: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Read keys with queries, the score table in memory.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        causal: a query reads keys up to its own place, the queries standing at the end of the keys.
        real: True at keys that count, (B, S); None means all.
        scale: of scores; None means 1 / sqrt(D).

    Returns:
        Output (B, H, T, D), 0 where a query may read nothing, and log-sum-exp of scaled scores in nats (B, H, T), -inf
        there.

    Raises:
        TypeError, ValueError: as `sizes_of` and `scale_of`.

    Example:
        >>> q = torch.zeros(1, 1, 2, 4)
        >>> o, lse = attention(q, q, torch.tensor([[[[1.0] * 4, [3.0] * 4]]]), causal=True)
        >>> o[0, 0, :, 0].tolist(), lse.exp().tolist()
        ([1.0, 2.0], [[[1.0, 2.0]]])
    """
    sizes = sizes_of(q, k, v, real)
    k, v = (part.repeat_interleave(sizes.group, dim=1) for part in (k, v))
    scores = (q * scale_of(scale, sizes.D)) @ k.mT
    mask = may_read(sizes, causal=causal, real=real, device=q.device)
    if mask is None:
        return scores.softmax(dim=-1) @ v, scores.logsumexp(dim=-1)
    some = mask.any(
        dim=-1, keepdim=True
    )  # rows that may read something; a row of -inf only would be NaN on the way
    scores = scores.masked_fill(~mask & some, -torch.inf)
    weights = scores.softmax(dim=-1).masked_fill(~some, 0.0)
    lse = scores.logsumexp(dim=-1).masked_fill(~some.squeeze(-1), -torch.inf)
    return weights @ v, lse
