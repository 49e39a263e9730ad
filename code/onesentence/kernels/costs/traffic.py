"""Bytes that attention moves between HBM and the memory on the chip, by formula, array by array.

HBM is the large memory of an accelerator; what is not on the chip has to be read from it each time. The algorithms:

    naive            one array after the other, each written out and read back: Q K^T -> S, softmax S -> P, P V -> O. Each
                     operand of a product is read once, as if its reuse cost nothing: the kindest count. The whole table is
                     computed, so `causal` changes nothing. Backward (P kept): P, dO -> dV;  dO, V -> dP;
                     P, dP -> dS;  dS, K -> dQ;  dS, Q -> dK
    flash1           blocks of keys outside, of queries inside: K and V are read once; Q, O, m and l are read, and O, m and l
                     written, for each tile; they start as 0 and -inf in HBM, which is written, too
    flash2           blocks of queries outside, of keys inside: Q is read once, O and L written once; K and V are read for
                     each block of queries. `packed`: a tile holds the queries of all heads that share a key head
    flash2 backward  first delta = sum of dO * O by row, written out; then blocks of keys outside, the queries of the heads
                     that share them inside: K and V read once, dK and dV written once; Q, dO, L, delta and dQ read and dQ
                     written for each tile; dQ starts as 0 in HBM, which is written, too
    two passes       delta as before; dK and dV as before, but dQ in a pass of its own, blocks of queries outside

A tile that nobody may read is skipped with `causal`. Masks come from positions and dropout from nowhere: neither is read.
Ways that keep keys outside hold them while all heads of their group pass. Where the papers give orders, O(N^2 d^2 / M) of
theorem 2 for an on-chip memory of M, these are exact counts for given tiles, of each array, its start, and the statistics;
tiles need not divide the lengths. The inner loop of algorithm 2 of 2023 loads O_i, too, which nothing uses after delta: left out.

Symbols as in `kernels.sizes`; the tables `scores`, `P`, `dP`, `dS` are (B, H, T, S), the statistics `m`, `l`, `L`, `delta`
(B, H, T). Dao et al. 2022 (arXiv:2205.14135), algorithms 0, 1, 3, theorem 2; Dao 2023 (arXiv:2307.08691),
algorithms 1 and 2; section 7.5 of the course. `kernels.costs.counted` counts the same while the algorithms run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onesentence.checks import checked_choice, checked_integer
from onesentence.kernels.costs.products import checked_read
from onesentence.kernels.costs.tiles import Tiles, keys_visited, queries_visited
from onesentence.kernels.sizes import Sizes


@dataclass(frozen=True)
class Widths:
    """Bytes of one number.

    Attributes:
        element: of Q, K, V, O, of the tables of the naive version, and of all their gradients.
        statistic: of m, l, L and delta, and of what is added up on the chip.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.
    """

    element: int = 2
    statistic: int = 4

    def __post_init__(self) -> None:
        for name in ("element", "statistic"):
            checked_integer(name, getattr(self, name), 1)


@dataclass(frozen=True)
class Traffic:
    """Bytes moved, by array.

    Attributes:
        read: from HBM.
        written: to HBM; what an array is filled with before it starts stands apart, as `O start`.
    """

    read: Mapping[str, int]
    written: Mapping[str, int]

    @property
    def total(self) -> int:
        """Bytes in both directions."""
        return sum(self.read.values()) + sum(self.written.values())

    def rows(self) -> list[tuple[str, int, int]]:
        """Return (array, bytes read, bytes written), in the order in which they are named."""
        names = dict.fromkeys((*self.read, *self.written))
        return [(name, self.read.get(name, 0), self.written.get(name, 0)) for name in names]


@dataclass(frozen=True)
class _Lengths:
    """Bytes of whole arrays and of single rows, for the formulas below."""

    queries: int  # of Q, O or a gradient of them
    keys: int  # of K or V
    table: int
    statistic: int
    query_row: int  # D numbers
    statistic_row: int
    query_heads: int  # B H, no bytes
    key_heads: int  # B G, no bytes


def _lengths(sizes: Sizes, widths: Widths) -> _Lengths:
    """Return the bytes of the arrays of one read."""
    B, H, G, T, S, D = (getattr(checked_read(sizes), name) for name in "BHGTSD")
    row, heads = D * widths.element, B * H
    return _Lengths(
        queries=heads * T * row,
        keys=B * G * S * row,
        table=heads * T * S * widths.element,
        statistic=heads * T * widths.statistic,
        query_row=row,
        statistic_row=widths.statistic,
        query_heads=heads,
        key_heads=B * G,
    )


def naive_forward(sizes: Sizes, widths: Widths) -> Traffic:
    """Return the traffic of the version that writes its tables out.

    Args:
        sizes: of the read.
        widths: of numbers.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.

    Example:
        >>> naive_forward(Sizes(B=1, H=1, G=1, T=8, S=8, D=2), Widths()).rows()
        [('Q', 32, 0), ('K', 32, 0), ('scores', 128, 128), ('P', 128, 128), ('V', 32, 0), ('O', 0, 32)]
    """
    n = _lengths(sizes, widths)
    return Traffic(
        read={"Q": n.queries, "K": n.keys, "scores": n.table, "P": n.table, "V": n.keys},
        written={"scores": n.table, "P": n.table, "O": n.queries},
    )


def naive_backward(sizes: Sizes, widths: Widths) -> Traffic:
    """Return the traffic of its gradients, P kept from the forward pass.

    Args:
        sizes: of the read.
        widths: of numbers.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.
    """
    n = _lengths(sizes, widths)
    return Traffic(
        read={
            "P": 2 * n.table,
            "dO": 2 * n.queries,
            "V": n.keys,
            "dP": n.table,
            "dS": 2 * n.table,
            "K": n.keys,
            "Q": n.queries,
        },
        written={"dV": n.keys, "dP": n.table, "dS": n.table, "dQ": n.queries, "dK": n.keys},
    )


def flash1_forward(sizes: Sizes, tiles: Tiles, widths: Widths, *, causal: bool = False) -> Traffic:
    """Return the traffic of the loops of 2022: keys outside, queries inside.

    Args:
        sizes: of the read.
        tiles: sizes of a tile.
        widths: of numbers.
        causal: tiles that nobody may read are skipped.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.

    Example:
        >>> flash1_forward(Sizes(B=1, H=1, G=1, T=8, S=8, D=2), Tiles(4, 4), Widths()).read
        {'K': 32, 'V': 32, 'Q': 64, 'O': 64, 'l': 64, 'm': 64}
    """
    n = _lengths(sizes, widths)
    visits = sum(queries_visited(sizes.T, sizes.S, tiles, causal=causal))
    matrix, vector = (n.query_heads * visits * row for row in (n.query_row, n.statistic_row))
    return Traffic(
        read={"K": n.keys, "V": n.keys, "Q": matrix, "O": matrix, "l": vector, "m": vector},
        written={
            "O start": n.queries,
            "l start": n.statistic,
            "m start": n.statistic,
            "O": matrix,
            "l": vector,
            "m": vector,
        },
    )


def flash2_forward(
    sizes: Sizes, tiles: Tiles, widths: Widths, *, causal: bool = False, packed: bool = False
) -> Traffic:
    """Return the traffic of the loops of 2023: queries outside, keys inside.

    Args:
        sizes: of the read.
        tiles: sizes of a tile.
        widths: of numbers.
        causal: tiles that nobody may read are skipped.
        packed: a tile holds `tiles.query` places of every head of a group, which so share what is read of K and V.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.

    Example:
        >>> flash2_forward(Sizes(B=1, H=2, G=1, T=8, S=8, D=2), Tiles(4, 4), Widths()).rows()
        [('Q', 64, 0), ('K', 128, 0), ('V', 128, 0), ('O', 0, 64), ('L', 0, 64)]
    """
    n = _lengths(sizes, widths)
    heads = n.key_heads if packed else n.query_heads
    keys = heads * sum(keys_visited(sizes.T, sizes.S, tiles, causal=causal)) * n.query_row
    return Traffic(read={"Q": n.queries, "K": keys, "V": keys}, written={"O": n.queries, "L": n.statistic})


def flash2_backward(sizes: Sizes, tiles: Tiles, widths: Widths, *, causal: bool = False) -> Traffic:
    """Return the traffic of the gradients by recomputation, dQ added up in HBM.

    Args:
        sizes: of the read.
        tiles: sizes of a tile.
        widths: of numbers; dQ is an `element` on its way, too.
        causal: tiles that nobody may read are skipped.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.
    """
    n = _lengths(sizes, widths)
    visits = n.query_heads * sum(queries_visited(sizes.T, sizes.S, tiles, causal=causal))
    matrix, vector = visits * n.query_row, visits * n.statistic_row
    return Traffic(
        read={
            "O": n.queries,
            "dO": n.queries + matrix,
            "K": n.keys,
            "V": n.keys,
            "Q": matrix,
            "L": vector,
            "delta": vector,
            "dQ": matrix,
        },
        written={"delta": n.statistic, "dQ start": n.queries, "dQ": matrix, "dK": n.keys, "dV": n.keys},
    )


def two_pass_backward(sizes: Sizes, tiles: Tiles, widths: Widths, *, causal: bool = False) -> Traffic:
    """Return the traffic of the gradients by recomputation in two passes, every gradient written once.

    Args:
        sizes: of the read.
        tiles: sizes of a tile, of both passes.
        widths: of numbers.
        causal: tiles that nobody may read are skipped.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.
    """
    n = _lengths(sizes, widths)
    visits = n.query_heads * sum(queries_visited(sizes.T, sizes.S, tiles, causal=causal))
    matrix, vector = visits * n.query_row, visits * n.statistic_row
    keys = n.query_heads * sum(keys_visited(sizes.T, sizes.S, tiles, causal=causal)) * n.query_row
    return Traffic(
        read={
            "O": n.queries,
            "dO": 2 * n.queries + matrix,
            "K": n.keys + keys,
            "V": n.keys + keys,
            "Q": n.queries + matrix,
            "L": n.statistic + vector,
            "delta": n.statistic + vector,
        },
        written={"delta": n.statistic, "dK": n.keys, "dV": n.keys, "dQ": n.queries},
    )


def on_chip_bytes(sizes: Sizes, tiles: Tiles, widths: Widths, *, way: str, packed: bool = False) -> int:
    """Return what a forward pass holds on the chip at once: its tiles and sums, not the vectors of a single step.

    Args:
        sizes: of the read.
        tiles: sizes of a tile.
        widths: of numbers; scores and sums are as wide as statistics.
        way: `flash1`: K, V, Q, O, l, m, scores and their product with V; `flash2`: Q, K, V, scores, l, m and the sum O.
        packed: of `flash2`, see `flash2_forward`; changes nothing in `flash1`.

    Raises:
        TypeError, ValueError: as `costs.products.checked_read`.
        ValueError: if there is no such way.

    Example:
        >>> on_chip_bytes(Sizes(B=1, H=8, G=8, T=4096, S=4096, D=64), Tiles(64, 64), Widths(), way="flash2")
        57856
    """
    checked_choice("way", way, ("flash1", "flash2"))
    D = checked_read(sizes).D
    rows = min(tiles.query, sizes.T) * (sizes.group if packed and way == "flash2" else 1)
    columns, wide = min(tiles.key, sizes.S), widths.statistic
    loaded = (2 * columns + (2 if way == "flash1" else 1) * rows) * D * widths.element
    return loaded + rows * (2 + columns + D) * wide
