"""Decoding over paged keys: the keys of a row lie in pages of P slots, in the order of its line of a table.

    q (B, H, D)      k_pages, v_pages (N, G, P, D)      table (B, M), unused entries -1      lengths (B,)

Key n of row b is slot n % P of page `table[b, n // P]`; the kernels are those of `kernels.gpu.decode`, the look-up is the
one difference. Entries that the length does not reach are not even loaded. Kwon et al. 2023 (arXiv:2309.06180), section
4.1; section 7.4 of the course.
"""

from __future__ import annotations

import torch
from torch import Tensor

from onesentence.kernels.gpu.decode import (
    checked_lengths,
    checked_parts,
    decode_into,
    outputs_of,
    refuse_gradients,
)
from onesentence.kernels.sizes import scale_of

LEAST_PAGE = 8
"""Slots of the smallest page."""


def decode_paged(
    q: Tensor,
    k_pages: Tensor,
    v_pages: Tensor,
    table: Tensor,
    lengths: Tensor,
    *,
    scale: float | None = None,
    window: int | None = None,
    splits: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Read the pages of each row with its one new query; registered as `onesentence::decode_paged`.

    Ranges are checked where `lengths` and `table` lie on the CPU. On CUDA that would stop the device, so there a length
    outside [0, M * P] counts as the nearest one inside, and an entry that is no page as keys that the row does not have;
    nothing outside the pages is ever read.

    Args:
        q: (B, H, D), float16, bfloat16 or float32.
        k_pages: (N, G, P, D), any strides; P a power of two from 8. H = G * group, query head h reads h // group.
        v_pages: as k_pages, with strides of its own.
        table: pages of each row in their order, (B, M) int32; -1 where there is none.
        lengths: keys of each row, the new one among them, (B,) int32 or int64. 0 is allowed.
        scale: of scores; None means 1 / sqrt(D).
        window: read only the last so many keys of a row; None means all. Pages in front of it may be -1.
        splits: parts into which the keys of each row are cut; None leaves it to `splits_for`.

    Returns:
        Output (B, H, D), 0 in a row without keys, and log-sum-exp of scaled scores in nats, float32 (B, H), -inf there.

    Raises:
        TypeError: if a dtype will not do.
        ValueError: if a shape, device, head size, page size or number does not fit, or an input requires a gradient while
            gradients are recorded.
    """
    refuse_gradients(q=q, k_pages=k_pages, v_pages=v_pages)
    factor = scale_of(scale, q.shape[-1])
    read: tuple[Tensor, Tensor] = _decode_paged(q, k_pages, v_pages, table, lengths, factor, window, splits)
    return read


@torch.library.custom_op("onesentence::decode_paged", mutates_args=())
def _decode_paged(
    q: Tensor,
    k_pages: Tensor,
    v_pages: Tensor,
    table: Tensor,
    lengths: Tensor,
    scale: float,
    window: int | None,
    splits: int | None,
) -> tuple[Tensor, Tensor]:
    """Check and launch; the arguments of `decode_paged` with its scale worked out."""
    outputs = _decode_paged_outputs(q, k_pages, v_pages, table, lengths, scale, window, splits)
    checked_lengths(lengths, table.shape[1] * k_pages.shape[2])
    checked_table(table, lengths, window, pages=k_pages.shape[0], page=k_pages.shape[2])
    decode_into(q, k_pages, v_pages, lengths, table, *outputs, scale=scale, window=window, splits=splits)
    return outputs


def _decode_paged_outputs(
    q: Tensor,
    k_pages: Tensor,
    v_pages: Tensor,
    table: Tensor,
    lengths: Tensor,
    scale: float,
    window: int | None,
    splits: int | None,
) -> tuple[Tensor, Tensor]:
    """Check shapes and allocate what `decode_paged` returns."""
    checked_parts(q, lengths, window, splits, axes=("N", "P"), k_pages=k_pages, v_pages=v_pages)
    page = k_pages.shape[2]
    if page < LEAST_PAGE or page & (page - 1):
        raise ValueError(f"the page size must be a power of two from {LEAST_PAGE}, got {page}")
    if table.dtype != torch.int32:
        raise TypeError(f"table must be int32, got {table.dtype}")
    if table.ndim != 2 or table.shape[0] != q.shape[0] or table.shape[1] == 0:
        raise ValueError(f"table must have shape ({q.shape[0]}, M), M not 0, got {tuple(table.shape)}")
    if table.device != q.device:
        raise ValueError(f"table must be on the device of q, {q.device}, got {table.device}")
    return outputs_of(q)


_decode_paged.register_fake(_decode_paged_outputs)


def checked_table(table: Tensor, lengths: Tensor, window: int | None, *, pages: int, page: int) -> None:
    """Refuse a table that names no page where one will be read, if it can be seen without stopping a device.

    Args:
        table: (B, M).
        lengths: (B,), in range.
        window: keys that are read at most, None for all.
        pages: N.
        page: P.

    Raises:
        ValueError: if an entry that will be followed lies outside [0, N), and table and lengths lie on the CPU.
    """
    if table.device.type != "cpu":
        return
    starts = torch.zeros_like(lengths) if window is None else (lengths - window).clamp(min=0)
    entries = torch.arange(table.shape[1]) * page  # the first key of each
    followed = (entries < lengths[:, None]) & (entries + page > starts[:, None])
    wrong = (followed & ((table < 0) | (table >= pages))).nonzero().tolist()
    if wrong:
        row, entry = wrong[0]
        raise ValueError(
            f"table must name pages in [0, {pages}) up to the length, got {int(table[row, entry])} "
            f"at entry {entry} of row {row}"
        )
