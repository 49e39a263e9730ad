"""The best text of a model, with a proof: branch and bound, the most promising prefix first.

No continuation adds to log p <= 0, and lp does not fall with n, so nothing behind a prefix scores more than

    bound(prefix) = log p(prefix) / lp(limit)

(`hypotheses.LengthPenalty.bound`). In each turn the open prefix of the highest bound is extended by every token. Once
the best ended text scores no less than all bounds that are left, no other text within the limit scores higher: that is
the proof. A beam search throws prefixes away and can prove nothing of the kind; `exhaustive` walks all of them.

A model that is sure of itself is searched in a few calls, one that spreads its probability may need V to the power of
the limit. So `most` calls are allowed; after them the search stops and says that nothing is proved.

Stahlberg and Byrne 2019 (arXiv:1908.10090) search depth first and prune by the best text so far; best first extends no
prefix whose bound lies below the best score, so it needs no more calls, but it keeps all open prefixes. Sections 3.15
and 3.18 of the course ask for the proof.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesentence.checks import checked_integer
from onesentence.generate.beam_plain import Step
from onesentence.generate.exhaustive import next_log_p
from onesentence.generate.hypotheses import Hypothesis, LengthPenalty, SearchSettings, checked_penalty


@dataclass(frozen=True)
class Exact:
    """What an exact search came to.

    Attributes:
        best: the ended text of the highest score that was met; where none ended, the best one that the limit cut; None
            if the search stopped before it met either.
        proved: whether no text within the limit scores higher, of equal ones some.
        calls: how often the model was called, once per extended prefix.
        bound: no text that was not met scores more; at most `best.score` where that is an ended text and proved.
    """

    best: Hypothesis | None
    proved: bool
    calls: int
    bound: float


def exact_search(
    step: Step,
    state: Any,
    *,
    bos: int,
    eos: int,
    limit: int,
    penalty: LengthPenalty | None = None,
    most: int = 10_000,
) -> Exact:
    """Search for the ended text of the highest score; only where no text ends, for the best cut one.

    Args:
        step: takes ids (1,) and a state, returns logits (1, V) and the next state; must not change the state.
        state: the state before the first step, one row.
        bos: id that is read first.
        eos: id in [0, V) that ends a text.
        limit: largest number of tokens, EOS among them.
        penalty: length penalty; None has alpha 0.
        most: largest number of calls of `step`.

    Raises:
        TypeError: if an id, the limit or `most` is no integer, or the penalty is none.
        ValueError: if one is out of range, or the logits hold NaN or +inf, have another shape or leave no token.

    Example:
        >>> p = np.array([[0, 0, 0.6, 0.4], [0, 1, 0, 0], [0, 0.5, 0.25, 0.25], [0, 1, 0, 0]])
        >>> with np.errstate(divide="ignore"):
        ...     logits = np.log(p)
        >>> found = exact_search(lambda ids, s: (logits[ids], s), None, bos=0, eos=1, limit=9)
        >>> found.best.ids, round(float(np.exp(found.best.log_prob)), 6), found.proved, found.calls
        ((3, 1), 0.4, True, 3)
    """
    settings = SearchSettings(eos, limit, 1, checked_penalty(penalty), "in_beam", "bound")
    first, most = checked_integer("bos", bos, 0), checked_integer("most", most, 1)
    open_: list[tuple[float, int, int, tuple[int, ...], float, Any]] = [(-0.0, 0, 0, (), 0.0, state)]
    ended: Hypothesis | None = None
    cut: Hypothesis | None = None
    calls = number = 0
    while calls < most and _left(open_, ended):
        _, _, _, ids, total, before = heapq.heappop(open_)
        log_p, after = next_log_p(step, ids[-1] if ids else first, before, settings.eos)
        calls += 1
        for token in np.flatnonzero(log_p > -np.inf).tolist():
            new, sum_ = (*ids, token), total + float(log_p[token])
            if token == settings.eos or len(new) == settings.limit:
                text = _text(new, sum_, settings)
                ended, cut = (_better(ended, text), cut) if text.ended else (ended, _better(cut, text))
            else:
                number += 1  # of equal bounds the longer prefix goes first, then the older one
                bound = settings.penalty.bound(sum_, settings.limit)
                heapq.heappush(open_, (-bound, -len(new), number, new, sum_, after))
    return Exact(ended or cut, not _left(open_, ended), calls, -open_[0][0] if open_ else -np.inf)


def _left(open_: list[Any], ended: Hypothesis | None) -> bool:
    """Return whether something open may still score higher than the best ended text."""
    return bool(open_) and (ended is None or -open_[0][0] > ended.score)


def _text(ids: tuple[int, ...], log_prob: float, settings: SearchSettings) -> Hypothesis:
    ended = ids[-1] == settings.eos
    return Hypothesis(ids, log_prob, settings.penalty.score(log_prob, len(ids), ended=ended), ended)


def _better(old: Hypothesis | None, new: Hypothesis) -> Hypothesis:
    return new if old is None or new.score > old.score else old
