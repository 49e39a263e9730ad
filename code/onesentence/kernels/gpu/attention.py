"""Attention in Triton as one differentiable operation of PyTorch.

Registered with `torch.library`, `onesentence::attention` is one op to `torch.compile`, and so is its gradient. Shapes and
rules as in `kernels.sizes`; key padding has no argument here: pack the sequences (`packed`). Second derivatives are not
there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from onesentence.kernels.gpu.forward import forward_launch
from onesentence.kernels.gpu.gradients import Read, write_gradients
from onesentence.kernels.gpu.launch import can_be_described
from onesentence.kernels.gpu.runtime import check_kernel_takes
from onesentence.kernels.sizes import scale_of, sizes_of


@torch.library.custom_op("onesentence::attention", mutates_args=())
def attention_op(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    """Return output and log-sum-exp of a read whose parts have been checked."""
    check_kernel_takes(q)
    o, lse = _empty_results(q, k, v, causal, scale)
    forward_launch(q, k, v, o, lse, causal=causal, scale=scale).run()
    return o, lse


@attention_op.register_fake
def _empty_results(q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    return q.new_empty(q.shape), q.new_empty(q.shape[:3], dtype=torch.float32)


@torch.library.custom_op("onesentence::attention_backward", mutates_args=())
def attention_backward_op(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    do: Tensor,
    dlse: Tensor,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of q, k and v."""
    check_kernel_takes(q)
    if not can_be_described(do):  # as what `sum` hands back, one number in all places: would slow all reads
        do = do.contiguous()
    dq, dk, dv = _empty_gradients(q, k, v, o, lse, do, dlse, causal, scale)
    write_gradients(Read(q, k, v, o, lse, do, dlse, causal, scale), dq, dk, dv)
    return dq, dk, dv


@attention_backward_op.register_fake
def _empty_gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    do: Tensor,
    dlse: Tensor,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    q, k, v, ctx.causal, ctx.scale = inputs
    ctx.save_for_backward(q, k, v, *output)


def _backward(ctx: Any, do: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
    gradients = attention_backward_op(*ctx.saved_tensors, do, dlse, ctx.causal, ctx.scale)
    return (*gradients, None, None)


attention_op.register_autograd(_backward, setup_context=_remember)


def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """Read keys with queries, no score table in memory; differentiable once in both results.

    Args:
        q: (B, H, T, D), float16, bfloat16 or float32, on CUDA (on the CPU under Triton's interpreter); any strides, D up
            to 256. Head sizes that are no power of two are padded inside, so 80 costs what 128 does.
        k: (B, G, S, D).
        v: (B, G, S, D).
        causal: a query reads keys up to its own place, the queries standing at the end of the keys.
        scale: of scores; None means 1 / sqrt(D).

    Returns:
        Output (B, H, T, D), 0 where a query may read nothing, and log-sum-exp of scaled scores in nats, (B, H, T) float32,
        -inf there.

    Raises:
        TypeError: as `sizes_of` and `scale_of`; if the dtype is none of these, or bfloat16 under the interpreter.
        ValueError: as `sizes_of` and `scale_of`; if D is larger than 256, tensors are on different devices, or not on CUDA
            without the interpreter.
    """
    sizes = sizes_of(q, k, v)
    check_kernel_takes(q)
    for name, part in (("k", k), ("v", v)):
        if part.device != q.device:
            raise ValueError(f"{name} must be on the device of q, {q.device}, got {part.device}")
    o, lse = attention_op(q, k, v, bool(causal), scale_of(scale, sizes.D))
    return o, lse
