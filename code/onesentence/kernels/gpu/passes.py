"""Each large kernel by name, on tensors that nobody fills: what `compiled` compiles and `tune` times."""

from __future__ import annotations

import torch

from onesentence.checks import checked_choice
from onesentence.kernels.gpu.blocks import PASSES, Blocks, width_of
from onesentence.kernels.gpu.decode import arguments_of
from onesentence.kernels.gpu.decode_plan import blocks_of
from onesentence.kernels.gpu.forward import forward_launch
from onesentence.kernels.gpu.gradients import Read, keys_launch, queries_launch
from onesentence.kernels.gpu.launch import Launch, Packing
from onesentence.kernels.gpu.split import MERGED_AT_ONCE, merge_splits, read_split


def launch_of(name: str, read: Read, blocks: Blocks | None = None) -> Launch:
    """Return the launch of one pass, its results going into fresh tensors.

    Args:
        name: of the pass, as in `blocks`.
        read: a read; for `forward` its output and log-sum-exp are overwritten.
        blocks: None means the pinned ones.

    Raises:
        ValueError: if there is no such pass.
    """
    checked_choice("name", name, PASSES)
    if name == "forward":
        return forward_launch(
            read.q,
            read.k,
            read.v,
            read.o,
            read.lse,
            causal=read.causal,
            scale=read.scale,
            packing=read.packing,
            blocks=blocks,
        )
    delta = torch.zeros_like(read.lse)
    if name == "keys":
        return keys_launch(read, delta, torch.empty_like(read.k), torch.empty_like(read.v), blocks)
    return queries_launch(read, delta, torch.empty_like(read.q), blocks)


def random_read(
    B: int,
    H: int,
    G: int,
    T: int,
    D: int,
    dtype: torch.dtype,
    *,
    causal: bool,
    packed: bool = False,
    device: str = "cpu",
    seed: int = 0,
) -> Read:
    """Return a read of random numbers, as many keys as queries.

    Args:
        B: sequences.
        H: query heads.
        G: key heads.
        T: queries and keys of each.
        D: head size.
        dtype: of q, k and v.
        causal: a query reads keys up to its own place.
        packed: the sequences lie end to end instead of beside each other.
        device: where.
        seed: of the numbers.
    """
    generator = torch.Generator(device).manual_seed(seed)
    batch, rows = (1, B * T) if packed else (B, T)
    q, k, v, do = (
        torch.randn(batch, heads, rows, D, generator=generator, device=device, dtype=torch.float32).to(dtype)
        for heads in (H, G, G, H)
    )
    starts = torch.arange(0, B * T + 1, T, dtype=torch.int32, device=device)
    lse = torch.zeros(batch, H, rows, device=device)
    packing = Packing(starts, starts, T, T) if packed else None
    return Read(q, k, v, torch.zeros_like(q), lse, do, torch.zeros_like(lse), causal, D**-0.5, packing)


def split_launch(D: int, dtype: torch.dtype, page: int) -> Launch:
    """Return what `read_split` is compiled from; it is never run.

    Args:
        D: head size.
        dtype: of keys and values.
        page: keys of a page, 0 without pages.
    """
    q, k = torch.zeros(2, 8, D, dtype=dtype), torch.zeros(2, 2, page or 256, D, dtype=dtype)
    table = torch.zeros(2, 4, dtype=torch.int32) if page else None
    lengths, parts = torch.zeros(2, dtype=torch.int32), (torch.zeros(2, 8, 4, D), torch.zeros(2, 8, 4))
    arguments = arguments_of(q, k, k.clone(), lengths, table, *parts, scale=0.1, window=None)
    return Launch(read_split, 0, arguments, blocks_of(D, dtype), q.device)


def merge_launch(D: int, dtype: torch.dtype) -> Launch:
    """Return what `merge_splits` is compiled from; it is never run."""
    part_o, part_lse, o = torch.zeros(2, 8, 4, D), torch.zeros(2, 8, 4), torch.zeros(2, 8, D, dtype=dtype)
    tensors = {"part_o": part_o, "part_lse": part_lse, "o": o, "lse": torch.zeros(2, 8)}
    constants = {"D": D, "WIDTH": width_of(D), "SPLITS": MERGED_AT_ONCE}
    return Launch(merge_splits, 0, {**tensors, "splits": 4, **constants}, Blocks(16, 16, 4, 3), o.device)
