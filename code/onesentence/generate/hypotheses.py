"""What a search over texts keeps: hypotheses with their scores, what became of every candidate, what was found.

A hypothesis is a prefix y_1 ... y_t that a model has read, open, or ended by EOS. Its score is

    score = log p(y_1 ... y_t) / lp(n)      lp(n) = ((5 + n) / 6)^alpha     "gnmt"
                                            lp(n) = n^alpha                 "power"

with log p in nats, the probability of EOS in it where EOS was chosen, and n the number of tokens, at least 1; whether
EOS counts in n is a setting (here by default not). With alpha = 0 the score is the log probability and the search looks
for the most probable text; any other alpha is another objective.

No continuation adds to log p <= 0, and lp does not fall with n. So log p / lp(limit) is the most that any continuation
of an open hypothesis within the limit can score: the bound that makes it safe to stop early.

Section 3.18 of the course; "gnmt": Wu et al. 2016 (arXiv:1609.08144), section 7, equation 14, without their coverage
term. Search error and model error told apart by scores: sections 3.15 and 3.16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from numbers import Real
from typing import Literal, TypeAlias, get_args

from onesentence.checks import checked_integer

Finished: TypeAlias = Literal["in_beam", "apart"]
"""Whether an ended hypothesis holds a place of the beam until better ones push it out, or is put aside."""

Stop: TypeAlias = Literal["bound", "all", "full"]
"""When a source's search is over before the limit; `beam.beam_search` says how."""

Fate: TypeAlias = Literal["open", "ended", "aside", "pruned"]
"""What becomes of a candidate: kept and open, kept and ended, ended and put aside, thrown away."""

TIE = 1e-6
"""Scores (nats, over the length penalty) of one model no farther apart than this count as equal: rounding moves less."""


@dataclass(frozen=True)
class LengthPenalty:
    """The divisor of log probabilities, lp(n).

    Attributes:
        alpha: exponent, finite and at least 0; 0 divides by 1. A negative one would make the bound wrong.
        kind: "gnmt" or "power".
        count_eos: whether n counts EOS.

    Example:
        >>> LengthPenalty(1.0).divisor(7), LengthPenalty(1.0, "power").divisor(7)
        (2.0, 7.0)
        >>> LengthPenalty(1.0, "power").score(-6.0, 3, ended=True)  # two words and EOS
        -3.0
    """

    alpha: float = 0.0
    kind: Literal["gnmt", "power"] = "gnmt"
    count_eos: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, Real):
            raise TypeError(f"alpha must be a number, got {self.alpha!r}")
        if not (isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"alpha must be finite and at least 0, got {self.alpha}")
        if self.kind not in ("gnmt", "power"):
            raise ValueError(f"kind: expected gnmt or power, got {self.kind!r}")
        if not isinstance(self.count_eos, bool):
            raise TypeError(f"count_eos must be True or False, got {self.count_eos!r}")
        object.__setattr__(self, "alpha", float(self.alpha))

    def divisor(self, n: int) -> float:
        """Return lp(n) for n tokens; n below 1 is taken as 1.

        Raises:
            ValueError: if lp(n) is larger than a float can be.
        """
        length = max(1, n)
        base = (5 + length) / 6 if self.kind == "gnmt" else float(length)
        try:
            return float(base**self.alpha)
        except OverflowError as error:
            raise ValueError(f"alpha: lp({length}) is beyond a float, got {self.alpha:g}") from error

    def score(self, log_prob: float, tokens: int, *, ended: bool) -> float:
        """Return the score of a hypothesis.

        Args:
            log_prob: nats, at most 0.
            tokens: how many tokens it has, EOS among them.
            ended: whether the last one is EOS.
        """
        return log_prob / self.divisor(tokens - (ended and not self.count_eos))

    def bound(self, log_prob: float, limit: int) -> float:
        """Return the most that a continuation of an open hypothesis can score within `limit` tokens."""
        return log_prob / self.divisor(limit)


def checked_penalty(penalty: LengthPenalty | None) -> LengthPenalty:
    """Return the penalty, one with alpha 0 for None.

    Raises:
        TypeError: if it is anything else; 0 is no penalty.
    """
    if penalty is not None and not isinstance(penalty, LengthPenalty):
        raise TypeError(f"penalty must be a LengthPenalty, got {penalty!r}")
    return LengthPenalty() if penalty is None else penalty


@dataclass(frozen=True)
class Hypothesis:
    """A text or the beginning of one.

    Attributes:
        ids: its tokens, without BOS; EOS is the last if it ended.
        log_prob: log p of these tokens in nats, EOS's among them.
        score: log_prob over the length penalty.
        ended: whether EOS was chosen; False is no finished text, whatever the limit did to it.
    """

    ids: tuple[int, ...]
    log_prob: float
    score: float
    ended: bool


@dataclass(frozen=True)
class Candidate(Hypothesis):
    """A hypothesis at the moment when a round of the search decided on it.

    Attributes:
        rank: its place among the candidates of its round, from 0; below the width it is kept.
        fate: what became of it.
    """

    rank: int
    fate: Fate


@dataclass(frozen=True)
class Found:
    """What the search for one source came to.

    Attributes:
        texts: the ended hypotheses, best score first; behind them what was still open, best first.
        stopped: "ended" where nothing was open any more, "bound", "full" or "limit".
        rounds: for each round its candidates by rank; empty unless records were asked for.
    """

    texts: tuple[Hypothesis, ...]
    stopped: Literal["ended", "bound", "full", "limit"]
    rounds: tuple[tuple[Candidate, ...], ...] = ()

    @property
    def best(self) -> Hypothesis:
        """The ended hypothesis of the highest score; where none ended, the open one."""
        return self.texts[0]


@dataclass(frozen=True)
class SearchSettings:
    """The settings that both versions of the search share, checked.

    Attributes:
        eos: id that ends a text.
        limit: largest number of tokens, EOS among them, at least 1.
        width: hypotheses kept in each round, at least 1.
        penalty: length penalty.
        finished: what happens to ended hypotheses.
        stop: when to stop before the limit.
    """

    eos: int
    limit: int
    width: int
    penalty: LengthPenalty
    finished: Finished
    stop: Stop

    def __post_init__(self) -> None:
        for name, least in (("eos", 0), ("limit", 1), ("width", 1)):
            object.__setattr__(self, name, checked_integer(name, getattr(self, name), least))
        checked_penalty(self.penalty).divisor(self.limit)
        for name, known in (("finished", get_args(Finished)), ("stop", get_args(Stop))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: expected one of {', '.join(known)}, got {getattr(self, name)!r}")
        if self.stop == "full" and self.finished == "in_beam":
            raise ValueError("stop: 'full' counts texts put aside and needs finished='apart', got 'in_beam'")

    def over(self, ended: int, best: float, most: float | None) -> Literal["ended", "bound", "full"] | None:
        """Say why a search is over after a round, None if it is not.

        Args:
            ended: number of ended hypotheses.
            best: the highest score among them; not looked at if there is none.
            most: the highest log probability of an open hypothesis, None if there is none.
        """
        if most is None:
            return "ended"
        if self.stop == "full" and ended >= self.width:
            return "full"
        if self.stop == "bound" and ended and best >= self.penalty.bound(most, self.limit):
            return "bound"
        return None


def found_of(
    hypotheses: Sequence[Hypothesis],
    stopped: Literal["ended", "bound", "full", "limit"],
    rounds: Sequence[Sequence[Candidate]] = (),
) -> Found:
    """Return what was found, hypotheses sorted: ended ones first, then by score, equal ones as they come."""
    texts = sorted(hypotheses, key=lambda h: (not h.ended, -h.score))
    return Found(tuple(texts), stopped, tuple(map(tuple, rounds)))


def follow(found: Found, ids: Sequence[int]) -> tuple[Candidate, ...]:
    """Return what each round made of one text's beginnings, up to the round that threw it away or put it aside.

    Args:
        found: a search that kept records.
        ids: the text, EOS included.

    Returns:
        A candidate per round; the last one's fate says whether the text survived. Fewer where the search ended
        before, none if the model gives the first token no probability.

    Raises:
        ValueError: if the search kept no records or `ids` is empty.
    """
    text = tuple(ids)
    if not found.rounds or not text:
        raise ValueError("found, ids: expected a search with record=True and a text of at least one token")
    steps = []
    for number, candidates in enumerate(found.rounds, start=1):
        here = next((c for c in candidates if c.ids == text[:number]), None)
        if here is None:
            break
        steps.append(here)
        if here.fate in ("pruned", "aside"):
            break
    return tuple(steps)


def blame(target: float, returned: float, *, tie: float = TIE) -> Literal["search", "model", "tie"]:
    """Say what two scores prove about a search that returned another text than the target.

    "search": the target scores higher, so the search missed at least this better one.
    "model": what was returned scores higher; no better search can return the target instead.
    "tie": neither does. Nothing is said about texts other than these two, and where the target was pruned says less.

    Args:
        target: score of the text that should have been returned.
        returned: score of the one that was, under the same model and length penalty.
        tie: scores no farther apart than this count as equal, at least 0.

    Raises:
        ValueError: if a score is NaN, or `tie` is negative or NaN.

    Example:
        >>> blame(-6.4, -8.2), blame(-8.2, -6.4), blame(-6.4, -6.4)
        ('search', 'model', 'tie')
    """
    if isnan(target) or isnan(returned):
        raise ValueError(f"target, returned: expected two scores, got {target} and {returned}")
    if not tie >= 0:
        raise ValueError(f"tie must be at least 0, got {tie}")
    if target == returned or abs(target - returned) <= tie:  # equal first: -inf less -inf is NaN
        return "tie"
    return "search" if target > returned else "model"
