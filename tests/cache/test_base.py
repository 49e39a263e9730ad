"""Sizes of a cache: bytes by hand, and what is no size."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from onesentence.cache.base import CacheSizes


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (8, 2**29),
        (32, 2**31),
    ],  # 512 MiB and 2 GiB: 32 layers, 4096 tokens of one row, head size 128, two bytes each
)
def test_token_bytes_by_hand(heads: int, expected: int) -> None:
    sizes = CacheSizes(layers=32, rows=1, heads=heads, head_size=128, dtype=torch.bfloat16)
    assert 4096 * sizes.token_bytes == expected


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"layers": 0}, ValueError, "layers must be at least 1, got 0"),
        ({"heads": 2.0}, TypeError, "heads must be an integer, got 2.0"),
        ({"dtype": torch.int64}, TypeError, "dtype must be a floating-point dtype of torch, got torch.int64"),
        ({"dtype": "float32"}, TypeError, "dtype must be a floating-point dtype of torch, got float32"),
        ({"device": "abacus"}, ValueError, "device must be one that torch knows, got 'abacus'"),
    ],
)
def test_sizes_refuse(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CacheSizes(**({"layers": 1, "rows": 1, "heads": 1, "head_size": 1} | change))
