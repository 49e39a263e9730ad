"""Gradients of attention, the scores computed again block by block: three kernels, and what starts them.

    delta_i = sum_d dO_id O_id - dL_i          P = exp(S - L)          dS = P (dO V^T - delta)
    dV = P^T dO          dK = scale dS^T Q          dQ = scale dS K

`dL` is the gradient of the log-sum-exp, whose own derivative is P. One program of the second kernel holds a block of keys
and loops over queries, those of every query head that shares the keys, so that nothing is added up in memory by several
programs and results do not depend on their order; one of the third holds a block of queries and loops over keys. Both skip
blocks that `causal` closes. The third masks only the diagonal, as `forward` does; the second masks every block, since a
second loop would take more registers than a thread has, and what spills costs more than the mask. Rows that read nothing
have L = -inf; it counts as +inf here, and P is 0. Dao 2023 (FlashAttention-2, arXiv:2307.08691), algorithm 2, there in one
kernel with atomic additions to dQ.
"""

from __future__ import annotations

from onesentence.kernels.gpu.runtime import tl, triton
from onesentence.kernels.gpu.tiles import keys_to_read, load_tile, row_pointers, span, store_tile


@triton.jit
def delta_kernel(
    o, do, lse, dlse, delta, o_at, do_at, lse_at, dlse_at, q_starts, sizes,
    D: tl.constexpr, WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, PACKED: tl.constexpr,
):  # fmt: skip
    """Write delta of one block of queries of one head; 0 where nothing was read."""
    H, T, tiles = sizes
    program = tl.program_id(0)
    first = program % tiles * BLOCK_Q
    head = program // tiles % H
    batch = program // tiles // H
    begin, T = span(q_starts, batch, T, PACKED)
    o_tile = load_tile(o, o_at, batch, head, begin, first, T, BLOCK_Q, D, WIDTH, DESCRIBED=False)
    do_tile = load_tile(do, do_at, batch, head, begin, first, T, BLOCK_Q, D, WIDTH, DESCRIBED=False)
    sums = tl.sum(o_tile.to(tl.float32) * do_tile.to(tl.float32), 1)
    inside = tl.arange(0, BLOCK_Q) < T - first
    nats = tl.load(row_pointers(lse, lse_at, batch, head, begin, first, BLOCK_Q), mask=inside, other=0.0)
    more = tl.load(row_pointers(dlse, dlse_at, batch, head, begin, first, BLOCK_Q), mask=inside, other=0.0)
    sums = tl.where(nats == float("-inf"), 0.0, sums - more)
    tl.store(row_pointers(delta, lse_at, batch, head, begin, first, BLOCK_Q), sums, mask=inside)


@triton.jit
def load_rows(lse, delta, at, batch, head, begin, first, length, ROWS: tl.constexpr):
    """Return log-sum-exp in base 2, +inf for rows that read nothing or lie beyond the end, and delta of a block."""
    inside = tl.arange(0, ROWS) < length - first
    nats = tl.load(row_pointers(lse, at, batch, head, begin, first, ROWS), mask=inside, other=float("inf"))
    bits = tl.where(nats == float("-inf"), float("inf"), nats * 1.4426950408889634)
    return bits, tl.load(row_pointers(delta, at, batch, head, begin, first, ROWS), mask=inside, other=0.0)


@triton.jit
def learn_from_queries(
    k_tile, v_tile, dk, dv, q, do, lse, delta, q_at, do_at, lse_at, batch, head, begin, n, T, keys, shift, factor,
    BLOCK_Q: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr, CAUSAL: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """Return gradients of a block of keys and values after one more block of queries, those from n on."""
    q_tile = load_tile(q, q_at, batch, head, begin, n, T, BLOCK_Q, D, WIDTH, DESCRIBED)
    bits, less = load_rows(lse, delta, lse_at, batch, head, begin, n, T, BLOCK_Q)
    scores = tl.dot(k_tile, tl.trans(q_tile), input_precision="ieee")
    bits = scores * factor - bits[None, :]
    if CAUSAL:
        places = n + tl.arange(0, BLOCK_Q) + shift
        bits = tl.where(keys[:, None] <= places[None, :], bits, float("-inf"))
    p = tl.exp2(bits)
    do_tile = load_tile(do, do_at, batch, head, begin, n, T, BLOCK_Q, D, WIDTH, DESCRIBED)
    dv = tl.dot(p.to(do_tile.dtype), do_tile, dv, input_precision="ieee")
    minus = tl.zeros_like(p) - less[None, :]
    ds = p * tl.dot(v_tile, tl.trans(do_tile), minus, input_precision="ieee")
    dk = tl.dot(ds.to(q_tile.dtype), q_tile, dk, input_precision="ieee")
    return dk, dv


@triton.jit
def keys_kernel(
    q, k, v, do, lse, delta, dk, dv, q_at, k_at, v_at, do_at, lse_at, dk_at, dv_at,
    q_starts, k_starts, sizes, scale, factor,
    D: tl.constexpr, WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
    CAUSAL: tl.constexpr, DESCRIBED: tl.constexpr, PACKED: tl.constexpr,
):  # fmt: skip
    """Write gradients of one block of keys and values of one key head."""
    G, group, T, S, tiles = sizes
    program = tl.program_id(0)
    first = program % tiles * BLOCK_K
    head = program // tiles % G
    batch = program // tiles // G
    q_begin, T = span(q_starts, batch, T, PACKED)
    k_begin, S = span(k_starts, batch, S, PACKED)
    if PACKED:  # noqa: SIM102 - as in `forward`
        if first >= S:
            return
    shift = S - T
    keys = first + tl.arange(0, BLOCK_K)
    k_tile = load_tile(k, k_at, batch, head, k_begin, first, S, BLOCK_K, D, WIDTH, DESCRIBED)
    v_tile = load_tile(v, v_at, batch, head, k_begin, first, S, BLOCK_K, D, WIDTH, DESCRIBED)
    dk_tile = tl.zeros([BLOCK_K, WIDTH], tl.float32)
    dv_tile = tl.zeros([BLOCK_K, WIDTH], tl.float32)
    start = 0
    if CAUSAL:
        start = tl.maximum(first - shift, 0) // BLOCK_Q * BLOCK_Q  # a multiple costs fewer registers
    for member in range(group):
        reader = head * group + member
        for n in range(start, T, BLOCK_Q):
            dk_tile, dv_tile = learn_from_queries(
                k_tile, v_tile, dk_tile, dv_tile, q, do, lse, delta, q_at, do_at, lse_at,
                batch, reader, q_begin, n, T, keys, shift, factor, BLOCK_Q, D, WIDTH, CAUSAL, DESCRIBED,
            )  # fmt: skip
    store_tile(dk, dk_at, batch, head, k_begin, first, S, dk_tile * scale, BLOCK_K, D, WIDTH)
    store_tile(dv, dv_at, batch, head, k_begin, first, S, dv_tile, BLOCK_K, D, WIDTH)


@triton.jit
def learn_from_keys(
    q_tile, do_tile, dq, bits, less, k, v, k_at, v_at, batch, head, begin, n, S, places, factor,
    BLOCK_K: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr, DESCRIBED: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Return the gradient of a block of queries after one more block of keys, those from n on."""
    k_tile = load_tile(k, k_at, batch, head, begin, n, S, BLOCK_K, D, WIDTH, DESCRIBED)
    v_tile = load_tile(v, v_at, batch, head, begin, n, S, BLOCK_K, D, WIDTH, DESCRIBED)
    scores = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee")
    dp = tl.dot(do_tile, tl.trans(v_tile), input_precision="ieee")
    bits = scores * factor - bits[:, None]
    if MASKED:
        keys = n + tl.arange(0, BLOCK_K)
        may = (keys < S)[None, :]
        if CAUSAL:
            may = may & (keys[None, :] <= places[:, None])
        bits = tl.where(may, bits, float("-inf"))
    p = tl.exp2(bits)
    ds = p * (dp - less[:, None])
    return tl.dot(ds.to(k_tile.dtype), k_tile, dq, input_precision="ieee")


@triton.jit
def queries_kernel(
    q, k, v, do, lse, delta, dq, q_at, k_at, v_at, do_at, lse_at, dq_at,
    q_starts, k_starts, sizes, scale, factor,
    D: tl.constexpr, WIDTH: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
    CAUSAL: tl.constexpr, RAGGED: tl.constexpr, DESCRIBED: tl.constexpr, PACKED: tl.constexpr,
):  # fmt: skip
    """Write the gradient of one block of queries of one head."""
    H, group, T, S, tiles = sizes
    program = tl.program_id(0)
    first = (tiles - 1 - program % tiles) * BLOCK_Q
    head = program // tiles % H
    batch = program // tiles // H
    q_begin, T = span(q_starts, batch, T, PACKED)
    k_begin, S = span(k_starts, batch, S, PACKED)
    if PACKED:  # noqa: SIM102 - as in `forward`
        if first >= T:
            return
    places = first + tl.arange(0, BLOCK_Q) + S - T
    q_tile = load_tile(q, q_at, batch, head, q_begin, first, T, BLOCK_Q, D, WIDTH, DESCRIBED)
    do_tile = load_tile(do, do_at, batch, head, q_begin, first, T, BLOCK_Q, D, WIDTH, DESCRIBED)
    bits, less = load_rows(lse, delta, lse_at, batch, head, q_begin, first, T, BLOCK_Q)
    dq_tile = tl.zeros([BLOCK_Q, WIDTH], tl.float32)
    full, end = keys_to_read(first, T, S, BLOCK_Q, BLOCK_K, CAUSAL)
    for n in range(0, full, BLOCK_K):
        dq_tile = learn_from_keys(
            q_tile, do_tile, dq_tile, bits, less, k, v, k_at, v_at, batch, head // group, k_begin, n, S, places,
            factor, BLOCK_K, D, WIDTH, CAUSAL, DESCRIBED, MASKED=False,
        )  # fmt: skip
    if CAUSAL or RAGGED:
        for n in tl.range(full, end, BLOCK_K, num_stages=1):
            dq_tile = learn_from_keys(
                q_tile, do_tile, dq_tile, bits, less, k, v, k_at, v_at, batch, head // group, k_begin, n, S, places,
                factor, BLOCK_K, D, WIDTH, CAUSAL, DESCRIBED, MASKED=True,
            )  # fmt: skip
    store_tile(dq, dq_at, batch, head, q_begin, first, T, dq_tile * scale, BLOCK_Q, D, WIDTH)
