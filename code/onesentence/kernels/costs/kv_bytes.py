"""Bytes of keys and values that a cache holds, of a score table, and the units in which such numbers are told.

    KV bytes = 2 L B n G D s        2: keys and values;  L layers;  B rows;  n tokens of a row;  G key heads;  D head size;
                                    s bytes of one number
    table    = B H n S s            one layer, one of the tables that the naive version writes

The payload only: no weights, no activations, no room that was set apart and is not filled, no block table, nothing that an
allocator adds. It does not ask for the number of query heads H: with G < H it is G / H of what H key heads would take.
The table is what storing it would take, no lower bound of what attention needs.

Units: kB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB of 1024 (IEC 80000-13). Sections 7.4 and 7.10 of the course;
`cache.base.CacheSizes.token_bytes` says the same of a cache that is there.
"""

from __future__ import annotations

from fractions import Fraction

from onesentence.checks import checked_choice, checked_integer

UNITS = {
    "B": 1,
    "kB": 10**3,
    "KiB": 2**10,
    "MB": 10**6,
    "MiB": 2**20,
    "GB": 10**9,
    "GiB": 2**30,
    "TB": 10**12,
    "TiB": 2**40,
}
"""Bytes of each unit."""


def in_unit(count: int, unit: str) -> float:
    """Return bytes in a unit.

    Args:
        count: bytes.
        unit: a name of `UNITS`.

    Raises:
        TypeError: if the count is not an integer.
        ValueError: if it is negative or there is no such unit.

    Example:
        >>> in_unit(536870912, "MiB"), in_unit(536870912, "MB")
        (512.0, 536.870912)
    """
    checked_choice("unit", unit, tuple(UNITS))
    return checked_integer("count", count, 0) / UNITS[unit]


def in_units(count: int) -> dict[str, float]:
    """Return bytes in every unit, by its name.

    Args:
        count: bytes.

    Raises:
        TypeError: if it is not an integer.
        ValueError: if it is negative.

    Example:
        >>> {unit: value for unit, value in in_units(2**31).items() if unit.startswith("G")}
        {'GB': 2.147483648, 'GiB': 2.0}
    """
    return {unit: in_unit(count, unit) for unit in UNITS}


def _product(**sizes: int) -> int:
    """Return the product of sizes after checking each of them."""
    product = 1
    for name, size in sizes.items():
        product *= checked_integer(name, size, 1)
    return product


def kv_bytes(*, L: int, n: int, G: int, D: int, s: int, B: int = 1) -> int:
    """Return the bytes of all keys and values of n tokens.

    Args:
        L: layers.
        n: tokens of a row.
        G: key heads.
        D: head size.
        s: bytes of one number.
        B: rows.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> kv_bytes(L=32, n=4096, G=8, D=128, s=2)
        536870912
    """
    return 2 * _product(L=L, B=B, n=n, G=G, D=D, s=s)


def tokens_within(capacity: int, *, L: int, G: int, D: int, s: int, B: int = 1) -> int:
    """Return how many tokens a row may have so that keys and values stay within so many bytes.

    Args:
        capacity: bytes.
        L: layers.
        G: key heads.
        D: head size.
        s: bytes of one number.
        B: rows, all of one length.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if a size is less than 1 or the capacity negative.

    Example:
        >>> tokens_within(2**31, L=32, G=8, D=128, s=2)
        16384
    """
    return checked_integer("capacity", capacity, 0) // kv_bytes(L=L, B=B, n=1, G=G, D=D, s=s)


def group_size(H: int, G: int) -> int:
    """Return how many query heads read one key head.

    Args:
        H: query heads.
        G: key heads.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1, or H no multiple of G.

    Example:
        >>> group_size(32, 8)
        4
    """
    H, G = checked_integer("H", H, 1), checked_integer("G", G, 1)
    if H % G:
        raise ValueError(f"H must be a multiple of G = {G}, got {H}")
    return H // G


def kv_share(H: int, G: int) -> Fraction:
    """Return which part of the KV bytes of H key heads is left with G of them.

    Args:
        H: query heads.
        G: key heads.

    Raises:
        TypeError, ValueError: as `group_size`.

    Example:
        >>> kv_share(32, 8)
        Fraction(1, 4)
    """
    return Fraction(1, group_size(H, G))


def table_bytes(*, H: int, n: int, s: int, S: int | None = None, B: int = 1) -> int:
    """Return the bytes of one score table of one layer, every cell of it, those behind a mask too.

    Args:
        H: query heads.
        n: queries.
        s: bytes of one number.
        S: keys; None means n.
        B: rows.

    Raises:
        TypeError: if one is not an integer.
        ValueError: if one is less than 1.

    Example:
        >>> table_bytes(H=64, n=100_000, s=2)
        1280000000000
    """
    return _product(B=B, H=H, n=n, S=n if S is None else S, s=s)
