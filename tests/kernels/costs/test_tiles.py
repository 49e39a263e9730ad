"""Pairs and tiles against the mask itself, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention import masks
from onesentence.kernels.costs.tiles import Tiles, keys_visited, pairs, queries_visited, tiled_pairs

LENGTH = st.integers(1, 12)


def table(T: int, S: int, causal: bool) -> np.ndarray:
    return np.tri(T, S, S - T, dtype=bool) if causal else np.ones((T, S), dtype=bool)


def visited(T: int, S: int, tiles: Tiles, causal: bool) -> np.ndarray:
    """Return the cells of the tiles in which anybody may read anything, painted one by one."""
    may, cells = table(T, S, causal), np.zeros((T, S), dtype=bool)
    for i in range(0, T, tiles.query):
        for j in range(0, S, tiles.key):
            part = np.s_[i : i + tiles.query, j : j + tiles.key]
            cells[part] = may[part].any()
    return cells


@given(LENGTH, LENGTH, st.booleans())
def test_pairs_are_the_cells_that_the_mask_leaves(T: int, S: int, causal: bool) -> None:
    assert pairs(T, S, causal=causal) == table(T, S, causal).sum()


def test_pairs_agree_with_the_mask_of_chapter_4() -> None:
    assert pairs(3, 8, causal=True) == masks.causal(3, 8).sum() == 6 + 7 + 8


@given(LENGTH, LENGTH, st.integers(1, 14), st.integers(1, 14), st.booleans())
def test_visited_lengths_are_those_of_painted_tiles(
    T: int, S: int, rows: int, columns: int, causal: bool
) -> None:
    tiles = Tiles(rows, columns)
    cells = visited(T, S, tiles, causal)
    assert keys_visited(T, S, tiles, causal=causal) == tuple(cells[::rows].sum(axis=1))
    assert queries_visited(T, S, tiles, causal=causal) == tuple(cells[:, ::columns].sum(axis=0))
    assert tiled_pairs(T, S, tiles, causal=causal) == cells.sum()


def test_tiled_pairs_by_hand() -> None:
    # 5 queries at the end of 7 keys, tiles 2 x 3: reach 4, 6, 7 -> 6, 6, 7 keys for 2, 2, 1 queries
    assert keys_visited(5, 7, Tiles(2, 3), causal=True) == (6, 6, 7)
    assert tiled_pairs(5, 7, Tiles(2, 3), causal=True) == 12 + 12 + 7
    assert pairs(5, 7, causal=True) == 3 + 4 + 5 + 6 + 7


def test_tiles_of_one_cell_compute_what_is_needed_and_large_ones_everything() -> None:
    assert tiled_pairs(6, 9, Tiles(1, 1), causal=True) == pairs(6, 9, causal=True)
    assert tiled_pairs(6, 9, Tiles(6, 9), causal=True) == 54
    assert (Tiles(4, 5).rows(9), Tiles(4, 5).columns(10)) == (3, 2)


def test_keys_visited_is_nothing_where_queries_stand_before_the_first_key() -> None:
    assert keys_visited(6, 2, Tiles(2, 2), causal=True) == (0, 0, 2)


def test_tiles_refuse() -> None:
    with pytest.raises(ValueError, match="query must be at least 1, got 0"):
        Tiles(0, 4)
    with pytest.raises(TypeError, match=r"key must be an integer, got 2.0"):
        Tiles(2, 2.0)
    for function in (keys_visited, queries_visited, tiled_pairs):
        with pytest.raises(ValueError, match="T must be at least 1, got 0"):
            function(0, 3, Tiles(1, 1))
    with pytest.raises(ValueError, match="S must be at least 1, got -1"):
        pairs(2, -1)
