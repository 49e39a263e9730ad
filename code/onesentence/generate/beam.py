"""Beam search over a batch of sources: one call of the model per round for all hypotheses of all sources.

    log p(y_1 ... y_t) = log p(y_1 ... y_{t-1}) + log_softmax(logits_t)[y_t]

In each round every open hypothesis is extended by every token, and of all candidates of a source the `width` of the
highest score stay; `beam_plain` is the same with Python lists, equal by test. Arrays: `B` sources, `W` places of the
beam, `V` tokens. What the model is called with is neither: one row for each open hypothesis, source by source, place by
place, so nothing that ended costs a call, and `take` must pick the rows of a state.

Ended hypotheses, two algorithms:

* `in_beam`: one holds its place, is compared in each round with what the open ones became, and is lost if `width`
  others score higher.
* `apart`: one is put aside in the round that kept it; its place is free in the next round, and it is never lost.

They can return different texts, also with alpha = 0: `in_beam` may lose the best text that it has to open hypotheses
that score higher now and all end lower. With alpha = 0 `apart` never returns the less probable one. Sutskever, Vinyals
and Le 2014 (arXiv:1409.3215), section 3.2, put them aside; what they refill places with they do not say, here the
places are free in the next round. Section 3.18 of the course.

Of candidates with equal scores the one that comes from the lower place of the beam goes first, then the lower id.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.generate.beam_places import Places
from onesentence.generate.checks import checked_first, checked_logits
from onesentence.generate.hypotheses import (
    Finished,
    Found,
    LengthPenalty,
    SearchSettings,
    Stop,
    checked_penalty,
    found_of,
)
from onesentence.numerics import log_softmax

S = TypeVar("S")
IntArray = NDArray[np.int64]


def beam_search(
    step: Callable[[IntArray, S], tuple[ArrayLike, S]],
    state: S,
    *,
    bos: ArrayLike,
    eos: int,
    limit: int,
    width: int,
    penalty: LengthPenalty | None = None,
    finished: Finished = "in_beam",
    stop: Stop = "bound",
    take: Callable[[S, IntArray], S] | None = None,
    record: bool = False,
) -> tuple[Found, ...]:
    """Search, for each source, for the text of the highest score.

    Args:
        step: takes the ids (R,) that R hypotheses read and a state of R rows; returns logits (R, V), -inf for what
            may not come, and the next state. It must not change the state that it was given.
        state: the state before the first step, B rows.
        bos: what the sources read first, ids (B,), or one id for a single source.
        eos: id in [0, V) that ends a text.
        limit: largest number of tokens of a text, EOS among them; at least 1.
        width: hypotheses kept in each round, at least 1. With 1 the search is greedy decoding.
        penalty: length penalty; None has alpha 0.
        finished: "in_beam" or "apart", as above.
        stop: "bound" stops when no open hypothesis can score higher than the best ended one within the limit, which
            loses nothing; "all" goes on while anything is open; "full", for `apart` only, stops as soon as `width`
            texts are put aside, and may lose the best.
        take: returns the rows (R',) of a state; None is `take_rows`.
        record: whether to keep every candidate of every round.

    Returns:
        A `Found` per source.

    Raises:
        TypeError: if an argument is of another kind.
        ValueError: if a setting is out of range or does not go with another, or `step` returns another shape, NaN,
            +inf or a row without a legal successor.

    Example:
        >>> p = np.array([[0, 0, 0.6, 0.4], [0, 1, 0, 0], [0, 0.5, 0.25, 0.25], [0, 1, 0, 0]])
        >>> with np.errstate(divide="ignore"):
        ...     logits = np.log(p)
        >>> for found in beam_search(lambda ids, s: (logits[ids], s), None, bos=[0, 2], eos=1, limit=4, width=2):
        ...     print(found.best.ids, round(float(np.exp(found.best.log_prob)), 3), found.stopped)
        (3, 1) 0.4 ended
        (1,) 0.5 bound
    """
    settings = SearchSettings(eos, limit, width, checked_penalty(penalty), finished, stop)
    places = Places(checked_first(bos), settings, record=record)
    pick = take or take_rows
    for round_number in range(1, settings.limit + 1):
        answer, state = step(places.read(), state)
        log_p = log_softmax(_logits(answer, places.rows, settings.eos))
        parents = places.grow(log_p, round_number)
        if not len(parents):
            break
        state = pick(state, parents)
    return tuple(found_of(hypotheses, stopped, rounds) for hypotheses, stopped, rounds in places.results())


def take_rows(state: Any, rows: IntArray) -> Any:
    """Return some rows of a state, in the given order, repeats allowed.

    Args:
        state: an array or tensor with rows along its first axis; None; or tuples, lists, dictionaries and dataclasses
            of such, each of which is gone through.
        rows: ids of rows, (R,).

    Raises:
        TypeError: if the state holds anything else.

    Example:
        >>> take_rows((np.array([[1.0], [2.0]]), None), np.array([1, 1]))[0].tolist()
        [[2.0], [2.0]]
    """
    if state is None:
        return None
    if hasattr(state, "shape") and len(state.shape):
        return state[rows]
    if isinstance(state, tuple) and hasattr(state, "_fields"):
        return type(state)(*(take_rows(part, rows) for part in state))
    if isinstance(state, (tuple, list)):
        return type(state)(take_rows(part, rows) for part in state)
    if isinstance(state, dict):
        return {name: take_rows(part, rows) for name, part in state.items()}
    if dataclasses.is_dataclass(state) and not isinstance(state, type):
        parts = {f.name: take_rows(getattr(state, f.name), rows) for f in dataclasses.fields(state)}
        return dataclasses.replace(state, **parts)
    raise TypeError(f"state: no rows to take of a {type(state).__name__}; give take=")


def _logits(answer: ArrayLike, rows: int, eos: int) -> NDArray[np.floating[Any]]:
    logits = checked_logits(answer)
    if logits.ndim != 2 or len(logits) != rows:
        raise ValueError(f"step must return logits of shape ({rows}, V), got {logits.shape}")
    if eos >= logits.shape[1]:
        raise ValueError(f"eos must lie in [0, {logits.shape[1]}), got {eos}")
    return logits
