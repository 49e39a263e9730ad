"""From tensors to a kernel's arguments: strides, descriptors, and sequences that lie end to end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from onesentence.kernels.gpu.blocks import INTERPRETED, Blocks, pinned, width_of
from onesentence.kernels.gpu.runtime import TensorDescriptor, interpreted


@dataclass(frozen=True, eq=False)
class Packing:
    """How sequences lie end to end in tensors (1, heads, rows, D); their starts have been checked.

    Attributes:
        q_starts: where each sequence's queries start, and where the last ends, (B + 1,) int32.
        k_starts: likewise for keys.
        longest_q: the most queries of one sequence.
        longest_k: the most keys.
    """

    q_starts: Tensor
    k_starts: Tensor
    longest_q: int
    longest_k: int


@dataclass(frozen=True, eq=False)
class Launch:
    """One kernel with everything that it is called with.

    Attributes:
        kernel: the jitted function.
        programs: how many of it run; 0 is allowed.
        arguments: by name.
        blocks: warps and stages stand in it.
        device: where the tensors are.
    """

    kernel: Any
    programs: int
    arguments: dict[str, Any]
    blocks: Blocks
    device: torch.device

    def run(self) -> None:
        """Start it; it writes into tensors among its arguments."""
        if self.programs:
            with on(self.device):
                self.kernel[(self.programs,)](**self.arguments, **self.blocks.options)


@contextmanager
def on(device: torch.device) -> Iterator[None]:
    """Make a CUDA device the current one, which is where Triton launches; anything else is left alone."""
    if device.type == "cuda":
        with torch.cuda.device(device):
            yield
    else:
        yield


def blocks_for(name: str, q: Tensor, *, described: bool) -> Blocks:
    """Return the blocks of a pass, those of Hopper or the interpreter's."""
    if interpreted():
        return INTERPRETED
    return pinned(name, q.shape[-1], q.itemsize, described=described)


def strides_of(x: Tensor, packing: Packing | None) -> tuple[int, ...]:
    """Return the strides of a tensor, in numbers; packed sequences share the one entry of the batch axis."""
    return x.stride() if packing is None else (0, *x.stride()[1:])


def can_be_described(x: Tensor) -> bool:
    """Say whether Hopper's bulk copies can read a tensor (B, heads, length, D): rows of whole 16 bytes, starting at such."""
    *outer, last = x.stride()
    steps = all(
        size == 1 or (stride > 0 and stride * x.itemsize % 16 == 0)
        for size, stride in zip(x.shape, outer, strict=False)
    )
    return last == 1 and steps and x.data_ptr() % 16 == 0 and x.shape[-1] * x.itemsize % 16 == 0


def describe(*tensors: Tensor, packing: Packing | None = None) -> bool:
    """Say whether tensors are read through descriptors: on Hopper or later, all of them fit and none is packed.

    float32 never is: its products take operands from registers, and blocks that arrive by bulk copy spill there.
    """
    q = tensors[0]
    if packing is not None or q.itemsize != 2 or not all(can_be_described(x) for x in tensors):
        return False
    return interpreted() or not q.is_cuda or torch.cuda.get_device_capability(q.device)[0] >= 9


def operand(x: Tensor, rows: int, described: bool) -> Any:
    """Return what a kernel reads a tensor through: a descriptor of blocks (1, 1, rows, width), or the tensor."""
    if not described:
        return x
    whole = 16 // x.itemsize  # a valid step for an axis that is never stepped along
    strides = [whole if size == 1 else stride for size, stride in zip(x.shape[:-1], x.stride(), strict=False)]
    return TensorDescriptor(x, list(x.shape), [*strides, 1], [1, 1, rows, width_of(x.shape[-1])])
