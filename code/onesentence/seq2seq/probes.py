"""Run a reader's first wrong step again with one thing changed: what it may read, or the source.

A reader reads rows of source states, so a step that may not read position j is the same step over the other rows, and
a step that reads j alone is the step over that row; all steps before it, and so the decoder's state, stay as they were.
Works on `reversal_teaching.TeachingReader`, on `planted.PlantedReader`, and on any reader of that shape.

Sections 3.13 and 3.20 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Protocol

import numpy as np

from onesentence.checks import as_ids
from onesentence.generate.hypotheses import Fate
from onesentence.numerics import FloatArray, log_softmax
from onesentence.seq2seq.evaluation import first_difference
from onesentence.seq2seq.observed import Observations, StepSeen


class Reader(Protocol):
    """A model that reads rows of source states; its state is a dataclass with `states` (S, D) and `weights` (S,)."""

    def start(self, source: Any) -> Any:
        """Read ids (S,) and return the state before BOS."""
        ...

    def step(self, token: int, state: Any) -> tuple[FloatArray, Any]:
        """Read the source, then one id; return logits (V,) and a state."""
        ...


def total_variation(log_p: FloatArray, log_q: FloatArray) -> float:
    """Return half the sum of |p - q|, from 0 to 1.

    Args:
        log_p: log probabilities in nats, (V,).
        log_q: those of another distribution, (V,).

    Raises:
        ValueError: if they are no two distributions over the same symbols.

    Example:
        >>> total_variation(np.log([0.5, 0.5]), np.log([0.25, 0.75]))
        0.25
    """
    p, q = np.exp(log_p), np.exp(log_q)
    if p.ndim != 1 or p.shape != q.shape:
        raise ValueError(f"log_p and log_q must have one shape (V,), got {p.shape} and {q.shape}")
    for name, total in (("log_p", p.sum()), ("log_q", q.sum())):
        if not abs(total - 1) < 1e-6:
            raise ValueError(f"{name}: expected probabilities that sum to 1, got {total}")
    return float(np.abs(p - q).sum() / 2)


def observe(
    reader: Reader,
    source: Sequence[int],
    target: Sequence[int],
    output: Sequence[int],
    *,
    bos: int,
    wanted: Sequence[Sequence[int]],
    twin: Sequence[int] | None = None,
    beam: Sequence[Fate] = (),
) -> Observations:
    """Make every observation of a failure that a reader allows.

    Args:
        reader: the model.
        source: ids, S of them, at least 2.
        target: ids, EOS at the end.
        output: ids, EOS at the end if it came.
        bos: what the first step reads.
        wanted: per token of the target the source positions that it depends on, none for a token like EOS.
        twin: a source of the same length whose right token at the first error is another.
        beam: fates of the target in the search that returned the output.

    Raises:
        TypeError: if ids are no integers.
        ValueError: if `wanted` has not one entry per token of the target or names a position that the source has not,
            the source is too short to hide a position of, twin and source differ in length, a text is empty or has an
            id outside the vocabulary, or output is the target or goes on behind it.
    """
    ids, right, wrote = (
        as_ids(*pair).tolist() for pair in (("source", source), ("target", target), ("output", output))
    )
    if len(wanted) != len(right):
        raise ValueError(f"wanted: expected {len(right)} entries, one per token of target, got {len(wanted)}")
    if len(ids) < 2:
        raise ValueError(f"source: expected at least 2 tokens, one to hide and one to read, got {len(ids)}")
    if twin is not None and len(twin) != len(ids):
        raise ValueError(f"twin: expected {len(ids)} tokens as in source, got {len(twin)}")
    at = first_difference(wrote, right)
    if at is None:
        raise ValueError("output: it is the target, there is no failure to explain")
    if at == len(right):
        raise ValueError(f"output: it goes on behind the target, got {wrote}; a generation ends with EOS")
    need = tuple(as_ids("wanted", wanted[at], len(ids)).tolist())
    forced, free = followed(reader, ids, right, bos), followed(reader, ids, wrote, bos)
    before, fed = _before(reader, ids, right[:at], bos)
    usual, after = _log_p(reader, fed, before)
    hidden = [
        total_variation(
            usual, _log_p(reader, fed, reading(before, [k for k in range(len(ids)) if k != j]))[0]
        )
        for j in range(len(ids))
    ]
    aimed = StepSeen.of(_log_p(reader, fed, reading(before, need))[0], right[at]) if need else None
    gap = None if twin is None else difference(reader.start(np.array(ids)), reader.start(np.array(twin)))
    return Observations(
        tuple(ids),
        tuple(right),
        tuple(wrote),
        log_p=(_total(forced, right), _total(free, wrote)),
        forced=tuple(StepSeen.of(row, y) for row, y in zip(forced, right, strict=True)),
        free=tuple(StepSeen.of(row, _at(right, t)) for t, row in enumerate(free)),
        beam=tuple(beam),
        wanted=need,
        weights=tuple(after.weights.tolist()),
        hidden=tuple(min(1.0, x) for x in hidden),
        aimed=aimed,
        twin=gap,
    )


def followed(reader: Reader, source: Sequence[int], text: Sequence[int], bos: int) -> list[FloatArray]:
    """Return log probabilities (V,) of each step behind a text's own history.

    Args:
        reader: the model.
        source: ids.
        text: ids; the last one is not read.
        bos: what the first step reads.

    Raises:
        TypeError: if the text holds no integers.
        ValueError: if it is empty or has an id outside the vocabulary.
    """
    if not len(text):
        raise ValueError("text: expected at least one token, got none")
    state, rows = reader.start(np.array(source)), []
    for token, after in zip((bos, *text[:-1]), text, strict=True):
        row, state = _log_p(reader, token, state)
        as_ids("text", after, len(row))  # before a reader counts a negative id from the end
        rows.append(row)
    return rows


def reading(state: Any, positions: Sequence[int]) -> Any:
    """Return a state whose next step can read only these positions of the source.

    Raises:
        TypeError: if they are no integers.
        ValueError: if there is none, or one lies outside.
    """
    rows = as_ids("positions", list(positions), len(state.states))
    if not rows.size:
        raise ValueError("positions: expected at least one, got none")
    return replace(state, states=state.states[rows], weights=np.full(len(rows), 1 / len(rows)))


def difference(one: Any, two: Any) -> float:
    """Return the largest absolute difference between two states: of source states, decoder's start and all the rest.

    Args:
        one: a number, an array, None, or tuples, lists and dataclasses of such.
        two: another of the same build; arrays of another shape differ by infinity.

    Raises:
        TypeError: if they are of different kinds or hold anything else.

    Example:
        >>> difference((np.zeros(2), 1), (np.array([0.5, 0.0]), 1))
        0.5
    """
    if one is None and two is None:
        return 0.0
    mixed = type(one) is not type(two) and any(x is None or isinstance(x, (tuple, list)) for x in (one, two))
    if mixed or isinstance(one, str):
        raise TypeError(f"one, two: expected states of one kind, got {one!r} and {two!r}")
    if is_dataclass(one) and type(one) is type(two):
        return max(difference(getattr(one, f.name), getattr(two, f.name)) for f in fields(one))
    if isinstance(one, (tuple, list)):
        if len(one) != len(two):
            return np.inf
        return max((difference(a, b) for a, b in zip(one, two, strict=True)), default=0.0)
    a, b = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    return float(np.abs(a - b).max(initial=0.0)) if a.shape == b.shape else np.inf


def _before(reader: Reader, source: Sequence[int], history: Sequence[int], bos: int) -> tuple[Any, int]:
    """Return the state before the step that comes after a history, and the token which that step reads."""
    state = reader.start(np.array(source))
    tokens = [bos, *history]
    for token in tokens[:-1]:
        _, state = reader.step(token, state)
    return state, tokens[-1]


def _log_p(reader: Reader, token: int, state: Any) -> tuple[FloatArray, Any]:
    logits, after = reader.step(token, state)
    return log_softmax(logits), after


def _total(rows: list[FloatArray], text: Sequence[int]) -> float:
    return float(sum(row[token] for row, token in zip(rows, text, strict=True)))


def _at(target: Sequence[int], position: int) -> int | None:
    return target[position] if position < len(target) else None
