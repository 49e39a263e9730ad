"""Attention in one pass over the keys: the kernel, and what starts it.

    S = scale Q K^T,    P = exp(S - m),    O = P V / l,    L = m + log l

One program holds a block of queries with its running maximum m, sum l (`total`) and output, and loops over blocks of keys: first
those that every query of the block may read, then those that need a mask (the diagonal, the ragged end). The second loop is
so short that it copies nothing ahead; where it did, the compiler ran all of a kernel's `wgmma` one by one. Scores are in
base 2 inside, `factor` = |scale| log2(e), because exp2 is one instruction. Sums are fp32; fp32 products are exact fp32
("ieee"), not TF32. Dao 2023 (FlashAttention-2, arXiv:2307.08691), algorithm 1; section 7.6 of the course. A block of m =
-inf (nothing readable yet) is subtracted as 0, so that -inf - (-inf) is never formed.

Programs of one head follow each other and share its keys in the L2 cache; the last block of queries, the one with the most
to read under `causal`, starts first.
"""

from __future__ import annotations

from math import log2

from torch import Tensor

from onesentence.kernels.gpu.blocks import Blocks, width_of
from onesentence.kernels.gpu.launch import Launch, Packing, blocks_for, describe, operand, strides_of
from onesentence.kernels.gpu.runtime import tl, triton
from onesentence.kernels.gpu.tiles import keys_to_read, load_tile, row_pointers, span, store_tile

LOG2_E = log2(2.718281828459045)


@triton.jit
def read_block(
    q_tile, m, total, acc, k, v, k_at, v_at, batch, head, begin, n, S, places, factor,
    BLOCK_K: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr, NEGATIVE: tl.constexpr, DESCRIBED: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Return maximum, sum and output after one more block of keys, those from n on."""
    k_tile = load_tile(k, k_at, batch, head, begin, n, S, BLOCK_K, D, WIDTH, DESCRIBED)
    scores = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee")
    if NEGATIVE:
        scores = -scores
    if MASKED:
        keys = n + tl.arange(0, BLOCK_K)
        may = (keys < S)[None, :]
        if CAUSAL:
            may = may & (keys[None, :] <= places[:, None])
        scores = tl.where(may, scores * factor, float("-inf"))
        highest = tl.maximum(m, tl.max(scores, 1))
        base = tl.where(highest == float("-inf"), 0.0, highest)
        p = tl.exp2(scores - base[:, None])
    else:
        highest = tl.maximum(m, tl.max(scores, 1) * factor)
        base = highest
        p = tl.exp2(scores * factor - base[:, None])
    shrink = tl.exp2(m - base)
    total = total * shrink + tl.sum(p, 1)
    v_tile = load_tile(v, v_at, batch, head, begin, n, S, BLOCK_K, D, WIDTH, DESCRIBED)
    acc = tl.dot(p.to(v_tile.dtype), v_tile, acc * shrink[:, None], input_precision="ieee")
    return highest, total, acc


@triton.jit
def forward_kernel(
    q, k, v, o, lse, q_at, k_at, v_at, o_at, lse_at, q_starts, k_starts, sizes, factor,
    D: tl.constexpr, WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
    CAUSAL: tl.constexpr, RAGGED: tl.constexpr, NEGATIVE: tl.constexpr,
    DESCRIBED: tl.constexpr, PACKED: tl.constexpr,
):  # fmt: skip
    """Write output and log-sum-exp of one block of queries of one head."""
    H, group, T, S, tiles = sizes
    program = tl.program_id(0)
    first = (tiles - 1 - program % tiles) * BLOCK_Q
    head = program // tiles % H
    batch = program // tiles // H
    q_begin, T = span(q_starts, batch, T, PACKED)
    k_begin, S = span(k_starts, batch, S, PACKED)
    if PACKED:  # noqa: SIM102 - a comparison of tensors joins no constant
        if first >= T:
            return
    places = first + tl.arange(0, BLOCK_Q) + S - T
    q_tile = load_tile(q, q_at, batch, head, q_begin, first, T, BLOCK_Q, D, WIDTH, DESCRIBED)
    m = tl.full([BLOCK_Q], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_Q], tl.float32)
    acc = tl.zeros([BLOCK_Q, WIDTH], tl.float32)
    full, end = keys_to_read(first, T, S, BLOCK_Q, BLOCK_K, CAUSAL)
    for n in range(0, full, BLOCK_K):
        m, total, acc = read_block(
            q_tile, m, total, acc, k, v, k_at, v_at, batch, head // group, k_begin, n, S, places, factor,
            BLOCK_K, D, WIDTH, CAUSAL, NEGATIVE, DESCRIBED, MASKED=False,
        )  # fmt: skip
    if CAUSAL or RAGGED:
        for n in tl.range(full, end, BLOCK_K, num_stages=1):
            m, total, acc = read_block(
                q_tile, m, total, acc, k, v, k_at, v_at, batch, head // group, k_begin, n, S, places, factor,
                BLOCK_K, D, WIDTH, CAUSAL, NEGATIVE, DESCRIBED, MASKED=True,
            )  # fmt: skip
    empty = total == 0.0
    acc = acc / tl.where(empty, 1.0, total)[:, None]
    store_tile(o, o_at, batch, head, q_begin, first, T, acc, BLOCK_Q, D, WIDTH)
    nats = tl.where(empty, float("-inf"), (m + tl.log2(tl.where(empty, 1.0, total))) * 0.6931471805599453)
    pointers = row_pointers(lse, lse_at, batch, head, q_begin, first, BLOCK_Q)
    tl.store(pointers, nats, mask=tl.arange(0, BLOCK_Q) < T - first)


def forward_launch(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    *,
    causal: bool,
    scale: float,
    packing: Packing | None = None,
    blocks: Blocks | None = None,
) -> Launch:
    """Return the launch that fills output and log-sum-exp; nothing is checked here.

    Args:
        q: (B, H, T, D), any strides; (1, H, rows, D) if packed.
        k: (B, G, S, D), likewise.
        v: as k.
        o: as q; overwritten.
        lse: (B, H, T) float32, any strides; overwritten. In nats, -inf where nothing may be read.
        causal: a query reads keys up to its own place.
        scale: of scores, any finite number.
        packing: where sequences lie; None means that the batch axis separates them.
        blocks: None means the pinned ones.
    """
    described = describe(q, k, v, packing=packing)
    blocks = blocks or blocks_for("forward", q, described=described)
    (B, H, T, D), (_, G, S, _) = q.shape, k.shape
    if packing is not None:
        B, T, S = len(packing.q_starts) - 1, packing.longest_q, packing.longest_k
    tiles = -(-T // blocks.block_q)
    arguments = {
        "q": operand(q, blocks.block_q, described),
        **{name: operand(x, blocks.block_k, described) for name, x in (("k", k), ("v", v))},
        "o": o,
        "lse": lse,
        **{f"{n}_at": strides_of(x, packing) for n, x in zip("qkvo", (q, k, v, o), strict=True)},
        "lse_at": strides_of(lse, packing),
        "q_starts": packing and packing.q_starts,
        "k_starts": packing and packing.k_starts,
        "sizes": (H, H // G, T, S, tiles),
        "factor": abs(scale) * LOG2_E,
        "D": D,
        "WIDTH": width_of(D),
        "BLOCK_Q": blocks.block_q,
        "BLOCK_K": blocks.block_k,
        "CAUSAL": causal,
        "RAGGED": packing is not None or S % blocks.block_k != 0,
        "NEGATIVE": scale < 0,
        "DESCRIBED": described,
        "PACKED": packing is not None,
    }
    return Launch(forward_kernel, tiles * H * B, arguments, blocks, q.device)
