"""Keys and values of a source that has been read once: what cross-attention reads again at every step.

It does not grow. Its size is that of the source, however much is written, so its bytes are counted apart from those of a
`KVCache`, which grows with every token. Padding stays in it and is masked: a source is read at once and never edited.
A changed source is another cache.

Symbols: `B` rows, `S` source units, `G` key heads, `D` head size, `L` layers. Sections 4.12 and 7.4 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from onesentence.checks import checked_integer


@dataclass(frozen=True, eq=False)
class SourceCache:
    """Keys and values of a batch of sources, layer by layer.

    Attributes:
        layers: L pairs of keys and values, (B, G, S, D) each; empty for a model that does not read the source.
        real: True at source units, False at padding, (B, S).
        owner: fingerprint of the parameters that computed keys and values, as in `KVCache`; None where the cache never
            outlives the parameters' next change, so that nobody need ask. `check` refuses such a cache.

    Raises:
        TypeError: if `real` is not boolean, or keys and values of a layer have different dtypes.
        ValueError: if a shape does not fit.

    Example:
        >>> k, real = torch.zeros(2, 1, 3, 4), torch.tensor([[True, True, True], [True, False, False]])
        >>> source = SourceCache(((k, k), (k, k)), real)
        >>> source.rows, source.nbytes, source.select(torch.tensor([1, 1, 1])).rows
        (2, 384, 3)
    """

    layers: tuple[tuple[Tensor, Tensor], ...]
    real: Tensor
    owner: str | None = None

    def __post_init__(self) -> None:
        if self.real.dtype != torch.bool:
            raise TypeError(f"real must be boolean (True = a source unit), got {self.real.dtype}")
        if self.real.ndim != 2:
            raise ValueError(f"real must have shape (B, S), got {tuple(self.real.shape)}")
        B, S = self.real.shape
        for i, (k, v) in enumerate(self.layers):
            if k.ndim != 4 or (k.shape[0], k.shape[2]) != (B, S) or v.shape != k.shape:
                shapes = f"{tuple(k.shape)} and {tuple(v.shape)}"
                raise ValueError(
                    f"layers[{i}] must hold keys and values of shape ({B}, G, {S}, D), got {shapes}"
                )
            if k.dtype != v.dtype:
                raise TypeError(
                    f"layers[{i}] must hold keys and values of one dtype, got {k.dtype} and {v.dtype}"
                )

    @property
    def rows(self) -> int:
        """B."""
        return len(self.real)

    @property
    def nbytes(self) -> int:
        """Bytes of keys and values, padding among them: 2 L B G S D s. The mask is not counted."""
        return sum(part.nbytes for pair in self.layers for part in pair)

    @cached_property
    def may_read(self) -> Tensor | None:
        """Mask of every layer's read, `True = may read`, (B, 1, 1, S); None if there is no padding."""
        return None if bool(self.real.all()) else self.real[:, None, None]

    def layer(self, i: int) -> tuple[Tensor, Tensor]:
        """Return keys and values of a layer, (B, G, S, D) each.

        Args:
            i: from 0.

        Raises:
            TypeError: if it is not an integer.
            ValueError: if there is no such layer.
        """
        if checked_integer("layer", i, 0) >= len(self.layers):
            raise ValueError(f"layer must be less than {len(self.layers)}, the number of layers, got {i}")
        return self.layers[i]

    def check(self, owner: str, rows: int) -> None:
        """Refuse to serve other parameters, or another batch.

        Args:
            owner: fingerprint of the parameters that will read.
            rows: B of what will read.

        Raises:
            ValueError: if the cache is not theirs, or has no owner.
        """
        if self.owner is None:
            raise ValueError(f"owner: the source cache names none, so it cannot be told to be of {owner!r}")
        if owner != self.owner:
            raise ValueError(f"owner must be {self.owner!r}, which computed the source cache, got {owner!r}")
        if rows != self.rows:
            raise ValueError(f"rows must be {self.rows}, as the source cache has, got {rows}")

    def select(self, rows: Tensor) -> SourceCache:
        """Return the cache of chosen rows, for instance of one source for each hypothesis of a beam.

        Args:
            rows: numbers of rows, (N,), in any order, each as often as wanted.

        Returns:
            A copy of theirs; this cache stays as it is.

        Raises:
            TypeError: if they are not integers.
            ValueError: if they have another shape, or there is no such row.
        """
        if rows.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"rows must hold integers (int32 or int64), got {rows.dtype}")
        if rows.ndim != 1:
            raise ValueError(f"rows must have shape (N,), got {tuple(rows.shape)}")
        outside = rows[(rows < 0) | (rows >= self.rows)]
        if len(outside):
            raise ValueError(f"rows must lie in [0, {self.rows}), got {int(outside[0])}")
        chosen = tuple((k.index_select(0, rows), v.index_select(0, rows)) for k, v in self.layers)
        return SourceCache(chosen, self.real.index_select(0, rows), self.owner)
