"""Common prefixes by hand, and an edited text that goes on from one."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onesentence.cache.base import CacheSizes
from onesentence.cache.prefix import common_prefix

ROWS = st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=3)


def test_common_prefix_by_hand() -> None:
    old = [[1, 2, 3, 4], [], [7, 8], [5]]
    new = [[1, 2, 9, 4], [6], [7, 8, 9], []]
    assert common_prefix(old, new).tolist() == [2, 0, 2, 0]
    assert common_prefix(old, old, again=1).tolist() == [3, 0, 1, 0]
    assert common_prefix(torch.tensor([[1, 2]]), [torch.tensor([1, 2, 3])], again=2).tolist() == [1]


@given(rows=ROWS, data=st.data())
def test_common_prefix_is_a_loop_over_tokens(rows: list[list[int]], data: st.DataObject) -> None:
    other = data.draw(
        st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=len(rows), max_size=len(rows))
    )
    expected = [
        len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))))
        for one, two in zip(rows, other, strict=True)
    ]
    assert common_prefix(rows, other).tolist() == expected


def test_common_prefix_is_what_truncate_takes(kind: Any, fill: Any) -> None:
    cache = kind.make(CacheSizes(1, 2, 1, 2))
    fill(cache, [[1, 1], [0, 1]])
    stay = common_prefix([[3, 4], [5]], [[3, 6, 6], [5]])
    assert stay.dtype == torch.int64
    cache.truncate(stay)
    assert cache.lengths.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("old", "new", "again", "error", "message"),
    [
        ([[1]], [[1], [2]], 0, ValueError, r"new must have the 1 rows of old, got 2"),
        ([[1.5]], [[1]], 0, TypeError, r"row 0 of old must hold integers"),
        ([[1]], [[[1]]], 0, ValueError, r"row 0 of new must have shape \(n,\), got \(1, 1\)"),
        ([[1]], [[1]], -1, ValueError, r"again must be at least 0, got -1"),
    ],
)
def test_common_prefix_refuses(old: Any, new: Any, again: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        common_prefix(old, new, again=again)
