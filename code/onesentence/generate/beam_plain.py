"""Beam search as it is explained: one source, Python lists, a model call for each open hypothesis.

In each round every open hypothesis is extended by every token that the model allows; the `width` candidates of the
highest score stay. `beam.beam_search` gives the same hypotheses for many sources at once and says what the settings do.

Sections 3.17 and 3.18 of the course.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import checked_integer
from onesentence.generate.checks import checked_logits
from onesentence.generate.hypotheses import (
    Candidate,
    Fate,
    Finished,
    Found,
    Hypothesis,
    LengthPenalty,
    SearchSettings,
    Stop,
    checked_penalty,
    found_of,
)
from onesentence.numerics import log_softmax

Step = Callable[[NDArray[np.int64], Any], tuple[ArrayLike, Any]]


@dataclass(frozen=True)
class _Held:
    """A hypothesis and the state that the model was in before it read the last token."""

    hypothesis: Hypothesis
    state: Any


def beam_search_plain(
    step: Step,
    state: Any,
    *,
    bos: int,
    eos: int,
    limit: int,
    width: int,
    penalty: LengthPenalty | None = None,
    finished: Finished = "in_beam",
    stop: Stop = "bound",
    record: bool = False,
) -> Found:
    """Search for the text of the highest score.

    Args:
        step: as for `beam.beam_search`, called with one row.
        state: the state before the first step, one row; `step` must leave it as it is.
        bos: id that is read first.
        eos: id that ends a text.
        limit: largest number of tokens, EOS among them.
        width: hypotheses kept in each round.
        penalty: length penalty; None has alpha 0.
        finished: "in_beam" or "apart".
        stop: "bound", "all" or "full".
        record: whether to keep every candidate of every round.

    Raises:
        TypeError, ValueError: as `beam.beam_search`.

    Example:
        >>> p = np.array([[0, 0, 0.6, 0.4], [0, 1, 0, 0], [0, 0.5, 0.25, 0.25], [0, 1, 0, 0]])
        >>> with np.errstate(divide="ignore"):
        ...     logits = np.log(p)
        >>> step = lambda ids, state: (logits[ids], state)
        >>> for width in (1, 2):
        ...     best = beam_search_plain(step, None, bos=0, eos=1, limit=3, width=width).best
        ...     print(best.ids, round(float(np.exp(best.log_prob)), 3))
        (2, 1) 0.3
        (3, 1) 0.4
    """
    settings = SearchSettings(eos, limit, width, checked_penalty(penalty), finished, stop)
    beam = [_Held(Hypothesis((), 0.0, 0.0, False), state)]
    aside: list[Hypothesis] = []
    rounds: list[list[Candidate]] = []
    first = checked_integer("bos", bos, 0)
    for _ in range(settings.limit):
        candidates = [new for held in beam for new in _extended(held, step, first, settings)]
        candidates.sort(key=lambda held: -held.hypothesis.score)  # stable: equal ones stay as they come
        if record:
            rounds.append([_decided(held, rank, settings) for rank, held in enumerate(candidates)])
        beam = candidates[: settings.width]
        if settings.finished == "apart":
            aside += [held.hypothesis for held in beam if held.hypothesis.ended]
            beam = [held for held in beam if not held.hypothesis.ended]
        kept = [*aside, *(held.hypothesis for held in beam)]
        ended = [h.score for h in kept if h.ended]
        still = [h.log_prob for h in kept if not h.ended]
        reason = settings.over(len(ended), max(ended, default=0.0), max(still, default=None))
        if reason:
            return found_of(kept, reason, rounds)
    return found_of(kept, "limit", rounds)


def _extended(held: _Held, step: Step, bos: int, settings: SearchSettings) -> list[_Held]:
    """Return a hypothesis with each token that may follow; an ended one as it is."""
    old = held.hypothesis
    if old.ended:
        return [held]
    logits, state = step(np.array([old.ids[-1] if old.ids else bos]), held.state)
    scores = checked_logits(logits)
    if scores.ndim != 2 or len(scores) != 1:
        raise ValueError(f"step must return logits of shape (1, V), got {scores.shape}")
    if settings.eos >= scores.shape[1]:
        raise ValueError(f"eos must lie in [0, {scores.shape[1]}), got {settings.eos}")
    new = []
    for token, log_p in enumerate(log_softmax(scores)[0].tolist()):
        ids, total, ended = (*old.ids, token), old.log_prob + log_p, token == settings.eos
        score = settings.penalty.score(total, len(ids), ended=ended)
        if score > -np.inf:  # that of a token that may not come, or of a sum below every float, is not
            new.append(_Held(Hypothesis(ids, total, score, ended), state))
    return new


def _decided(held: _Held, rank: int, settings: SearchSettings) -> Candidate:
    h = held.hypothesis
    fate: Fate = "ended" if h.ended and settings.finished == "in_beam" else "aside" if h.ended else "open"
    kept = rank < settings.width
    return Candidate(h.ids, h.log_prob, h.score, h.ended, rank, fate if kept else "pruned")
