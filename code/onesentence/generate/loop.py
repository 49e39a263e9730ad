"""The loop that makes a text of a model: read one token, get a distribution, choose one, until EOS or a limit.

    logits_t, s_t = step(y_{t-1}, s_{t-1})     y_0 = BOS
    y_t = choose(logits_t)                     until y_t = EOS or t = limit

The loop knows neither the model nor its state; `choose` is `greedy`, a `Sampler` or any function of the logits. Rows
of a batch go on until each has ended. A row that ended is frozen: it reads EOS from then on, what the model answers
it is replaced by zeros before `choose` looks, and what is chosen for it is dropped. So nothing that a model does behind
an end can reach the text or stop the other rows.

Chosen EOS and reaching the limit are two things, told apart by `Generated.ended`. Section 2.8 of the course.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import Ids, as_ids, checked_integer
from onesentence.generate.checks import checked_first
from onesentence.numerics import as_floats

S = TypeVar("S")


@dataclass(frozen=True)
class Generated:
    """What one row of a batch became.

    Attributes:
        ids: the chosen ids, without BOS; EOS is the last one if it was chosen.
        ended: True if EOS was chosen, also as the last choice that the limit allows; False if the limit cut it off.
    """

    ids: tuple[int, ...]
    ended: bool


def generate(
    step: Callable[[Ids, S], tuple[ArrayLike, S]],
    state: S,
    *,
    bos: ArrayLike,
    eos: int,
    limit: int,
    choose: Callable[[NDArray[np.floating[Any]]], ArrayLike],
) -> tuple[Generated, ...]:
    """Generate one sequence per row.

    Args:
        step: takes the ids (B,) that the rows read and a state; returns logits (B, V) and the next state.
        state: the state before the first step; the loop only hands it on.
        bos: what the rows read first, ids (B,), or one id for a single row; for a prefix that the state has read
            already but for its last token, that token.
        eos: id in [0, V) that ends a row.
        limit: largest number of choices per row, EOS among them; at least 1.
        choose: takes logits (B, V), returns ids (B,).

    Returns:
        A `Generated` per row.

    Raises:
        TypeError: if an id or the limit is not an integer, or logits are not real.
        ValueError: if `bos` is no vector of ids, the limit is below 1, `eos` lies outside the logits, or `step` or
            `choose` return another shape or an id outside.

    Example:
        >>> count_up = lambda ids, state: (np.eye(5)[(ids + 1) % 5], state)
        >>> from onesentence.generate.sampling import greedy
        >>> for row in generate(count_up, None, bos=[0, 2], eos=4, limit=3, choose=greedy):
        ...     print(row)
        Generated(ids=(1, 2, 3), ended=False)
        Generated(ids=(3, 4), ended=True)
    """
    read, eos, limit = checked_first(bos), checked_integer("eos", eos, 0), checked_integer("limit", limit, 1)
    chosen: list[list[int]] = [[] for _ in read]
    live = np.ones(len(read), dtype=bool)
    for _ in range(limit):
        answer, state = step(read.copy(), state)
        logits = _logits(answer, len(read), eos)
        ids = _ids(choose(np.where(live[:, None], logits, 0)), logits.shape)
        for row in np.flatnonzero(live):
            chosen[row].append(int(ids[row]))
        live &= ids != eos
        if not live.any():
            break
        read = np.where(live, ids, eos)
    return tuple(Generated(tuple(ids), not going) for ids, going in zip(chosen, live, strict=True))


def _logits(answer: ArrayLike, rows: int, eos: int) -> NDArray[np.floating[Any]]:
    logits = as_floats("step: the logits that it returns", answer)
    if logits.ndim != 2 or len(logits) != rows:
        raise ValueError(
            f"step must return logits of shape ({rows}, V), a row for each id of bos, got {logits.shape}"
        )
    if eos >= logits.shape[1]:
        raise ValueError(f"eos must lie in [0, {logits.shape[1]}), got {eos}")
    return logits


def _ids(answer: ArrayLike, shape: tuple[int, ...]) -> Ids:
    ids = as_ids("choose: what it returns", answer, shape[1])
    if ids.shape != shape[:1]:
        raise ValueError(f"choose must return ids of shape {shape[:1]}, got {ids.shape}")
    return ids
