"""The numbers that every backend of a case reads: drawn once, from a seed, on the device."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from onesentence.kernels.bench.cases import Case


@dataclass(frozen=True)
class Inputs:
    """What one case reads.

    Attributes:
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        upstream: gradient of the output, (B, H, T, D); q, k and v want their gradients then. None forwards.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    upstream: Tensor | None = None

    @property
    def leaves(self) -> tuple[Tensor, Tensor, Tensor]:
        """The three inputs, in their order."""
        return self.q, self.k, self.v

    def part(self, b: int, g: int, dtype: torch.dtype) -> Inputs:
        """Return one sequence's key head with its query heads, as inputs of their own.

        Args:
            b: the sequence.
            g: the key head.
            dtype: of the copies.
        """
        group = self.q.shape[1] // self.k.shape[1]
        places = (
            (slice(b, b + 1), slice(g * group, (g + 1) * group)),
            (slice(b, b + 1), slice(g, g + 1)),
        )
        q, k, v = (self.leaves[i].detach()[places[i > 0]].to(dtype, copy=True) for i in range(3))
        upstream = None if self.upstream is None else self.upstream[places[0]].to(dtype)
        if upstream is not None:
            q, k, v = (leaf.requires_grad_() for leaf in (q, k, v))
        return Inputs(q, k, v, upstream)


def inputs_of(case: Case, device: torch.device, seed: int) -> Inputs:
    """Draw the inputs of a case, standard normal.

    Args:
        case: its sizes and dtype; a backward case gets an upstream gradient.
        device: where they lie and are drawn.
        seed: of the generator.
    """
    generator = torch.Generator(device).manual_seed(seed)
    dtype = getattr(torch, case.dtype)

    def drawn(heads: int, length: int) -> Tensor:
        shape = (case.B, heads, length, case.D)
        return torch.randn(shape, generator=generator, device=device, dtype=dtype)

    q, k, v = drawn(case.H, case.T), drawn(case.G, case.S), drawn(case.G, case.S)
    if case.kind != "backward":
        return Inputs(q, k, v)
    q, k, v = (leaf.requires_grad_() for leaf in (q, k, v))
    return Inputs(q, k, v, drawn(case.H, case.T))
