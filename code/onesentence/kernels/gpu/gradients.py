"""What starts the kernels of `backward`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from onesentence.kernels.gpu.backward import delta_kernel, keys_kernel, queries_kernel
from onesentence.kernels.gpu.blocks import Blocks, width_of
from onesentence.kernels.gpu.forward import LOG2_E
from onesentence.kernels.gpu.launch import Launch, Packing, blocks_for, describe, operand, strides_of

DELTA_ROWS = 32


@dataclass(frozen=True, eq=False)
class Read:
    """A read that has been done, and the gradients of its results; nothing is checked here.

    Attributes:
        q: (B, H, T, D), any strides, as all of these; (1, H, rows, D) if packed.
        k: (B, G, S, D).
        v: as k.
        o: as q, the output.
        lse: (B, H, T) float32.
        do: gradient of the output, as q.
        dlse: gradient of the log-sum-exp, as lse.
        causal: as it was read.
        scale: of scores.
        packing: where sequences lie; None means that the batch axis separates them.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    o: Tensor
    lse: Tensor
    do: Tensor
    dlse: Tensor
    causal: bool
    scale: float
    packing: Packing | None = None

    @property
    def lengths(self) -> tuple[int, int, int]:
        """Sequences, the most queries and the most keys of one."""
        if self.packing is not None:
            return len(self.packing.q_starts) - 1, self.packing.longest_q, self.packing.longest_k
        return self.q.shape[0], self.q.shape[2], self.k.shape[2]

    @property
    def described(self) -> bool:
        """Whether the gradients' kernels read it through descriptors."""
        return describe(self.q, self.k, self.v, self.do, packing=self.packing)

    @property
    def starts(self) -> dict[str, Tensor | None]:
        """Arguments that say where packed sequences start."""
        if self.packing is None:
            return {"q_starts": None, "k_starts": None}
        return {"q_starts": self.packing.q_starts, "k_starts": self.packing.k_starts}


def delta_launch(read: Read, delta: Tensor) -> Launch:
    """Return the launch that fills delta, which has the shape and strides of `read.lse`."""
    assert delta.stride() == read.lse.stride()
    B, T, _ = read.lengths
    H, D = read.q.shape[1], read.q.shape[3]
    tiles = -(-T // DELTA_ROWS)
    parts = {"o": read.o, "do": read.do, "lse": read.lse, "dlse": read.dlse}
    arguments = {
        **parts,
        "delta": delta,
        **{f"{name}_at": strides_of(x, read.packing) for name, x in parts.items()},
        "q_starts": read.starts["q_starts"],
        "sizes": (H, T, tiles),
        "D": D,
        "WIDTH": width_of(D),
        "BLOCK_Q": DELTA_ROWS,
        "PACKED": read.packing is not None,
    }
    return Launch(delta_kernel, tiles * H * B, arguments, Blocks(DELTA_ROWS, 16, 4, 1), read.q.device)


def common_arguments(read: Read, delta: Tensor, blocks: Blocks) -> dict[str, Any]:
    """Return what both of the large kernels take."""
    described = read.described
    D = read.q.shape[3]
    return {
        **{name: operand(getattr(read, name), blocks.block_q, described) for name in ("q", "do")},
        **{name: operand(getattr(read, name), blocks.block_k, described) for name in ("k", "v")},
        "lse": read.lse,
        "delta": delta,
        **{f"{n}_at": strides_of(getattr(read, n), read.packing) for n in ("q", "k", "v", "do", "lse")},
        **read.starts,
        "scale": read.scale,
        "factor": read.scale * LOG2_E,
        "D": D,
        "WIDTH": width_of(D),
        "BLOCK_Q": blocks.block_q,
        "BLOCK_K": blocks.block_k,
        "CAUSAL": read.causal,
        "DESCRIBED": described,
        "PACKED": read.packing is not None,
    }


def keys_launch(read: Read, delta: Tensor, dk: Tensor, dv: Tensor, blocks: Blocks | None = None) -> Launch:
    """Return the launch that fills the gradients of k and v, any strides."""
    blocks = blocks or blocks_for("keys", read.q, described=read.described)
    B, T, S = read.lengths
    H, G = read.q.shape[1], read.k.shape[1]
    tiles = -(-S // blocks.block_k)
    arguments = {
        **common_arguments(read, delta, blocks),
        "dk": dk,
        "dv": dv,
        "dk_at": strides_of(dk, read.packing),
        "dv_at": strides_of(dv, read.packing),
        "sizes": (G, H // G, T, S, tiles),
    }
    return Launch(keys_kernel, tiles * G * B, arguments, blocks, read.q.device)


def queries_launch(read: Read, delta: Tensor, dq: Tensor, blocks: Blocks | None = None) -> Launch:
    """Return the launch that fills the gradient of q, any strides."""
    blocks = blocks or blocks_for("queries", read.q, described=read.described)
    B, T, S = read.lengths
    H, G = read.q.shape[1], read.k.shape[1]
    tiles = -(-T // blocks.block_q)
    arguments = {
        **common_arguments(read, delta, blocks),
        "dq": dq,
        "dq_at": strides_of(dq, read.packing),
        "sizes": (H, H // G, T, S, tiles),
        "RAGGED": read.packing is not None or S % blocks.block_k != 0,
    }
    return Launch(queries_kernel, tiles * H * B, arguments, blocks, read.q.device)


def write_gradients(
    read: Read,
    dq: Tensor,
    dk: Tensor,
    dv: Tensor,
    *,
    keys_blocks: Blocks | None = None,
    queries_blocks: Blocks | None = None,
) -> None:
    """Compute all gradients of one read.

    Args:
        read: what was read and what its results are worth.
        dq: as q, overwritten; any strides.
        dk: as k, likewise.
        dv: as v, likewise.
        keys_blocks: of the kernel for k and v; None means the pinned ones.
        queries_blocks: of the kernel for q, likewise.
    """
    delta = torch.empty_strided(read.lse.shape, read.lse.stride(), dtype=torch.float32, device=read.q.device)
    delta_launch(read, delta).run()
    keys_launch(read, delta, dk, dv, keys_blocks).run()
    queries_launch(read, delta, dq, queries_blocks).run()
