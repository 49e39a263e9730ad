"""Which tiles of the score table a blocked algorithm visits, by formula.

A tile is `query` rows by `key` columns of the table (T, S); the last one of a row or column may be smaller. With `causal`
a tile is visited if its last query may read its first key, the queries standing at the end of the keys (see
`kernels.sizes`); inside a visited tile everything is computed, what lies behind the mask too. So a blocked algorithm
computes more pairs than are needed:

    needed     pairs(T, S)            T S,    causal: n S - n (n - 1) / 2 with n = min(T, S)
    computed   tiled_pairs(T, S)      T S,    causal: the cells of the visited tiles

Symbols: `T` queries, `S` keys. Dao 2023 (arXiv:2307.08691), section 3.1.1, on causal masks.
"""

from __future__ import annotations

from dataclasses import dataclass

from onesentence.checks import checked_integer


@dataclass(frozen=True)
class Tiles:
    """Sizes of a tile, as the formulas count it: queries of one head against keys.

    `kernels.tiles.Blocks`, which a read in PyTorch is given, counts the queries of all heads of a group together, and
    `kernels.gpu.blocks.Blocks` says besides how a kernel is launched.

    Attributes:
        query: rows, queries.
        key: columns, keys.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.
    """

    query: int
    key: int

    def __post_init__(self) -> None:
        for name in ("query", "key"):
            checked_integer(name, getattr(self, name), 1)

    def rows(self, T: int) -> int:
        """Return how many blocks of queries there are."""
        return -(-T // self.query)

    def columns(self, S: int) -> int:
        """Return how many blocks of keys there are."""
        return -(-S // self.key)


def pairs(T: int, S: int, *, causal: bool = False) -> int:
    """Return how many pairs of a query and a key it may read there are.

    Args:
        T: queries.
        S: keys.
        causal: a query reads keys up to its own place.

    Raises:
        TypeError: if a length is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> pairs(3, 3), pairs(3, 3, causal=True), pairs(2, 5, causal=True)
        (9, 6, 9)
    """
    T, S = checked_integer("T", T, 1), checked_integer("S", S, 1)
    if not causal:
        return T * S
    n = min(T, S)  # with T > S the first T - S queries read nothing
    return n * S - n * (n - 1) // 2


def keys_visited(T: int, S: int, tiles: Tiles, *, causal: bool = False) -> tuple[int, ...]:
    """Return, for each block of queries, how many keys stand in the tiles that it visits: what it loads of K.

    Args:
        T: queries.
        S: keys.
        tiles: sizes of a tile.
        causal: tiles that nobody may read are skipped.

    Raises:
        TypeError: if a length is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> keys_visited(8, 8, Tiles(2, 3), causal=True)
        (3, 6, 6, 8)
    """
    T, S = checked_integer("T", T, 1), checked_integer("S", S, 1)
    ends = (min(first + tiles.query, T) for first in range(0, T, tiles.query))
    reach = (min(S, max(0, end + S - T)) if causal else S for end in ends)
    return tuple(min(S, -(-keys // tiles.key) * tiles.key) for keys in reach)


def queries_visited(T: int, S: int, tiles: Tiles, *, causal: bool = False) -> tuple[int, ...]:
    """Return, for each block of keys, how many queries stand in the tiles that it visits: what it loads of Q.

    Args:
        T: queries.
        S: keys.
        tiles: sizes of a tile.
        causal: tiles that nobody may read are skipped.

    Raises:
        TypeError: if a length is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> queries_visited(8, 8, Tiles(2, 3), causal=True)
        (8, 6, 2)
    """
    T, S = checked_integer("T", T, 1), checked_integer("S", S, 1)
    earliest = (max(0, key + T - S) if causal else 0 for key in range(0, S, tiles.key))
    return tuple(T - first // tiles.query * tiles.query for first in earliest)


def tiled_pairs(T: int, S: int, tiles: Tiles, *, causal: bool = False) -> int:
    """Return how many cells of the score table are computed, those of visited tiles behind the mask too.

    Args:
        T: queries.
        S: keys.
        tiles: sizes of a tile.
        causal: tiles that nobody may read are skipped.

    Raises:
        TypeError: if a length is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> tiled_pairs(8, 8, Tiles(2, 3)), tiled_pairs(8, 8, Tiles(2, 3), causal=True), pairs(8, 8, causal=True)
        (64, 46, 36)
    """
    lengths = keys_visited(T, S, tiles, causal=causal)
    return sum(min(tiles.query, T - i * tiles.query) * keys for i, keys in enumerate(lengths))
