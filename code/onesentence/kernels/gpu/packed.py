"""Attention over sequences of unequal lengths that lie end to end, without padding.

Sequence b has queries [q_starts[b], q_starts[b + 1]) and keys [k_starts[b], k_starts[b + 1]); its queries read its keys
only and, if `causal`, stand at their end. A sequence may have no queries, or no keys: then its output is 0 and its
log-sum-exp -inf. N queries and M keys in all. The same kernels as `attention`, told where a sequence begins; a program is
started for every block of the longest sequence and stops at once where its own has none.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from onesentence.kernels.gpu.forward import forward_launch
from onesentence.kernels.gpu.gradients import Read, write_gradients
from onesentence.kernels.gpu.launch import Packing
from onesentence.kernels.gpu.runtime import check_kernel_takes
from onesentence.kernels.sizes import scale_of


def check_parts(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Refuse queries, keys and values that do not fit.

    Args:
        q: (N, H, D).
        k: (M, G, D).
        v: as k.

    Raises:
        TypeError: if dtypes differ.
        ValueError: if a shape or device does not fit, or H is no multiple of G.
    """
    for name, part in (("q", q), ("k", k), ("v", v)):
        if part.ndim != 3 or 0 in part.shape[1:]:
            raise ValueError(f"{name} must have shape (rows, heads, D), got {tuple(part.shape)}")
        if part.dtype != q.dtype:
            raise TypeError(f"{name} must have the dtype of q, {q.dtype}, got {part.dtype}")
        if part.device != q.device:
            raise ValueError(f"{name} must be on the device of q, {q.device}, got {part.device}")
    M, G = k.shape[:2]
    H, D = q.shape[1:]
    for name, part in (("k", k), ("v", v)):
        if tuple(part.shape) != (M, G, D):
            raise ValueError(f"{name} must have shape ({M}, G, {D}), as q and k say, got {tuple(part.shape)}")
    if H % G:
        raise ValueError(f"q must have a multiple of the {G} heads of k, got {H}")


def longest_of(name: str, starts: Tensor, rows: int, device: torch.device) -> int:
    """Return the longest of some sequences after checking where they start; waits for the device.

    Args:
        name: what error messages call the starts.
        starts: where each sequence starts, and where the last ends, (B + 1,) int32.
        rows: how many rows there are.
        device: where the starts have to be.

    Raises:
        TypeError: if they are not int32.
        ValueError: if their shape or device does not fit, they do not rise from 0 to `rows`, or there is no sequence.

    Example:
        >>> longest_of("q_starts", torch.tensor([0, 2, 2, 5], dtype=torch.int32), 5, torch.device("cpu"))
        3
    """
    if starts.dtype != torch.int32:
        raise TypeError(f"{name} must be int32, got {starts.dtype}")
    if starts.ndim != 1 or len(starts) < 2:
        raise ValueError(
            f"{name} must have shape (B + 1,) for B of at least 1 sequences, got {tuple(starts.shape)}"
        )
    if starts.device != device:
        raise ValueError(f"{name} must be on the device of q, {device}, got {starts.device}")
    values: list[int] = starts.tolist()
    lengths = [after - before for before, after in pairwise(values)]
    if values[0] != 0 or values[-1] != rows or min(lengths) < 0:
        raise ValueError(f"{name} must rise from 0 to {rows}, the number of rows, got {_short(values)}")
    return max(lengths)


def _short(values: list[int]) -> str:
    return str(values) if len(values) <= 8 else f"[{', '.join(map(str, values[:4]))}, …, {values[-1]}]"


def _heads_first(x: Tensor) -> Tensor:
    """Return (rows, heads, …) as (1, heads, rows, …), a view."""
    return x.transpose(0, 1)[None]


@torch.library.custom_op("onesentence::attention_packed", mutates_args=())
def packed_op(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_starts: Tensor,
    k_starts: Tensor,
    longest_q: int,
    longest_k: int,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor]:
    """Return output and log-sum-exp of reads whose parts have been checked."""
    check_kernel_takes(q)
    o, lse = _empty_results(q, k, v, q_starts, k_starts, longest_q, longest_k, causal, scale)
    packing = Packing(q_starts.contiguous(), k_starts.contiguous(), longest_q, longest_k)
    parts = [_heads_first(x) for x in (q, k, v, o, lse)]
    forward_launch(*parts, causal=causal, scale=scale, packing=packing).run()
    return o, lse


@packed_op.register_fake
def _empty_results(
    q: Tensor, k: Tensor, v: Tensor, q_starts: Tensor, k_starts: Tensor,
    longest_q: int, longest_k: int, causal: bool, scale: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return q.new_empty(q.shape), q.new_empty(q.shape[:2], dtype=torch.float32)


@torch.library.custom_op("onesentence::attention_packed_backward", mutates_args=())
def packed_backward_op(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_starts: Tensor,
    k_starts: Tensor,
    o: Tensor,
    lse: Tensor,
    do: Tensor,
    dlse: Tensor,
    longest_q: int,
    longest_k: int,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of q, k and v."""
    check_kernel_takes(q)
    gradients = [part.new_empty(part.shape) for part in (q, k, v)]
    packing = Packing(q_starts.contiguous(), k_starts.contiguous(), longest_q, longest_k)
    q, k, v, o, lse, do, dlse = map(_heads_first, (q, k, v, o, lse, do, dlse))
    write_gradients(Read(q, k, v, o, lse, do, dlse, causal, scale, packing), *map(_heads_first, gradients))
    dq, dk, dv = gradients
    return dq, dk, dv


@packed_backward_op.register_fake
def _empty_gradients(q: Tensor, k: Tensor, v: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs[:5], *output)
    ctx.options = inputs[5:]


def _backward(ctx: Any, do: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
    gradients = packed_backward_op(*ctx.saved_tensors, do, dlse, *ctx.options)
    return (*gradients, *[None] * 6)


packed_op.register_autograd(_backward, setup_context=_remember)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_starts: Tensor,
    k_starts: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Let the queries of each sequence read its own keys; differentiable once in both results.

    Args:
        q: (N, H, D), as `kernels.gpu.attention` in dtype, device and strides.
        k: (M, G, D).
        v: (M, G, D).
        q_starts: where each sequence's queries start, and where the last ends: (B + 1,) int32, from 0 to N.
        k_starts: likewise for keys, from 0 to M. Both are read on the CPU, which waits for the device.
        causal: a query reads keys up to its own place, a sequence's queries standing at the end of its keys.
        scale: of scores; None means 1 / sqrt(D).

    Returns:
        Output (N, H, D), 0 where a query may read nothing, and log-sum-exp in nats (N, H) float32, -inf there.

    Raises:
        TypeError, ValueError: as `check_parts`, `check_kernel_takes`, `longest_of` and `scale_of`; if the starts are of
            different numbers of sequences.
    """
    check_parts(q, k, v)
    check_kernel_takes(q)
    longest_q = longest_of("q_starts", q_starts, len(q), q.device)
    longest_k = longest_of("k_starts", k_starts, len(k), q.device)
    if len(k_starts) != len(q_starts):
        raise ValueError(f"k_starts must have {len(q_starts)} entries as q_starts has, got {len(k_starts)}")
    scale = scale_of(scale, q.shape[-1])
    o, lse = packed_op(q, k, v, q_starts, k_starts, longest_q, longest_k, bool(causal), scale)
    return o, lse
