"""Who is timed: every implementation pinned by name, with the reason where it cannot run.

A backend is made ready for a case outside of the clock (masks, pages, compilation), which gives a call without arguments
for the clock. Naive is three calls of PyTorch, product, softmax, product, keys of grouped heads repeated; nobody falls back
on another implementation: `sdpa_kernel` leaves PyTorch a single choice, and FlexAttention is compiled as one graph or not
at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from onesentence.kernels.bench.cases import KINDS, Case
from onesentence.kernels.bench.inputs import Inputs
from onesentence.kernels.reference import may_read
from onesentence.kernels.sizes import scale_of

Forward = Callable[[], Tensor]
"""Gives the output (B, H, T, D)."""
SQUARE = ("forward", "backward")


def _nothing(device: torch.device) -> str:
    return ""


def _no_case(case: Case, device: torch.device) -> str:
    return ""


@dataclass(frozen=True)
class Backend:
    """One implementation.

    Attributes:
        name: what tables call it.
        note: what it is, in words.
        prepare: makes it ready for a case.
        devices: kinds of devices that it is for.
        kinds: kinds of cases that it is for.
        absent: why it cannot run on a device at all, empty where it can.
        passes: why a case is not for it, empty where it is.
    """

    name: str
    note: str
    prepare: Callable[[Case, Inputs], Forward]
    devices: tuple[str, ...] = ("cpu", "cuda")
    kinds: tuple[str, ...] = KINDS
    absent: Callable[[torch.device], str] = _nothing
    passes: Callable[[Case, torch.device], str] = _no_case

    def missing(self, device: torch.device) -> str:
        """Return why the backend cannot run on this device at all, empty where it can."""
        if device.type not in self.devices:
            return f"is for {' and '.join(self.devices)} only"
        return self.absent(device)


def memory_bytes(device: torch.device) -> int:
    """Return how much memory a device has."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def too_large(case: Case, device: torch.device) -> str:
    """Say why the score tables of a case do not fit: 3 of them forwards, 5 backwards, in 0.8 of the memory."""
    need, have = case.table_bytes * (5 if case.kind == "backward" else 3), memory_bytes(device)
    return f"its tables would need {need / 1e9:.0f} GB of {have / 1e9:.0f}" if need > 0.8 * have else ""


def naive(case: Case, inputs: Inputs) -> Forward:
    """Make the naive version ready: the score table in memory, the mask made before."""
    q, k, v = inputs.leaves
    factor, group = scale_of(None, case.D), case.sizes.group
    mask = may_read(case.sizes, causal=case.causal, real=None, device=q.device)
    hidden = None if mask is None else ~mask

    def forward() -> Tensor:
        keys, values = (k, v) if group == 1 else (part.repeat_interleave(group, dim=1) for part in (k, v))
        scores = (q * factor) @ keys.mT
        if hidden is not None:
            scores = scores.masked_fill(hidden, -torch.inf)
        return scores.softmax(dim=-1) @ values

    return forward


def sdpa(choice: SDPBackend) -> Callable[[Case, Inputs], Forward]:
    """Return what makes PyTorch's attention ready, pinned to one of its own backends."""

    def prepare(case: Case, inputs: Inputs) -> Forward:
        q, k, v = inputs.leaves

        def forward() -> Tensor:
            with sdpa_kernel(choice):
                return scaled_dot_product_attention(
                    q, k, v, is_causal=case.causal, enable_gqa=case.H != case.G
                )

        return forward

    return prepare


def corner(case: Case, device: torch.device) -> str:
    """Say why PyTorch's `is_causal` does not serve: it aligns the corner at the start, this project at the end."""
    return "its causal mask stands at the start of the keys" if case.causal and case.T != case.S else ""


def tiled(case: Case, inputs: Inputs) -> Forward:
    """Make the tiled version for CPUs ready."""
    from onesentence.kernels.tiled import attention

    return lambda: attention(*inputs.leaves, causal=case.causal)[0]


def _no_tiled(device: torch.device) -> str:
    try:
        from onesentence.kernels import tiled  # noqa: F401
    except ImportError as error:
        return f"cannot be imported: {error}"
    return ""


COMMON = (
    Backend("naive", "product, softmax, product, the table in memory", naive, passes=too_large),
    Backend(
        "sdpa flash",
        "torch.nn.functional.scaled_dot_product_attention, FLASH_ATTENTION of the device",
        sdpa(SDPBackend.FLASH_ATTENTION),
        passes=corner,
    ),
    Backend(
        "tiled",
        "kernels.tiled, blocks with an online softmax, in torch",
        tiled,
        devices=("cpu",),
        absent=_no_tiled,
    ),
)
"""Those of a CPU; `kernels.bench.cuda` adds its own."""
