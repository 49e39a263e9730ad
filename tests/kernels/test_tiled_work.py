"""How much memory tiled attention takes, which tiles it visits and which it masks: counted, not timed."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from onesentence.kernels import reference
from onesentence.kernels.tiled import attention
from onesentence.kernels.tiles import Blocks


def drawn(H: int, G: int, T: int, S: int, D: int, B: int = 1) -> list[Tensor]:
    """Draw q, k, v and the gradients of both results."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((B, H, T, D), (B, G, S, D), (B, G, S, D), (B, H, T, D), (B, H, T))
    return [torch.randn(shape, generator=generator) for shape in shapes]


class Watched(TorchDispatchMode):
    """Counts bytes that are alive, scores that became weights, and tiles that a mask was laid on."""

    def __init__(self) -> None:
        super().__init__()
        self.alive = self.peak = self.scores = self.masked = 0
        self.known: dict[int, weakref.finalize[Any, Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.threshold_.default:
            self.scores += out.numel()
        if func is torch.ops.aten.add_.Tensor and out.ndim == 4:
            self.masked += 1
        for part in out if isinstance(out, tuple | list) else (out,):
            if isinstance(part, Tensor):
                self.see(part.untyped_storage())
        return out

    def see(self, storage: torch.UntypedStorage) -> None:
        """Count a storage from now until it is gone."""
        place, size = storage.data_ptr(), storage.nbytes()
        if size == 0 or (place in self.known and self.known[place].alive):
            return
        self.alive += size
        self.peak = max(self.peak, self.alive)
        self.known[place] = weakref.finalize(storage, self.forget, size)

    def forget(self, size: int) -> None:
        """Count it no more."""
        self.alive -= size


def peak(call: Callable[..., Any], N: int) -> int:
    parts = drawn(2, 1, N, N, 8)
    q, k, v = (part.requires_grad_() for part in parts[:3])
    with Watched() as watched:
        o, lse = call(q, k, v, causal=True)
        torch.autograd.grad((o, lse), (q, k, v), (parts[3], parts[4]))
    return watched.peak


def test_attention_needs_memory_that_grows_with_the_length_and_not_with_its_square() -> None:
    """Forward and backward; of the reference, which writes the table out, the same count quadruples."""
    small, large = (peak(lambda *a, **o: attention(*a, **o, blocks=Blocks(32, 32)), N) for N in (512, 1024))
    assert large <= 2 * small
    table, larger_table = (peak(reference.attention, N) for N in (512, 1024))
    assert larger_table > 3.5 * table
    assert larger_table > 2 * 2 * 1024 * 1024 * 4
    assert large < larger_table / 40


def test_attention_causal_visits_open_tiles_only_and_masks_the_diagonal_only() -> None:
    q, k, v, *_ = drawn(1, 1, 64, 64, 4)
    with Watched() as full:
        attention(q, k, v, blocks=Blocks(16, 16))
    assert (full.scores, full.masked) == (64 * 64, 0)
    with Watched() as causal:
        attention(q, k, v, causal=True, blocks=Blocks(16, 16))
    assert (causal.scores, causal.masked) == ((1 + 2 + 3 + 4) * 16 * 16, 4)
    with (
        Watched() as late
    ):  # 48 queries at keys 16 to 63, tiles of 32 keys: the last is cut at the block's last query
        attention(q[:, :, 16:], k, v, causal=True, blocks=Blocks(16, 32))
    assert (late.scores, late.masked) == ((32 + 48 + 64) * 16, 3)
    with Watched() as early:  # 64 queries, 16 keys: three blocks stand before the first key
        attention(q, k[:, :, :16], v[:, :, :16], causal=True, blocks=Blocks(16, 16))
    assert (early.scores, early.masked) == (16 * 16, 1)


def test_attention_visits_no_tile_of_padding_and_masks_where_some_is() -> None:
    q, k, v, *_ = drawn(1, 1, 16, 64, 4, B=2)
    real = torch.ones(2, 64, dtype=torch.bool)
    real[:, :16] = False
    real[1, 40:] = False
    with Watched() as watched:
        attention(q, k, v, real=real, blocks=Blocks(16, 16))
    row = [3, 2]  # tiles that hold a real key; of row 1 the second is half padding
    assert (watched.scores, watched.masked) == (sum(row) * 16 * 16, 1)


def test_attention_backward_visits_the_same_tiles() -> None:
    q, k, v, *_ = drawn(1, 1, 64, 64, 4)
    o, _ = attention(q.requires_grad_(), k, v, causal=True, blocks=Blocks(16, 16))
    with Watched() as watched:
        o.sum().backward()
    assert (watched.scores, watched.masked) == ((1 + 2 + 3 + 4) * 16 * 16, 4)
