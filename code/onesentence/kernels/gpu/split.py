"""The two kernels of split-KV decoding: every part of a row's keys is read on its own, then the parts are merged.

A program of `read_split` is one row, one key head and one part ("split") of the row's keys. The query heads that share
the key head are the rows of one tile, so K and V are read once for all of them. It leaves, for each query head,

    part_lse = log2 sum 2^s,    part_o = sum 2^s v / sum 2^s,    s = scale * log2(e) * q . k

and `merge_splits` weighs the parts by 2^(part_lse - max). A part without keys leaves -inf and no output, which nobody
reads. Where all keys of a row lie is decided in one place, `placed`: one after the other, or through a table of pages.
Key n of a row is slot n of outer index `row`, or slot n % PAGE of outer index `table[row, n // PAGE]`.

Dao et al. 2023, "Flash-Decoding for long-context inference" (crfm.stanford.edu/2023/10/12/flashdecoding.html); pages:
Kwon et al. 2023 (arXiv:2309.06180), section 4.1. Sections 7.2, 7.5 and 7.6 of the course. Two differences: the splits
share out the row's own keys, not the capacity of the cache, and `lengths` never comes back to the host.
"""

# mypy: disable-error-code="untyped-decorator, no-untyped-def"

from __future__ import annotations

import triton
import triton.language as tl

MERGED_AT_ONCE = 16
"""Parts that the merge loads together."""


@triton.jit
def looked_up(block, last, start, length, row, table, table_at, PAGE: tl.constexpr, BLOCK: tl.constexpr):
    """Return the outer index of the keys of a block, or of each of them; -1 where no key may be read.

    Nothing in front of the window or beyond the length is looked up.

    Args:
        block: its number; its first key is `block * BLOCK`.
        last: behind the last block of the split.
        start: first key of the row that may be read.
        length: behind the last.
        row: of the batch.
        table: pages of this row, or None.
        table_at: strides of the table, or None.
        PAGE: keys of a page, a power of two; 0 without a table.
        BLOCK: a power of two.
    """
    if PAGE == 0:
        outer = row
    elif PAGE >= BLOCK:  # the block lies in one page
        entry = block // (PAGE // BLOCK)
        outer = tl.load(table + entry * table_at[1], mask=block < last, other=-1)
    else:
        keys = block * BLOCK + tl.arange(0, BLOCK)
        outer = tl.load(
            table + (keys // PAGE) * table_at[1], mask=(keys >= start) & (keys < length), other=-1
        )
    return outer


@triton.jit(do_not_specialize=["window", "capacity", "pages", "group"])
def read_split(
    q, q_at, k, k_at, v, v_at, lengths, lengths_at, table, table_at, part_o, part_lse,
    factor, window, capacity, pages, group,
    D: tl.constexpr, PAGE: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Read one split of one row's keys with the query heads of one key head; grid (B, G * tiles, splits).

    Args:
        q: (B, H, D).
        q_at: its strides, as all names that end so.
        k: (B, G, S, D), or pages (N, G, PAGE, D).
        k_at: strides.
        v: as k.
        v_at: strides.
        lengths: (B,).
        lengths_at: stride, a tuple of one.
        table: (B, M), or None.
        table_at: strides, or None.
        part_o: (B, H, splits, D) float32, contiguous.
        part_lse: (B, H, splits) float32, base 2, contiguous.
        factor: scale * log2(e).
        window: keys of a row that are read at most, the last ones.
        capacity: S, or M * PAGE.
        pages: N.
        group: H / G.
        D: head size.
        PAGE: see `looked_up`.
        WIDTH: the power of two from D up.
        BLOCK: keys of one step.
        ROWS: query heads in a tile, a power of two; the keys of a larger group are read once for each tile.
    """
    row = tl.program_id(0).to(tl.int64)
    tiles = tl.cdiv(group, ROWS)
    head = (tl.program_id(1) // tiles).to(tl.int64)
    split = tl.program_id(2)
    splits = tl.num_programs(2)

    length = tl.minimum(tl.maximum(tl.load(lengths + row * lengths_at[0]), 0), capacity).to(tl.int32)
    start = tl.maximum(length - window, 0)
    before = start // BLOCK  # blocks in front of the window
    blocks = tl.cdiv(length, BLOCK) - before
    first = before + (blocks.to(tl.int64) * split // splits).to(tl.int32)
    last = before + (blocks.to(tl.int64) * (split + 1) // splits).to(tl.int32)

    member = (tl.program_id(1) % tiles) * ROWS + tl.arange(0, ROWS)  # of the group
    query_head = head * group + member
    dims = tl.arange(0, WIDTH)
    places = query_head[:, None] * q_at[1] + dims.to(tl.int64)[None, :] * q_at[2]
    queries = tl.load(
        q + row * q_at[0] + places, mask=(member < group)[:, None] & (dims < D)[None, :], other=0.0
    )
    k += head * k_at[1]
    v += head * v_at[1]
    if PAGE > 0:
        table += row * table_at[0]

    m = tl.full((ROWS,), float("-inf"), tl.float32)
    l = tl.zeros((ROWS,), tl.float32)  # noqa: E741
    u = tl.zeros((ROWS, WIDTH), tl.float32)
    outer = looked_up(first, last, start, length, row, table, table_at, PAGE, BLOCK)
    for block in tl.range(first, last):
        keys = block * BLOCK + tl.arange(0, BLOCK)
        there = (keys >= start) & (keys < length)
        slot = keys.to(tl.int64)
        if PAGE > 0:
            there = there & ((outer >= 0) & (outer < pages))
            slot = slot % PAGE
        k_keys = outer.to(tl.int64) * k_at[0] + slot * k_at[2]
        v_keys = outer.to(tl.int64) * v_at[0] + slot * v_at[2]
        outer = looked_up(block + 1, last, start, length, row, table, table_at, PAGE, BLOCK)  # in time
        read = there[:, None] & (dims < D)[None, :]
        tile = tl.load(k + k_keys[:, None] + dims.to(tl.int64)[None, :] * k_at[3], mask=read, other=0.0)
        s = tl.dot(queries, tl.trans(tile), input_precision="ieee") * factor
        s = tl.where(there[None, :], s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        base = tl.where(m_new == float("-inf"), 0.0, m_new)  # pages that do not exist: never -inf - (-inf)
        p = tl.exp2(s - base[:, None])
        shrink = tl.exp2(m - base)
        l = l * shrink + tl.sum(p, 1)  # noqa: E741
        tile = tl.load(v + v_keys[:, None] + dims.to(tl.int64)[None, :] * v_at[3], mask=read, other=0.0)
        u = tl.dot(p.to(tile.dtype), tile, u * shrink[:, None], input_precision="ieee")
        m = m_new

    some = tl.where(l == 0, 1.0, l)
    at = (row * (tl.num_programs(1) // tiles) * group + query_head) * splits + split
    tl.store(part_lse + at, tl.where(l == 0, float("-inf"), m + tl.log2(some)), mask=member < group)
    write = ((member < group) & (l != 0))[:, None] & (dims < D)[None, :]
    tl.store(part_o + at[:, None] * D + dims[None, :], u / some[:, None], mask=write)


@triton.jit(do_not_specialize=["splits"])
def merge_splits(
    part_o, part_lse, o, lse, splits, D: tl.constexpr, WIDTH: tl.constexpr, SPLITS: tl.constexpr
):
    """Merge the parts of one query head; grid (B * H,).

    Args:
        part_o: of `read_split`.
        part_lse: of `read_split`.
        o: (B, H, D), contiguous.
        lse: (B, H) float32, nats, contiguous.
        splits: number of parts.
        D: head size.
        WIDTH: the power of two from D up.
        SPLITS: parts loaded together, a power of two.
    """
    row = tl.program_id(0).to(tl.int64)
    dims = tl.arange(0, WIDTH)
    m = -float("inf")
    l = 0.0  # noqa: E741
    u = tl.zeros((WIDTH,), tl.float32)
    for first in tl.range(0, splits, SPLITS):
        parts = first + tl.arange(0, SPLITS)
        s = tl.load(part_lse + row * splits + parts, mask=parts < splits, other=float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 0))
        base = tl.where(m_new == float("-inf"), 0.0, m_new)
        weight = tl.exp2(s - base)
        shrink = tl.exp2(m - base)
        read = (s != float("-inf"))[:, None] & (dims < D)[None, :]
        tile = tl.load(part_o + (row * splits + parts)[:, None] * D + dims[None, :], mask=read, other=0.0)
        u = u * shrink + tl.sum(weight[:, None] * tile, 0)
        l = l * shrink + tl.sum(weight, 0)  # noqa: E741
        m = m_new
    some = tl.where(l == 0, 1.0, l)
    tl.store(o + row * D + dims, (u / some).to(o.dtype.element_ty), mask=dims < D)
    tl.store(lse + row, tl.where(l == 0, float("-inf"), (m + tl.log2(some)) * 0.6931471805599453))
