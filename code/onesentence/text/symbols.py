"""Which id belongs to which symbol, special symbols included, and rows of ids in a rectangle.

A table gives special symbols the first ids, in the order in which they are named, and the symbols of the text
the ids after them. Special symbols have a namespace of their own: a text that spells BOS does not make BOS.
Which ones exist is a decision of the model: BOS opens a sequence, EOS is an event to be predicted, PAD fills a
rectangle, UNK stands for what has no id. None is there unless asked for. Section 1.11 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Symbol: TypeAlias = str | bytes


@dataclass(frozen=True)
class SymbolTable:
    """Which id belongs to which symbol.

    Attributes:
        symbols: what the text consists of, each once; text or bytes.
        specials: names of special symbols, each once; they come first.

    Raises:
        TypeError: if either is a single string.
        ValueError: if a symbol is empty or stands there twice.

    Example:
        >>> table = SymbolTable(("一", "本"), specials=("BOS", "EOS"))
        >>> len(table), table.id_of("一"), table.special_id("EOS"), table.name(0)
        (4, 2, 1, 'BOS')
    """

    symbols: tuple[Symbol, ...]
    specials: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, values in (("symbols", self.symbols), ("specials", self.specials)):
            if isinstance(values, str | bytes):
                raise TypeError(f"{name}: expected a tuple of symbols, got a single string")
            seen: set[Symbol] = set()
            for value in values:
                if not value:
                    raise ValueError(f"{name}: an empty symbol cannot have an id")
                if value in seen:
                    raise ValueError(f"{name}: {value!r} stands there twice")
                seen.add(value)

    def __len__(self) -> int:
        return len(self.specials) + len(self.symbols)

    @cached_property
    def _ids(self) -> dict[Symbol, int]:
        return {symbol: at for at, symbol in enumerate(self.symbols, start=len(self.specials))}

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._ids

    def id_of(self, symbol: Symbol) -> int:
        """Return the id of a symbol of the text.

        Raises:
            ValueError: if it has none.
        """
        try:
            return self._ids[symbol]
        except KeyError:
            raise ValueError(f"symbol: {symbol!r} is not among the {len(self.symbols)} symbols") from None

    def special_id(self, name: str) -> int:
        """Return the id of a special symbol.

        Raises:
            ValueError: if the table has no such special symbol.
        """
        if name not in self.specials:
            known = ", ".join(self.specials) or "none"
            raise ValueError(f"name: no special symbol {name!r}; the table has {known}")
        return self.specials.index(name)

    def symbol(self, number: int) -> Symbol | None:
        """Return the symbol of the text that an id stands for, None for a special symbol.

        Raises:
            TypeError: if the id is no integer.
            ValueError: if no symbol has that id.
        """
        at = index(number)
        if not 0 <= at < len(self):
            raise ValueError(f"ids: expected 0 to {len(self) - 1}, got {number}")
        return None if at < len(self.specials) else self.symbols[at - len(self.specials)]

    def name(self, number: int) -> str:
        """Return how to print an id: its special name, its text, or its bytes in hexadecimal.

        Raises:
            ValueError: if no symbol has that id.
        """
        symbol = self.symbol(number)
        if symbol is None:
            return self.specials[index(number)]
        return symbol if isinstance(symbol, str) else symbol.hex(" ").upper()

    def framed(self, ids: Sequence[int], start: str | None, end: str | None) -> tuple[int, ...]:
        """Return ids with special symbols put before and behind them, where these are named.

        Raises:
            ValueError: if the table has no such special symbol.
        """
        before = () if start is None else (self.special_id(start),)
        behind = () if end is None else (self.special_id(end),)
        return (*before, *ids, *behind)


def pad(rows: Sequence[Sequence[int]], fill: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Fill rows of ids up to a rectangle.

    Args:
        rows: B rows of ids of any length.
        fill: the id of PAD.

    Returns:
        The ids, (B, L) with L the longest length, and a mask of the same shape, True at ids of the rows.

    Example:
        >>> ids, real = pad([[5, 6, 7], [8]], fill=0)
        >>> ids.tolist(), real.sum(axis=1).tolist()
        ([[5, 6, 7], [8, 0, 0]], [3, 1])
    """
    ids = np.full((len(rows), max(map(len, rows), default=0)), fill, dtype=np.int64)
    real = np.zeros(ids.shape, dtype=bool)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        real[at, : len(row)] = True
    return ids, real
