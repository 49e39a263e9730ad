"""Decoding over contiguous keys: one new query of each row reads the first `lengths[b]` keys of its row.

    q (B, H, D)      k, v (B, G, S, D), any strides      lengths (B,)      o (B, H, D)      lse (B, H)

Only bytes count here: with T = 1 every key is read for 2 D multiplications of each query head. So the keys of a row are
split among several programs until the multiprocessors are busy, and merged afterwards (`kernels.gpu.split`). Parts and
sums are float32; dots of float32 are not TF32. There is no gradient: a cache is read for generation.

`reference.attention` with T = 1 and `real` gives the same numbers. Sections 7.2, 7.5 and 7.6 of the course.
"""

from __future__ import annotations

from math import e, log2
from typing import Any

import torch
from torch import Tensor

from onesentence.checks import checked_integer
from onesentence.kernels.gpu.blocks import Blocks, width_of
from onesentence.kernels.gpu.decode_plan import (
    INTERPRETED_SPLITS,
    MOST_SPLITS,
    blocks_of,
    resident,
    splits_for,
)
from onesentence.kernels.gpu.launch import on
from onesentence.kernels.gpu.runtime import check_kernel_takes
from onesentence.kernels.gpu.split import MERGED_AT_ONCE, merge_splits, read_split
from onesentence.kernels.sizes import scale_of


def decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lengths: Tensor,
    *,
    scale: float | None = None,
    window: int | None = None,
    splits: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Read the keys of each row with its one new query, which stands at their end; registered as `onesentence::decode`.

    The range of `lengths` is checked where they lie on the CPU. On CUDA that would stop the device, so a length outside
    [0, S] counts there as the nearest one inside; nothing outside the cache is ever read.

    Args:
        q: (B, H, D), float16, bfloat16 or float32; D a multiple of 16 from 16 to 256.
        k: (B, G, S, D); a view into a larger cache is read where it lies. H = G * group, query head h reads h // group.
        v: as k, with strides of its own.
        lengths: keys of each row, the new one among them, (B,) int32 or int64, on the same device. 0 is allowed.
        scale: of scores; None means 1 / sqrt(D).
        window: read only the last so many keys of a row; None means all.
        splits: parts into which the keys of each row are cut; None leaves it to `splits_for`.

    Returns:
        Output (B, H, D), 0 in a row without keys, and log-sum-exp of scaled scores in nats, float32 (B, H), -inf there.

    Raises:
        TypeError: if a dtype will not do.
        ValueError: if a shape, device, head size or number does not fit, or an input requires a gradient while
            gradients are recorded.
    """
    refuse_gradients(q=q, k=k, v=v)
    factor = scale_of(scale, q.shape[-1])
    read: tuple[Tensor, Tensor] = _decode(q, k, v, lengths, factor, window, splits)
    return read


@torch.library.custom_op("onesentence::decode", mutates_args=())
def _decode(
    q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float, window: int | None, splits: int | None
) -> tuple[Tensor, Tensor]:
    """Check and launch; the arguments of `decode` with its scale worked out."""
    outputs = _decode_outputs(q, k, v, lengths, scale, window, splits)
    checked_lengths(lengths, k.shape[2])
    decode_into(q, k, v, lengths, None, *outputs, scale=scale, window=window, splits=splits)
    return outputs


def _decode_outputs(
    q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float, window: int | None, splits: int | None
) -> tuple[Tensor, Tensor]:
    """Check shapes and allocate what `decode` returns."""
    checked_parts(q, lengths, window, splits, axes=(str(q.shape[0]), "S"), k=k, v=v)
    if k.shape[0] != q.shape[0]:
        raise ValueError(f"k must have {q.shape[0]} rows, as q has, got {k.shape[0]}")
    return outputs_of(q)


_decode.register_fake(_decode_outputs)


def refuse_gradients(**parts: Tensor) -> None:
    """Refuse a tensor whose gradient would silently be missing.

    Args:
        parts: by name.

    Raises:
        ValueError: if one requires a gradient while gradients are recorded.
    """
    for name, part in parts.items():
        if part.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                f"{name} must not require a gradient: decoding has none; call it under torch.no_grad()"
            )


def outputs_of(q: Tensor) -> tuple[Tensor, Tensor]:
    """Return uninitialised output and log-sum-exp for queries (B, H, D)."""
    return q.new_empty(q.shape), q.new_empty(q.shape[:2], dtype=torch.float32)


def checked_lengths(lengths: Tensor, capacity: int) -> None:
    """Refuse lengths outside the cache, if they can be seen without stopping a device.

    Args:
        lengths: (B,).
        capacity: keys that a row can have.

    Raises:
        ValueError: if one is negative or larger, and they lie on the CPU.
    """
    if lengths.device.type == "cpu" and not bool(((lengths >= 0) & (lengths <= capacity)).all()):
        raise ValueError(f"lengths must lie in [0, {capacity}], got {lengths.tolist()}")


def checked_parts(
    q: Tensor,
    lengths: Tensor,
    window: int | None,
    splits: int | None,
    *,
    axes: tuple[str, str],
    **pools: Tensor,
) -> None:
    """Refuse parts that do not fit, before anything is launched.

    Args:
        q: (B, H, D).
        lengths: (B,) integers.
        window: at least 1, or None.
        splits: at least 1, or None.
        axes: what error messages call the first and third axis of keys and values.
        pools: keys and values by name, of one shape (outer, G, slots, D).

    Raises:
        TypeError: if dtypes differ or will not do.
        ValueError: if a shape or a device does not fit.
    """
    if q.ndim != 3 or 0 in q.shape:
        raise ValueError(f"q must have shape (B, H, D), none of them 0, got {tuple(q.shape)}")
    B, H, D = q.shape
    check_kernel_takes(q)
    blocks_of(D, q.dtype)
    shape = next(iter(pools.values())).shape
    for name, pool in pools.items():
        if pool.ndim != 4 or 0 in pool.shape or pool.shape[3] != D or pool.shape != shape:
            raise ValueError(
                f"{name} must have shape ({axes[0]}, G, {axes[1]}, {D}), none of them 0 and keys and values alike, "
                f"got {tuple(pool.shape)}"
            )
        if pool.dtype != q.dtype:
            raise TypeError(f"{name} must have the dtype of q, {q.dtype}, got {pool.dtype}")
    if H % shape[1]:
        raise ValueError(f"q must have a multiple of the {shape[1]} key heads, got {H}")
    if lengths.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"lengths must be int32 or int64, got {lengths.dtype}")
    if lengths.shape != (B,):
        raise ValueError(f"lengths must have shape ({B},), got {tuple(lengths.shape)}")
    for name, part in {**pools, "lengths": lengths}.items():
        if part.device != q.device:
            raise ValueError(f"{name} must be on the device of q, {q.device}, got {part.device}")
    if window is not None:
        checked_integer("window", window, 1)
    if splits is not None and checked_integer("splits", splits, 1) > MOST_SPLITS:
        raise ValueError(f"splits must be at most {MOST_SPLITS}, got {splits}")


def decode_into(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lengths: Tensor,
    table: Tensor | None,
    o: Tensor,
    lse: Tensor,
    *,
    scale: float,
    window: int | None,
    splits: int | None,
) -> None:
    """Run both kernels on inputs that have been checked.

    Args:
        q: (B, H, D).
        k: (B, G, S, D), or with a table (N, G, P, D).
        v: as k.
        lengths: (B,).
        table: (B, M) of pages, or None.
        o: (B, H, D), contiguous, written.
        lse: (B, H), contiguous, written.
        scale: of scores.
        window: keys that are read at most, None for all.
        splits: None for `splits_for`.
    """
    (B, H, D), G, blocks = q.shape, k.shape[1], blocks_of(q.shape[-1], q.dtype)
    pairs = G * -(-H // (G * blocks.block_q))
    if splits is None:
        capacity = k.shape[2] * (1 if table is None else table.shape[1])
        splits = device_splits(B * pairs, capacity, blocks, q.device)
    part_o = torch.empty(B, H, splits, D, dtype=torch.float32, device=q.device)
    part_lse = torch.empty(B, H, splits, dtype=torch.float32, device=q.device)
    arguments = arguments_of(q, k, v, lengths, table, part_o, part_lse, scale=scale, window=window)
    with on(q.device):
        read_split[B, pairs, splits](**arguments, **blocks.options)
        merge_splits[B * H,](part_o, part_lse, o, lse, splits, D=D, WIDTH=width_of(D), SPLITS=MERGED_AT_ONCE)


def device_splits(pairs: int, capacity: int, blocks: Blocks, device: torch.device) -> int:
    """Return `splits_for` the device, which under the interpreter has no multiprocessors."""
    if device.type != "cuda":
        return INTERPRETED_SPLITS
    slots = resident(blocks) * torch.cuda.get_device_properties(device).multi_processor_count
    return splits_for(pairs, -(-capacity // blocks.block_k), slots)


def arguments_of(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lengths: Tensor,
    table: Tensor | None,
    part_o: Tensor,
    part_lse: Tensor,
    *,
    scale: float,
    window: int | None,
) -> dict[str, Any]:
    """Return what `read_split` is called with, by name; arguments as `decode_into`."""
    pages, G, slots, D = k.shape
    capacity, page = (slots, 0) if table is None else (slots * table.shape[1], slots)
    blocks = blocks_of(D, q.dtype)
    tensors = {"q": q, "k": k, "v": v, "lengths": lengths, "table": table}
    strides = {f"{name}_at": None if part is None else part.stride() for name, part in tensors.items()}
    numbers = {"factor": scale * log2(e), "window": min(window or capacity, capacity), "capacity": capacity}
    constants = {"D": D, "PAGE": page, "WIDTH": width_of(D), "BLOCK": blocks.block_k, "ROWS": blocks.block_q}
    parts = {"part_o": part_o, "part_lse": part_lse, "pages": pages, "group": q.shape[1] // G}
    return {**tensors, **strides, **numbers, **constants, **parts}
