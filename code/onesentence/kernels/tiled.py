"""Attention tile by tile in PyTorch: the reference's result with a score table that never stands in memory.

    per block of queries        m = -inf,  l = 0,  u = 0
    per tile of keys            m' = max(m, max s),  p = e^(s - m'),  l = e^(m - m') l + sum p,  u = e^(m - m') u + p V
    at the end                  O = u / l,   L = m + log l

Backward keeps q, k, v, O and L only and computes every tile of weights once more: `kernels.tiled_backward`. Extra memory
grows with the length, not with its square; the arithmetic stays O(T S D). Milakov and Gimelshein 2018 (arXiv:1805.02867);
Dao 2023 (arXiv:2307.08691), algorithm 1: queries outside, keys inside, one division at the end. Unlike there, a tile is
chosen for the processor's second-level cache, and rounds of key heads come one after the other. Shapes and rules as in
`kernels.sizes`; sections 7.5 to 7.7 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from onesentence.kernels.sizes import Sizes, scale_of, sizes_of, spans
from onesentence.kernels.tiled_backward import gradients
from onesentence.kernels.tiles import (
    Blocks,
    Tile,
    TileWalk,
    by_group,
    dtype_of_sums,
    rounds,
    weights_of,
)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool = False,
    real: Tensor | None = None,
    scale: float | None = None,
    blocks: Blocks | None = None,
) -> tuple[Tensor, Tensor]:
    """Read keys with queries, one tile of scores in memory at a time.

    float16 and bfloat16 are computed in float32 throughout and rounded once, at the end. It is differentiable in both
    results, once: a second time raises RuntimeError. What stands at keys that do not count has no effect, but must be finite.

    Args:
        q: (B, H, T, D), float16, bfloat16, float32 or float64; any strides.
        k: (B, G, S, D).
        v: (B, G, S, D).
        causal: a query reads keys up to its own place, the queries standing at the end of the keys.
        real: True at keys that count, (B, S); None means all.
        scale: of scores; None means 1 / sqrt(D).
        blocks: size of a tile; None means `Blocks.of(T)`.

    Returns:
        Output (B, H, T, D), 0 where a query may read nothing, and log-sum-exp of scaled scores in nats (B, H, T), -inf
        there; the latter in float32 for half-precision inputs.

    Raises:
        TypeError: as `sizes_of` and `scale_of`; if a part is no tensor, has another floating-point dtype, or `blocks` are
            no `Blocks`.
        ValueError: as `sizes_of` and `scale_of`; if a part lies on another device than q.

    Example:
        >>> q = torch.zeros(1, 1, 2, 4)
        >>> o, lse = attention(q, q, torch.tensor([[[[1.0] * 4, [3.0] * 4]]]), causal=True)
        >>> o[0, 0, :, 0].tolist(), lse.exp().tolist()
        ([1.0, 2.0], [[[1.0, 2.0]]])
    """
    sizes = _checked(q, k, v, real)
    blocks = Blocks.of(sizes.T) if blocks is None else blocks
    if not isinstance(blocks, Blocks):
        raise TypeError(f"blocks must be Blocks, got {type(blocks).__name__}")
    o, lse = _Tiled.apply(q, k, v, real, sizes, causal, scale_of(scale, sizes.D), blocks)  # type: ignore[no-untyped-call]
    return o, lse


def _checked(q: Tensor, k: Tensor, v: Tensor, real: Tensor | None) -> Sizes:
    """Return the sizes of a read after refusing what `kernels.sizes` does not know about: no tensors, devices."""
    parts = {"q": q, "k": k, "v": v} | ({} if real is None else {"real": real})
    for name, part in parts.items():
        if not isinstance(part, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(part).__name__}")
        if part.device != q.device:
            raise ValueError(f"{name} must be on the device of q, {q.device}, got {part.device}")
    return sizes_of(q, k, v, real)


class _Tiled(torch.autograd.Function):
    """Forward by tiles; backward by the same tiles once more."""

    @staticmethod
    def forward(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        real: Tensor | None,
        sizes: Sizes,
        causal: bool,
        scale: float,
        blocks: Blocks,
    ) -> tuple[Tensor, Tensor]:
        exact = dtype_of_sums(q.dtype)
        o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
        lse = torch.empty(q.shape[:-1], dtype=exact, device=q.device)
        grouped = [by_group(part, sizes) for part in (q, o, lse)]
        buffer = blocks.buffer(sizes, q)
        for some in rounds(sizes, blocks.heads(sizes)):
            keys, values = some.keys(k, exact), some.keys(v, exact)
            tiles = TileWalk(sizes, blocks, causal=causal, real=some.real(real), like=buffer)
            for rows in spans(sizes.T, blocks.rows(sizes)):
                x = some.queries(grouped[0], rows, exact)
                read, mass = _read(x, keys, values, tiles.of(rows), buffer, sizes.group, scale)
                some.put_queries(grouped[1], rows, read)
                some.put_queries(grouped[2], rows, mass)
        return o, lse

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        q, k, v, real, *ctx.options = inputs
        ctx.save_for_backward(q, k, v, *output, real)

    @staticmethod
    def backward(ctx: Any, do: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, o, lse, real = ctx.saved_tensors
        sizes, causal, scale, blocks = ctx.options
        with torch.no_grad():
            found = gradients(
                q, k, v, o, lse, do, dlse, sizes=sizes, causal=causal, real=real, scale=scale, blocks=blocks
            )
        found = _Once.apply(*found, q, k, v, do, dlse)  # type: ignore[no-untyped-call]
        return *found, None, None, None, None, None


class _Once(torch.autograd.Function):
    """Passes gradients on and refuses to be differentiated itself.

    `once_differentiable` would not: where the incoming gradient is a constant, it gives gradients that look constant, too.
    """

    @staticmethod
    def forward(dq: Tensor, dk: Tensor, dv: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        return dq.view_as(dq), dk.view_as(dk), dv.view_as(dv)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        raise RuntimeError(
            "kernels.tiled.attention can be differentiated once; kernels.reference.attention more often"
        )


def _read(
    x: Tensor, keys: Tensor, values: Tensor, tiles: Iterable[Tile], buffer: Tensor, group: int, scale: float
) -> tuple[Tensor, Tensor]:
    """Read with one block of queries.

    Args:
        x: queries, (n, R, D).
        keys: (n, S, D).
        values: (n, S, D).
        tiles: what the block meets.
        buffer: room for one tile.
        group: query heads among the R rows.
        scale: of scores; applied to the products, which rounds less than applying it to the queries would.

    Returns:
        Output (n, R, D) and log-sum-exp (n, R).
    """
    n, R, _ = x.shape
    lowest = torch.finfo(x.dtype).min
    top, mass, read = x.new_full((n, R, 1), -torch.inf), x.new_zeros(n, R, 1), torch.zeros_like(x)
    for tile in tiles:
        scores = tile.room(buffer, n, R)
        scores.baddbmm_(x, keys[:, tile.keys].mT, beta=0, alpha=scale)
        tile.close(scores, group)
        higher = torch.maximum(top, scores.amax(dim=-1, keepdim=True))
        if tile.biases:  # a row may have met nothing yet: without this, -inf - (-inf)
            higher.clamp_(min=lowest)
        weights = weights_of(scores, higher)
        kept = top.sub_(higher).exp_()
        mass.mul_(kept).add_(weights.sum(dim=-1, keepdim=True))
        read.mul_(kept).baddbmm_(weights, values[:, tile.keys])
        top = higher
    lse = top.add_(mass.log()).squeeze(-1)
    return read.div_(mass.masked_fill_(mass == 0, 1.0)), lse
