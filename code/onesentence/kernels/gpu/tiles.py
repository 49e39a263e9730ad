"""What the kernels share: reading and writing one block of one head.

A tensor of rows is (B, heads, length, D) in whatever strides, named `x`, with its strides `at`. It is read either with
pointers, masked outside, or through a tensor descriptor (Hopper's bulk copies, which give 0 outside by themselves). Offsets
are 64-bit: a tensor may hold more than 2^31 numbers. Packed sequences lie end to end in one row axis; sequence b takes
[starts[b], starts[b + 1]). `begin` is where a sequence's rows begin, 0 unless packed.
"""

from __future__ import annotations

from onesentence.kernels.gpu.runtime import tl, triton


@triton.jit
def span(starts, batch, length, PACKED: tl.constexpr):
    """Return where a sequence begins and how long it is."""
    if PACKED:
        begin = tl.load(starts + batch)
        length = tl.load(starts + batch + 1) - begin
    else:
        begin = batch * 0
    return begin.to(tl.int64), length


@triton.jit
def keys_to_read(first, T, S, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, CAUSAL: tl.constexpr):
    """Return how many keys need no mask for queries from `first` on, whole blocks of them, and how many are read at all."""
    full = S
    end = S
    if CAUSAL:
        full = tl.maximum(tl.minimum(first + S - T + 1, S), 0)
        end = tl.maximum(tl.minimum(first + S - T + BLOCK_Q, S), 0)
    return full // BLOCK_K * BLOCK_K, end


@triton.jit
def load_tile(
    x, at, batch, head, begin, first, length,
    ROWS: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """Return rows [first, first + ROWS) of one head, (ROWS, WIDTH); 0 beyond `length` and beyond D."""
    if DESCRIBED:
        tile = x.load([batch, head, first, 0]).reshape([ROWS, WIDTH])
    else:
        rows = tl.arange(0, ROWS)
        dims = tl.arange(0, WIDTH)
        start = x + batch.to(tl.int64) * at[0] + head.to(tl.int64) * at[1] + (begin + first) * at[2]
        inside = (rows < length - first)[:, None]
        if D != WIDTH:
            inside = inside & (dims < D)[None, :]
        offsets = rows.to(tl.int64)[:, None] * at[2] + dims.to(tl.int64)[None, :] * at[3]
        tile = tl.load(start + offsets, mask=inside, other=0.0)
    return tile


@triton.jit
def store_tile(
    x, at, batch, head, begin, first, length, tile,
    ROWS: tl.constexpr, D: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Write rows [first, first + ROWS) of one head, nothing beyond `length` and beyond D."""
    rows = tl.arange(0, ROWS)
    dims = tl.arange(0, WIDTH)
    start = x + batch.to(tl.int64) * at[0] + head.to(tl.int64) * at[1] + (begin + first) * at[2]
    inside = (rows < length - first)[:, None]
    if D != WIDTH:
        inside = inside & (dims < D)[None, :]
    offsets = rows.to(tl.int64)[:, None] * at[2] + dims.to(tl.int64)[None, :] * at[3]
    tl.store(start + offsets, tile.to(x.dtype.element_ty), mask=inside)


@triton.jit
def row_pointers(x, at, batch, head, begin, first, ROWS: tl.constexpr):
    """Return pointers to one number a row, (ROWS,)."""
    start = x + batch.to(tl.int64) * at[0] + head.to(tl.int64) * at[1] + (begin + first) * at[2]
    return start + tl.arange(0, ROWS).to(tl.int64) * at[2]
