"""The places of a beam as arrays: what `beam.beam_search` keeps between two calls of the model.

Symbols: `B` sources, `W` width, `P` places, as many as a source has needed so far and at most `W`, `V` tokens, `R` rows
that the model reads, one per open place of a source that still goes on, in the order of sources and places. `slots` are
the flat numbers place * V + token of a source's candidates; an ended hypothesis is its own candidate, under its place
and EOS. Equal scores go by slot, the lowest first. Places and columns of ids come with the rounds, so a width or a
limit that is never reached costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onesentence.generate.hypotheses import Candidate, Fate, Hypothesis, SearchSettings
from onesentence.numerics import FloatArray

IntArray = NDArray[np.int64]
Stopped = Literal["ended", "bound", "full", "limit"]


def best_slots(scores: FloatArray, width: int) -> IntArray:
    """Return the slots of the highest scores of each row, best first, equal ones by slot.

    Args:
        scores: (B, N) with N >= width; -inf where there is no candidate.
        width: how many, W.

    Returns:
        (B, W); where fewer than W scores are above -inf, slots of -inf stand last.

    Example:
        >>> best_slots(np.array([[1.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 5.0]]), 2).tolist()
        [[1, 3], [3, 0]]
    """
    N = scores.shape[1]
    least = np.partition(scores, N - width, axis=1)[:, N - width, None]  # the W-th highest of each row
    chosen = scores >= least
    for row in np.flatnonzero(chosen.sum(axis=1) > width):  # more than fit: the last ones equal to `least` go
        equal = np.flatnonzero(scores[row] == least[row])
        chosen[row, equal[len(equal) - (int(chosen[row].sum()) - width) :]] = False
    slots = np.nonzero(chosen)[1].reshape(-1, width)
    order = np.argsort(-np.take_along_axis(scores, slots, axis=1), axis=1, kind="stable")
    result: IntArray = np.take_along_axis(slots, order, axis=1)
    return result


class Places:
    """Hypotheses of all sources: arrays over (B, P), and what was put aside."""

    def __init__(self, bos: IntArray, settings: SearchSettings, *, record: bool) -> None:
        """Begin with one open hypothesis per source.

        Args:
            bos: what it reads first, (B,).
            settings: of the search.
            record: whether to keep candidates.
        """
        B = len(bos)
        self._settings, self._record = settings, record
        self._last = bos[:, None].copy()  # what each place reads next
        self._ids = np.zeros((B, 1, 0), dtype=np.int64)
        self._length = np.zeros((B, 1), dtype=np.int64)
        self._log_prob, self._score = np.zeros((2, B, 1))
        self._used = np.ones((B, 1), dtype=bool)
        self._ended = np.zeros((B, 1), dtype=bool)
        self._going = np.ones(B, dtype=bool)
        self._aside: list[list[Hypothesis]] = [[] for _ in bos]
        self._stopped: list[Stopped] = ["limit"] * B
        self._rounds: list[list[tuple[Candidate, ...]]] = [[] for _ in bos]

    @property
    def _open(self) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = self._used & ~self._ended & self._going[:, None]
        return result

    @property
    def rows(self) -> int:
        """R, how many hypotheses the model reads next."""
        return int(self._open.sum())

    def read(self) -> IntArray:
        """Return the ids (R,) that it reads."""
        return self._last[self._open]

    def grow(self, log_p: FloatArray, t: int) -> IntArray:
        """Extend the open hypotheses and keep the best candidates of each source.

        Args:
            log_p: log probabilities of the next token, (R, V).
            t: number of tokens that an open hypothesis then has.

        Returns:
            For each hypothesis that is open then, the row (of R) that it continues.
        """
        live, V = np.flatnonzero(self._going), log_p.shape[1]
        eos, penalty = self._settings.eos, self._settings.penalty
        reading = self._open[live]
        P = reading.shape[1]
        total = np.full((len(live), P, V), -np.inf)
        with np.errstate(over="ignore"):  # a sum below every float is -inf: no candidate
            total[reading] = self._log_prob[live][reading][:, None] + log_p
        scores = total / penalty.divisor(t)
        scores[..., eos] = total[..., eos] / penalty.divisor(t - (not penalty.count_eos))
        stays = self._ended[live]
        total[stays, eos], scores[stays, eos] = self._log_prob[live][stays], self._score[live][stays]
        flat = scores.reshape(len(live), P * V)
        if self._record:
            for number, source in enumerate(live):
                self._note(int(source), flat[number], total[number].ravel(), V)
        slots = best_slots(flat, min(self._settings.width, P * V))
        needed = int((np.take_along_axis(flat, slots, axis=1) > -np.inf).sum(axis=1).max())
        slots = slots[:, :needed]  # best first, so what is left out is no candidate
        self._widen(needed, t)
        row_of = np.full(reading.shape, -1)
        row_of[reading] = np.arange(len(log_p))
        parents = np.full(self._used.shape, -1)
        parents[live, :needed] = np.take_along_axis(row_of, slots // V, axis=1)
        self._move(live, slots, V, flat, total.reshape(flat.shape))
        self._settle(live)
        return parents[self._open]

    def _widen(self, places: int, columns: int) -> None:
        """Have at least so many places and columns of ids."""
        more = max(places - self._used.shape[1], 0)
        self._ids = np.pad(self._ids, ((0, 0), (0, more), (0, columns - self._ids.shape[2])))
        if more:
            for name in ("_last", "_length", "_log_prob", "_score", "_used", "_ended"):
                setattr(self, name, np.pad(getattr(self, name), ((0, 0), (0, more))))

    def _move(self, live: IntArray, slots: IntArray, V: int, scores: FloatArray, total: FloatArray) -> None:
        """Put the chosen candidates into the places of their sources."""
        place, token = slots // V, slots % V
        score = np.take_along_axis(scores, slots, axis=1)
        used = score > -np.inf
        rows, columns = np.nonzero(used)
        old = live[rows], place[rows, columns]
        ids, length, stayed = self._ids[old], self._length[old], self._ended[old]
        grown = np.flatnonzero(~stayed)
        ids[grown, length[grown]] = token[rows, columns][grown]
        new = live[rows], columns
        self._used[live] = self._ended[live] = False
        self._used[new] = True
        self._ids[new], self._length[new] = ids, length + ~stayed
        self._last[new] = token[rows, columns]
        self._log_prob[new] = np.take_along_axis(total, slots, axis=1)[rows, columns]
        self._score[new] = score[rows, columns]
        self._ended[new] = token[rows, columns] == self._settings.eos

    def _settle(self, live: IntArray) -> None:
        """Put ended hypotheses aside where that is the rule, and see which sources are over."""
        if self._settings.finished == "apart":
            for source, place in np.argwhere(self._used & self._ended & self._going[:, None]):
                self._aside[source].append(self._hypothesis(source, place))
                self._used[source, place] = self._ended[source, place] = False
        still, ended = self._used & ~self._ended, self._used & self._ended
        for source in live:
            scores = [h.score for h in self._aside[source]] + self._score[source][ended[source]].tolist()
            most = self._log_prob[source][still[source]].max(initial=-np.inf) if still[source].any() else None
            reason = self._settings.over(len(scores), max(scores, default=0.0), most)
            if reason:
                self._stopped[source], self._going[source] = reason, False

    def _note(self, source: int, scores: FloatArray, total: FloatArray, V: int) -> None:
        """Keep every candidate of a source's round, best first."""
        order = np.argsort(-scores, kind="stable")
        candidates = []
        for rank, slot in enumerate(order[: np.isfinite(scores).sum()]):
            old, token = (source, slot // V), int(slot % V)
            ids = tuple(self._ids[old][: self._length[old]].tolist())
            if not self._ended[old]:
                ids += (token,)
            ended = token == self._settings.eos
            apart = self._settings.finished == "apart"
            fate: Fate = "pruned" if rank >= self._settings.width else "open"
            if ended and fate == "open":
                fate = "aside" if apart else "ended"
            candidates.append(Candidate(ids, float(total[slot]), float(scores[slot]), ended, rank, fate))
        self._rounds[source].append(tuple(candidates))

    def _hypothesis(self, source: int, place: int) -> Hypothesis:
        at = source, place
        ids = tuple(self._ids[at][: self._length[at]].tolist())
        return Hypothesis(ids, float(self._log_prob[at]), float(self._score[at]), bool(self._ended[at]))

    def results(self) -> Iterator[tuple[list[Hypothesis], Stopped, list[tuple[Candidate, ...]]]]:
        """Yield, source by source, its hypotheses in the order of finding and place, why it stopped, its records."""
        for source, aside in enumerate(self._aside):
            kept = [self._hypothesis(source, int(place)) for place in np.flatnonzero(self._used[source])]
            yield [*aside, *kept], self._stopped[source], self._rounds[source]
