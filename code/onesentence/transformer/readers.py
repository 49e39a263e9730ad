"""Which code executes a read of `cache.Seen`, by name; nobody is replaced by another one without a word.

    sdpa        `scaled_dot_product_attention`, any mask; PyTorch picks its backend
    reference   `kernels.reference`, the score table in memory
    tiled       `kernels.tiled`, tile by tile, for the CPU
    triton      for CUDA: `kernels.gpu.attention` for whole texts, `kernels.gpu.decode` for one new token of each row, and
                `kernels.gpu.paged` where they lie in pages, none of them copied; needs Triton when it is called, float32 or
                less, and for single tokens a head size that is a multiple of 16

All give (B, H, T, D) for queries (B, H, T, D) and keys and values (B, G, S, D). A mask that differs from query to query
(a window, several tokens of rows of different lengths or behind a cache) is for "sdpa" only: "reference" and "tiled" know
the causal order and which keys count, "triton" the causal order or how many keys each row has. What a reader cannot serve it
refuses. Sections 7.4, 7.6 and 7.8 of the course.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn

from onesentence.cache.base import Seen
from onesentence.checks import checked_choice
from onesentence.kernels import reference, tiled

Reader: TypeAlias = Callable[[Tensor, Seen], Tensor]
"""Takes queries (B, H, T, D) and what they may read; returns what they have read, (B, H, T, D)."""


def by_sdpa(q: Tensor, seen: Seen) -> Tensor:
    """Read with PyTorch's own function, which takes any mask."""
    T, S = q.shape[2], seen.k.shape[2]
    mask, causal = seen.mask, seen.causal and T > 1  # a single query stands at the last key and reads all
    if causal and T != S:  # PyTorch would stand the queries at the beginning of the keys
        mask, causal = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T), False
    return nn.functional.scaled_dot_product_attention(
        q, seen.k, seen.v, attn_mask=mask, is_causal=causal, enable_gqa=q.shape[1] != seen.k.shape[1]
    )


def by_reference(q: Tensor, seen: Seen) -> Tensor:
    """Read with the score table written out."""
    real = which_keys("reference", seen)
    return reference.attention(q, seen.k, seen.v, causal=seen.causal, real=real)[0]


def by_tiles(q: Tensor, seen: Seen) -> Tensor:
    """Read without a score table."""
    return tiled.attention(q, seen.k, seen.v, causal=seen.causal, real=which_keys("tiled", seen))[0]


def by_triton(q: Tensor, seen: Seen) -> Tensor:
    """Read with Triton kernels, which have no masks; single tokens by how many keys their rows have.

    Raises:
        ImportError: if there is no Triton.
        TypeError, ValueError: as `kernels.gpu.attention`, `decode` and `paged`; ValueError too if only a mask says what may
            be read.
    """
    from onesentence.kernels.gpu.attention import attention
    from onesentence.kernels.gpu.decode import decode
    from onesentence.kernels.gpu.paged import decode_paged

    if seen.lengths is not None and seen.pages is not None:
        pages = seen.pages
        return decode_paged(q[:, :, 0], pages.k, pages.v, pages.table, seen.lengths)[0][:, :, None]
    if seen.lengths is not None:
        return decode(q[:, :, 0], seen.k, seen.v, seen.lengths)[0][:, :, None]
    if seen.mask is not None:
        raise ValueError(
            f"reader 'triton' takes no mask, got one of shape {tuple(seen.mask.shape)}; \"sdpa\" takes it"
        )
    return attention(q, seen.k, seen.v, causal=seen.causal)[0]


def which_keys(name: str, seen: Seen) -> Tensor | None:
    """Return a mask that is the same for all queries and heads as keys that count, (B, S).

    Args:
        name: of the reader, for the error message.
        seen: what is to be read.

    Raises:
        ValueError: if the mask differs from query to query or from head to head.
    """
    if seen.mask is None:
        return None
    B, _, S, _ = seen.k.shape
    own = (1,) * (4 - seen.mask.ndim) + tuple(seen.mask.shape)
    if own[1:3] != (1, 1):
        raise ValueError(
            f'reader {name!r} needs one mask for all queries, got shape {tuple(seen.mask.shape)}; "sdpa" takes it'
        )
    return seen.mask.reshape(own).expand(B, 1, 1, S)[:, 0, 0]


READERS: dict[str, Reader] = {
    "sdpa": by_sdpa,
    "reference": by_reference,
    "tiled": by_tiles,
    "triton": by_triton,
}
"""By name."""


def reader_of(name: str) -> Reader:
    """Return a reader.

    Raises:
        ValueError: if there is none of that name.

    Example:
        >>> reader_of("flash")
        Traceback (most recent call last):
        ValueError: reader: expected one of sdpa, reference, tiled, triton, got 'flash'
    """
    checked_choice("reader", name, tuple(READERS))
    return READERS[name]
