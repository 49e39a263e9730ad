"""Gradients of tiled attention: every tile of weights is computed once more, from q, k and the log-sum-exp.

    P = exp(scale Q K^T - L)      dV = P^T dO      dS = P * (dO V^T - delta)      delta = sum(dO * O) - dL
    dQ = scale dS K               dK = scale dS^T Q

Dao 2023 (arXiv:2307.08691), algorithm 2. delta would be a row's sum of P * dP, over the keys; it equals that of O * dO, over
the head size, which needs no table. dL, the gradient of the log-sum-exp, adds P dL to dS. Unlike there, queries are walked
through outside and keys inside, as on the way forward: blocks of keys that work apart serve many processors, not one.
Symbols as in `kernels.tiles`; section 7.5 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from onesentence.kernels.sizes import Sizes, spans
from onesentence.kernels.tiles import (
    Blocks,
    Tile,
    TileWalk,
    by_group,
    dtype_of_sums,
    rounds,
    weights_of,
)


def gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    do: Tensor,
    dlse: Tensor,
    *,
    sizes: Sizes,
    causal: bool,
    real: Tensor | None,
    scale: float,
    blocks: Blocks,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return dq, dk and dv in the shapes and dtype of q, k and v.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        o: output, as q.
        lse: log-sum-exp of scaled scores, (B, H, T), -inf where a query reads nothing: its gradient is 0.
        do: gradient of the output, as q.
        dlse: gradient of the log-sum-exp, (B, H, T).
        sizes: of the read.
        causal: a query reads keys up to its own place.
        real: True at keys that count, (B, S), or None.
        scale: of scores.
        blocks: size of a tile.
    """
    exact = dtype_of_sums(q.dtype)
    empty = lse == -torch.inf
    delta = (do.to(exact) * o).sum(dim=-1).sub_(dlse).masked_fill_(empty, 0.0)
    # exp(s - inf) = 0: rows that read nothing get no weight, and -inf - (-inf) is never formed
    lse = lse.masked_fill(empty, torch.inf)
    dq, dk, dv = (torch.zeros(part.shape, dtype=exact, device=q.device) for part in (q, k, v))
    grouped = [by_group(part, sizes) for part in (q, do, lse, delta, dq)]
    buffers = blocks.buffer(sizes, q), blocks.buffer(sizes, q)
    for some in rounds(sizes, blocks.heads(sizes)):
        # the gradients have no strides of their own, so these are views, and what is added to them stays
        read = [some.keys(part, exact) for part in (k, v, dk, dv)]
        tiles = TileWalk(sizes, blocks, causal=causal, real=some.real(real), like=buffers[0])
        for rows in spans(sizes.T, blocks.rows(sizes)):
            x, dy, row_lse, row_delta = (some.queries(part, rows, exact) for part in grouped[:4])
            block = x, dy, row_lse[..., None], row_delta[..., None]
            dx = _tiles_back(block, read, tiles.of(rows), buffers, sizes.group, scale)
            some.put_queries(grouped[4], rows, dx.mul_(scale))
    return dq.to(q.dtype), dk.mul_(scale).to(q.dtype), dv.to(q.dtype)


def _tiles_back(
    block: tuple[Tensor, Tensor, Tensor, Tensor],
    read: list[Tensor],
    tiles: Iterable[Tile],
    buffers: tuple[Tensor, Tensor],
    group: int,
    scale: float,
) -> Tensor:
    """Go back through the tiles of one block of queries, adding to the gradients of keys and values.

    Args:
        block: queries and gradient of their output, (n, R, D); log-sum-exp and delta, (n, R, 1).
        read: keys, values and their gradients, (n, S, D).
        tiles: what the block meets.
        buffers: room for two tiles.
        group: query heads among the R rows.
        scale: of scores.

    Returns:
        Gradient of the scaled queries, (n, R, D); that of the keys lacks the scale, too.
    """
    x, dy, lse, delta = block
    n, R, _ = x.shape
    dx = torch.zeros_like(x)
    for tile in tiles:
        keys, values, dkeys, dvalues = (part[:, tile.keys] for part in read)
        scores, dweights = (tile.room(buffer, n, R) for buffer in buffers)
        scores.baddbmm_(x, keys.mT, beta=0, alpha=scale)
        tile.close(scores, group)
        weights = weights_of(scores, lse)
        dvalues.baddbmm_(weights.mT, dy)
        torch.bmm(dy, values.mT, out=dweights)
        dscores = dweights.sub_(delta).mul_(weights)
        dx.baddbmm_(dscores, keys)
        dkeys.baddbmm_(dscores.mT, x)
    return dx
