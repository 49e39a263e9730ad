"""Every text of a small model: what a search should have found, and what one given text scores.

All prefixes within the limit are walked, so the cost grows as V to the power of the limit: for trees and toy models.
Where there are more than `most` of them, it stops with an error instead of running for ever; `exact_search` finds the
best text alone, mostly after far fewer.
Section 3.17 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onesentence.checks import checked_integer
from onesentence.generate.beam_plain import Step
from onesentence.generate.checks import checked_logits
from onesentence.generate.hypotheses import Hypothesis, LengthPenalty, checked_penalty
from onesentence.numerics import FloatArray, log_softmax


def exhaustive(
    step: Step,
    state: Any,
    *,
    bos: int,
    eos: int,
    limit: int,
    penalty: LengthPenalty | None = None,
    most: int = 100_000,
) -> tuple[Hypothesis, ...]:
    """Return every text that the model gives a probability, best score first; cut ones stand behind ended ones.

    Args:
        step: takes ids (1,) and a state, returns logits (1, V) and the next state; must not change the state.
        state: the state before the first step.
        bos: id that is read first.
        eos: id in [0, V) that ends a text.
        limit: largest number of tokens, EOS among them; a text of that length without EOS is cut.
        penalty: length penalty; None has alpha 0.
        most: largest number of prefixes that may be walked, the empty one among them: calls of `step`.

    Raises:
        TypeError: if an id, the limit or `most` is no integer, or the penalty is none.
        ValueError: if one is out of range, the logits hold NaN or +inf or a row of -inf only, or there are more
            prefixes than `most`.

    Example:
        >>> p = np.array([[0, 0, 0.6, 0.4], [0, 1, 0, 0], [0, 0.5, 0.5, 0], [0, 1, 0, 0]])
        >>> with np.errstate(divide="ignore"):
        ...     logits = np.log(p)
        >>> step = lambda ids, state: (logits[ids], state)
        >>> for text in exhaustive(step, None, bos=0, eos=1, limit=2):
        ...     print(text.ids, round(float(np.exp(text.log_prob)), 3), text.ended)
        (3, 1) 0.4 True
        (2, 1) 0.3 True
        (2, 2) 0.3 False
    """
    bos, eos = checked_integer("bos", bos, 0), checked_integer("eos", eos, 0)
    limit, most = checked_integer("limit", limit, 1), checked_integer("most", most, 1)
    rule, walked, texts = checked_penalty(penalty), 0, []
    todo: list[tuple[tuple[int, ...], float, Any]] = [((), 0.0, state)]  # the last one goes on: depth first
    while todo:
        ids, total, before = todo.pop()
        walked += 1
        if walked > most:
            raise ValueError(f"limit: more than most = {most} prefixes within {limit} tokens")
        log_p, after = next_log_p(step, ids[-1] if ids else bos, before, eos)
        for token in np.flatnonzero(log_p > -np.inf)[::-1].tolist():
            new, sum_, ended = (*ids, token), total + float(log_p[token]), token == eos
            if ended or len(new) == limit:
                texts.append(Hypothesis(new, sum_, rule.score(sum_, len(new), ended=ended), ended))
            else:
                todo.append((new, sum_, after))
    return tuple(sorted(texts, key=lambda text: (not text.ended, -text.score, text.ids)))


def score_text(
    step: Step, state: Any, ids: Sequence[int], *, bos: int, eos: int, penalty: LengthPenalty | None = None
) -> Hypothesis:
    """Return one given text with its log probability: the model reads the text itself, not its own choices.

    Args:
        step: as for `exhaustive`.
        state: the state before the first step.
        ids: the text, at least one token; EOS may stand only at its end.
        bos: id that is read first.
        eos: id that ends a text.
        penalty: length penalty; None has alpha 0.

    Raises:
        TypeError, ValueError: as `exhaustive`; ValueError too if the text is empty, goes on behind EOS or holds an id
            outside the logits.

    Example:
        >>> step = lambda ids, state: (np.log([[0.25, 0.75]]), state)
        >>> round(float(np.exp(score_text(step, None, [1, 1, 0], bos=0, eos=0).log_prob)), 6)
        0.140625
    """
    text, rule = [checked_integer("ids", i, 0) for i in ids], checked_penalty(penalty)
    eos = checked_integer("eos", eos, 0)
    if not text or eos in text[:-1]:
        raise ValueError(f"ids: expected at least one token and EOS at the end only, got {text}")
    total, read = 0.0, checked_integer("bos", bos, 0)
    for token in text:
        log_p, state = next_log_p(step, read, state, eos)
        if token >= len(log_p):
            raise ValueError(f"ids must lie in [0, {len(log_p)}), got {token}")
        total, read = total + float(log_p[token]), token
    ended = text[-1] == eos
    return Hypothesis(tuple(text), total, rule.score(total, len(text), ended=ended), ended)


def next_log_p(step: Step, read: int, state: Any, eos: int) -> tuple[FloatArray, Any]:
    """Return the log probabilities behind one more token, and the state.

    Args:
        step: as for `exhaustive`.
        read: the token.
        state: the state before it is read; stays as it is.
        eos: id that ends a text, only to see that the logits reach that far.

    Returns:
        Log probabilities (V,) in nats, and the state behind the token.

    Raises:
        ValueError: if `step` returns another shape than (1, V) with V > eos, NaN, +inf or a row of -inf only.

    Example:
        >>> step = lambda ids, state: (np.log([[0.25, 0.75]]) + 9.0, state)
        >>> np.exp(next_log_p(step, 1, None, 0)[0]).round(6).tolist()
        [0.25, 0.75]
    """
    logits, state = step(np.array([read]), state)
    scores = checked_logits(logits)
    if scores.ndim != 2 or len(scores) != 1 or eos >= scores.shape[1]:
        raise ValueError(f"step must return logits of shape (1, V) with V > eos = {eos}, got {scores.shape}")
    return log_softmax(scores)[0], state
