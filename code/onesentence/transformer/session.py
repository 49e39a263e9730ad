"""A model, a cache, and the tokens that it stands for: what a program holds while somebody writes, changes and goes on.

    read(rows)     tokens behind those read so far                        -> logits after the last one of each row
    edit(rows)     whole rows anew: what they share with the old ones at the beginning stays, the rest is read
    step           one token a row, for `generate.loop.generate`
    generate       tokens behind those read so far, then what the model makes of it

A cache knows neither its tokens nor whether they are still the ones that are meant: a token that was changed without
truncation leaves keys and values of the old one in place, and what stands behind it has read them. So the ids stand beside
the cache here, and both change together. Sections 7.1 and 7.2 of the course.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from onesentence.cache.base import KVCache
from onesentence.cache.prefix import common_prefix
from onesentence.checks import Ids, as_ids, checked_integer
from onesentence.generate.loop import Generated, generate
from onesentence.generate.sampling import greedy
from onesentence.numerics import FloatArray
from onesentence.text.batches import id_vector
from onesentence.transformer.causal_lm import CausalLM
from onesentence.transformer.readers import reader_of


class Session:
    """A batch of rows that a model reads, writes and has changed.

    Args:
        model: in evaluation mode if it has dropout.
        cache: empty, and the session's own from now on.
        reader: which code executes attention, a name of `readers.READERS`.

    Raises:
        ValueError: if the cache does not fit the model or is not empty, the model is in training with dropout, or there is
            no such reader.

    Example:
        >>> from onesentence.cache.contiguous import ContiguousCache
        >>> from onesentence.transformer.causal_config import CausalConfig
        >>> model = CausalLM.initial(CausalConfig(5, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> session = Session(model, ContiguousCache(model.cache_sizes(rows=1), capacity=8))
        >>> session.read([[1, 2, 3]]).shape, session.edit([[1, 2, 4, 4]]).shape, session.ids
        ((1, 5), (1, 5), ((1, 2, 4, 4),))
    """

    def __init__(self, model: CausalLM, cache: KVCache, *, reader: str = "sdpa") -> None:
        reader_of(reader)
        if not isinstance(model, CausalLM):
            raise TypeError(f"model must be a CausalLM, got {type(model).__name__}")
        model.check_cache(cache)
        if int(cache.lengths.sum()):
            raise ValueError(f"cache must be empty, got one with {cache.lengths.tolist()} tokens")
        self.model, self.cache, self.reader = model, cache, reader
        self._ids: list[list[int]] = [[] for _ in range(cache.sizes.rows)]
        self._changes = cache.changes  # as of when the cache held these ids
        self._place = 0

    @property
    def ids(self) -> tuple[tuple[int, ...], ...]:
        """Tokens of each row that the cache stands for."""
        return tuple(map(tuple, self._ids))

    @property
    def place(self) -> int:
        """Number that grows with whatever is read or taken back: the state that `step` expects next."""
        return self._place

    def read(self, rows: Sequence[ArrayLike]) -> FloatArray:
        """Read tokens behind those read so far.

        Args:
            rows: ids of each row, a vector each, of any lengths but 0.

        Returns:
            Logits (B, V) of what comes after the last token of each row.

        Raises:
            TypeError: if ids are not integers.
            ValueError: if there is not one vector per row, one is empty, an id lies outside the vocabulary, the cache has no
                room, or the parameters are others than those that filled it. Session and cache stay as they were.
        """
        return self._last(self._extended(self._vectors(rows)))

    def edit(self, rows: Sequence[ArrayLike]) -> FloatArray:
        """Replace all rows: keep what old and new share at the beginning, read the rest.

        At least the last token of each row is read again, as its logits are asked for.

        Args:
            rows: the new ids, as `read`.

        Returns:
            Logits (B, V), as if the new rows had been read from the start.

        Raises:
            TypeError, ValueError: as `read`; ValueError too if the cache no longer has what is to stay. Session and cache
                stay as they were. If the pass itself fails, as where the reader cannot serve it, they hold what old and new
                share.
        """
        new = self._vectors(rows)
        self._check_in_step()
        stay = common_prefix(self._ids, new, again=1)
        self.model.check_cache(self.cache)
        if stay.any():
            self.model.check_owner(self.cache)
        self.cache.check_room(torch.tensor([len(row) for row in new]))
        self.cache.truncate(stay)
        lengths = stay.tolist()
        self._stand([old[:length] for old, length in zip(self._ids, lengths, strict=True)])
        return self._last(self._extended([row[length:] for row, length in zip(new, lengths, strict=True)]))

    def clear(self) -> None:
        """Forget everything; afterwards any parameters may fill the cache."""
        self.cache.truncate(torch.zeros(len(self._ids), dtype=torch.int64))
        self._stand([[] for _ in self._ids])

    def step(self, ids: ArrayLike, place: int) -> tuple[FloatArray, int]:
        """Read one token of each row: the `step` of `generate.loop.generate`.

        Args:
            ids: (B,).
            place: what `place` was after the last change, or the step before returned: a session cannot go back by handing
                in an older one.

        Returns:
            Logits (B, V), and the next place.

        Raises:
            TypeError, ValueError: as `read`; ValueError too if something else was read or taken back since.
        """
        if checked_integer("place", place, 0) != self._place:
            raise ValueError(f"place must be {self._place}, where the session stands, got {place}")
        read = as_ids("ids", ids, self.model.config.vocabulary)
        if read.shape != (len(self._ids),):
            raise ValueError(f"ids must have shape ({len(self._ids)},), got {read.shape}")
        return self._last(self._extended([row[None] for row in read])), self._place

    def generate(
        self,
        rows: Sequence[ArrayLike],
        *,
        eos: int,
        limit: int,
        choose: Callable[[NDArray[np.floating[Any]]], ArrayLike] = greedy,
    ) -> tuple[Generated, ...]:
        """Read tokens and go on with what the model says, by the cache.

        Args:
            rows: as `read`.
            eos: ends a row.
            limit: largest number of choices per row.
            choose: as `generate.loop.generate`; the likeliest token unless another way is given.

        Returns:
            A `Generated` per row. The last choice of a row has not been read; a row that ended has read EOS since.

        Raises:
            TypeError, ValueError: as `read` and `generate.loop.generate`.
        """
        new = self._vectors(rows)
        before = [row[:-1] for row in new]
        if any(row.size for row in before):
            self._extended(before)
        return generate(
            self.step, self._place, bos=[row[-1] for row in new], eos=eos, limit=limit, choose=choose
        )

    def _vectors(self, rows: Sequence[ArrayLike]) -> list[Ids]:
        vectors = [id_vector(f"rows[{i}]", row) for i, row in enumerate(rows)]
        if len(vectors) != len(self._ids):
            raise ValueError(f"rows must hold {len(self._ids)} vectors like the cache, got {len(vectors)}")
        for i, row in enumerate(vectors):
            if not len(row):
                raise ValueError(f"rows[{i}] must hold at least 1 token, got 0")
            as_ids(f"rows[{i}]", row, self.model.config.vocabulary)
        return vectors

    def _check_in_step(self) -> None:
        """Refuse to go on with a cache that somebody else has changed, or an interrupted call of one's own."""
        if self.cache.changes != self._changes:
            held, known = self.cache.lengths.tolist(), [len(row) for row in self._ids]
            raise ValueError(
                f"cache must hold the {known} tokens that the session has read, got {held} after a change that it has not seen; "
                "clear() begins anew"
            )

    def _stand(self, ids: list[list[int]]) -> None:
        """Take ids as those that the cache holds now."""
        self._ids, self._changes, self._place = ids, self.cache.changes, self._place + 1

    def _extended(self, rows: list[Ids]) -> tuple[Tensor, list[int]]:
        """Read rows, some of them perhaps empty; return logits (B, T, V) and lengths."""
        self._check_in_step()
        lengths = [len(row) for row in rows]
        T = max(lengths)
        ids, real = np.zeros((len(rows), T), dtype=np.int64), np.arange(T) < np.array(lengths)[:, None]
        ids[real] = np.concatenate(rows)
        logits = self.model.extend(
            torch.from_numpy(ids).to(self.model.tokens.weight.device),
            self.cache,
            real=None if min(lengths) == T else torch.from_numpy(real),
            reader=self.reader,
        )
        for own, row in zip(self._ids, rows, strict=True):
            own.extend(row.tolist())
        self._stand(self._ids)
        return logits, lengths

    def _last(self, read: tuple[Tensor, list[int]]) -> FloatArray:
        logits, lengths = read
        last = logits[torch.arange(len(lengths)), torch.tensor(lengths) - 1]
        out: FloatArray = (last.float() if last.itemsize < 4 else last).cpu().numpy()
        return out
