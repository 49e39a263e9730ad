"""What translators refuse before they start: ids and masks, as tensors, that cannot be a batch.

`onesentence.checks` does the same for sizes and for arrays of NumPy.
"""

from __future__ import annotations

import torch
from torch import Tensor


def checked_ids(name: str, ids: Tensor, ndim: int, vocabulary: int) -> None:
    """Refuse ids that are no integers, have other axes, or lie outside a vocabulary.

    Args:
        name: what error messages call them.
        ids: of any shape.
        ndim: number of axes that they must have.
        vocabulary: number of symbols.

    Raises:
        TypeError: if they are not integers.
        ValueError: if they have another number of axes or lie outside.
    """
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got {ids.dtype}")
    if ids.ndim != ndim or 0 in ids.shape:
        raise ValueError(f"{name} must have {ndim} axes, none of them empty, got shape {tuple(ids.shape)}")
    least, most = int(ids.min()), int(ids.max())
    if least < 0 or most >= vocabulary:
        raise ValueError(f"{name} must lie in [0, {vocabulary}), got {least if least < 0 else most}")


def checked_mask(name: str, mask: Tensor, shape: torch.Size, true: str) -> None:
    """Refuse a mask that is not boolean or has another shape than the source.

    Args:
        name: what error messages call it.
        mask: of any shape.
        shape: of the source.
        true: what True means.

    Raises:
        TypeError: if it is not boolean.
        ValueError: if it has another shape.
    """
    if mask.dtype != torch.bool:
        raise TypeError(f"{name} must be boolean (True = {true}), got {mask.dtype}")
    if mask.shape != shape:
        raise ValueError(f"{name} must have the shape of source, {tuple(shape)}, got {tuple(mask.shape)}")


def checked_source(source: Tensor, mask: Tensor, vocabulary: int) -> Tensor:
    """Return sources with 0 where nothing is real.

    Args:
        source: ids, (B, S); not looked at where the mask is False.
        mask: True at real units, (B, S).
        vocabulary: number of source symbols.

    Raises:
        TypeError: if the mask is not boolean or the ids are not integers.
        ValueError: if a shape does not fit, an id lies outside, or a source has no real unit.

    Example:
        >>> checked_source(torch.tensor([[4, 9]]), torch.tensor([[True, False]]), 5).tolist()
        [[4, 0]]
    """
    checked_mask("mask", mask, source.shape, "a real unit")
    real = source.masked_fill(mask.logical_not(), 0)
    checked_ids("source", real, 2, vocabulary)
    if not bool(mask.any(dim=1).all()):
        raise ValueError("mask: every source needs at least one real unit, got one without")
    return real
