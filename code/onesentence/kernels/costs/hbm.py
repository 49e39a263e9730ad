"""A machine with two memories that counts: what is read from the large one, written to it, multiplied, and held on the chip.

    machine = Machine()
    q = machine.put("Q", array)             an array that stands in HBM already: nothing is counted
    with machine.room():                    what is brought or made inside leaves the chip at the end
        tile = machine.load(q, 0, 0, slice(0, 4))
        scores = machine.product(tile, other.T)
        machine.store(o, scores, 0, 0, slice(0, 4))

Tiles on the chip are NumPy arrays that an algorithm may change in place; only `load`, `zeros`, and `product` bring new ones
there, and these are what `peak` measures. Vectors that a step makes and forgets are not seen. Loaded numbers keep their
width, sums are as wide as the machine's `wide` dtype. An array that has never been written holds NaN, so that reading too
early shows. It knows no formula of `costs.products` and `costs.traffic`, so that one can be held against the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from onesentence.checks import checked_integer

Floats: TypeAlias = NDArray[np.floating[Any]]
Place: TypeAlias = "int | slice"
"""Where a tile lies along one axis."""


@dataclass(frozen=True, eq=False)
class Stored:
    """An array in HBM, to be touched through its machine only.

    Attributes:
        name: what its bytes are counted as.
        values: its numbers, for looking at the result.
    """

    name: str
    values: Floats


@dataclass(eq=False)
class Machine:
    """The two memories and what has happened between them.

    Attributes:
        wide: dtype of sums, scores and statistics.
        capacity: bytes that the chip holds at most; None means that there is no end.
        read: bytes from HBM, by array.
        written: bytes to HBM, by array.
        macs: multiply-adds of matrix products.
        exponentials: how many were taken.
        held: bytes on the chip now.
        peak: the most bytes that were on the chip at once.

    Raises:
        TypeError: if the capacity is not an integer.
        ValueError: if it is less than 1, or `wide` is not floating.
    """

    wide: DTypeLike = np.float64
    capacity: int | None = None
    read: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    macs: int = 0
    exponentials: int = 0
    held: int = 0
    peak: int = 0

    def __post_init__(self) -> None:
        if self.capacity is not None:
            checked_integer("capacity", self.capacity, 1)
        if np.dtype(self.wide).kind != "f":
            raise ValueError(f"wide must be a floating dtype, got {np.dtype(self.wide)}")

    def put(self, name: str, values: ArrayLike) -> Stored:
        """Let an array stand in HBM, where somebody else has left it."""
        return Stored(name, np.array(values))

    def empty(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> Stored:
        """Set room apart in HBM; until it is written, it holds NaN."""
        return Stored(name, np.full(shape, np.nan, dtype))

    def fill(self, stored: Stored, value: float) -> None:
        """Write a number into all of an array, counted as its start."""
        stored.values[...] = value
        self.written[f"{stored.name} start"] += stored.values.nbytes

    def load(self, stored: Stored, *place: Place) -> Floats:
        """Read a part of an array; a copy of it is on the chip then.

        Args:
            stored: the array.
            place: where the part lies along its first axes.

        Raises:
            MemoryError: if the chip has no room for it.
        """
        tile = self._hold(np.array(stored.values[place]))
        self.read[stored.name] += tile.nbytes
        return tile

    def store(self, stored: Stored, tile: Floats, *place: Place) -> None:
        """Write a tile into a part of an array, in the array's width; the tile stays on the chip.

        Args:
            stored: the array.
            tile: as large as the part.
            place: where the part lies along its first axes.

        Raises:
            ValueError: if the tile is larger or smaller than the part.
        """
        part = stored.values[place]
        if part.shape != tile.shape:
            raise ValueError(f"tile must have shape {part.shape} for {stored.name}, got {tile.shape}")
        stored.values[place] = tile
        self.written[stored.name] += part.nbytes

    def zeros(self, *shape: int) -> Floats:
        """Make room for sums on the chip.

        Raises:
            MemoryError: if the chip has none.
        """
        return self._hold(np.zeros(shape, self.wide))

    def product(self, a: Floats, b: Floats) -> Floats:
        """Return a matrix product, a new wide tile.

        Args:
            a: (n, k).
            b: (k, m).

        Raises:
            MemoryError: if the chip has no room for it.
        """
        out = self.zeros(a.shape[0], b.shape[1])
        self.add_product(out, a, b)
        return out

    def add_product(self, total: Floats, a: Floats, b: Floats) -> None:
        """Add a matrix product to sums on the chip, which takes no further room there."""
        total += a.astype(self.wide) @ b.astype(self.wide)
        self.macs += a.shape[0] * a.shape[1] * b.shape[1]

    def exp(self, values: Floats) -> Floats:
        """Return e to these powers, counted one by one."""
        self.exponentials += values.size
        return np.asarray(np.exp(values))

    @contextmanager
    def room(self) -> Iterator[None]:
        """Forget at the end of a `with` what came onto the chip inside it."""
        before = self.held
        try:
            yield
        finally:
            self.held = before

    def _hold(self, tile: Floats) -> Floats:
        """Count a tile as being on the chip, if there is room for it."""
        needed = self.held + tile.nbytes
        if self.capacity is not None and needed > self.capacity:
            raise MemoryError(f"the chip holds {self.capacity} bytes, {needed} are needed at once")
        self.held, self.peak = needed, max(self.peak, needed)
        return tile
