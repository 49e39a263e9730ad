"""Which explanations of a failed output the observations can tell apart, and what is still undetermined.

Five explanations, on two floors. Of the two sequences as wholes:

    search   the model scores the target higher, the search did not return it
    model    the model scores the output higher

Of the distribution at the first wrong step, whatever the scores of the wholes:

    history  the model was misled by wrong tokens that it had written itself
    reading  the decoder read the wrong place of the source
    source   what it read from does not hold what the target needs

They do not exclude each other between the floors: a model may prefer the wrong text because it misreads. An observation
settles an explanation (2), hints (1), or cannot tell (0). The rules, with their reasons, are the functions below.

What the rules do not know: a fault behind the read (an output layer, say) is none of the five, and an aimed read can
outdo it, so `reading` is then established although weights and hiding say otherwise: `Verdict.contrary` names these.
All scores are log probabilities without a length penalty, and so must be those that the beam ranked by; under a penalty
a text that was kept may lose although its log p is higher.

Search and model by the two scores, `generate.hypotheses.blame`: sections 3.15 and 3.16 of the course. History by the
first difference: section 3.13. That weights are no use: compare Jain and Wallace 2019 (arXiv:1902.10186); here the step
is run again instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from onesentence.seq2seq.observed import Observations, StepSeen

Explanation: TypeAlias = Literal["search", "model", "history", "reading", "source"]
Observation: TypeAlias = Literal["scores", "beam", "steps", "first", "weights", "hidden", "aimed", "twin"]
Status: TypeAlias = Literal["established", "supported", "undetermined", "weakened", "excluded"]

SETTLES: dict[Explanation, tuple[Observation, ...]] = {
    "search": ("scores", "beam"),
    "model": ("scores", "beam"),
    "history": (),
    "reading": ("aimed", "hidden", "weights"),
    "source": ("twin", "aimed"),
}
"""The observations that bear on each explanation, the strongest first; the first difference needs no other."""

EVEN = 1e-9  # weights closer together than this point nowhere


@dataclass(frozen=True)
class Evidence:
    """What one observation says of one explanation.

    Attributes:
        observation: which.
        explanation: of which.
        weight: 2 settles it for, 1 hints for, 0 cannot tell, -1 hints against, -2 settles it against.
    """

    observation: Observation
    explanation: Explanation
    weight: int


@dataclass(frozen=True)
class Verdict:
    """What the observations of one failure come to.

    Attributes:
        first_error: position of the first wrong token, from 0.
        evidence: all of it, also what cannot tell.
        missing: per explanation that is undetermined, the observations nobody made that bear on it.
        later: of the target's positions behind the first error, how many are wrong behind the output's history and how
            many behind the target's; None without both paths. It says what history does after a first error.
    """

    first_error: int
    evidence: tuple[Evidence, ...]
    missing: dict[Explanation, tuple[Observation, ...]]
    later: tuple[int, int] | None

    def weights(self, explanation: Explanation) -> tuple[int, ...]:
        """Return the weights of the evidence on an explanation."""
        return tuple(e.weight for e in self.evidence if e.explanation == explanation)

    def status(self, explanation: Explanation) -> Status:
        """Return what an explanation has come to; what settles it outdoes hints, opposite hints decide nothing."""
        if explanation not in get_args(Explanation):
            raise ValueError(
                f"explanation: expected one of {', '.join(get_args(Explanation))}, got {explanation!r}"
            )
        return _status(self.weights(explanation))

    def contrary(self, explanation: Explanation) -> tuple[Observation, ...]:
        """Return the observations that point the other way than what settled an explanation; none if nothing did.

        Example:
            >>> from onesentence.seq2seq.observed import StepSeen
            >>> read = {"wanted": (1,), "weights": (0.1, 0.9), "aimed": StepSeen("y", 0.8, 0.8)}
            >>> diagnose(Observations(("s", "t"), ("x", "y"), ("x", "z"), **read)).contrary("reading")
            ('weights',)
        """
        settled = {"established": 1, "excluded": -1}.get(self.status(explanation), 0)
        own = (e for e in self.evidence if e.explanation == explanation)
        return tuple(e.observation for e in own if e.weight * settled < 0)


def diagnose(seen: Observations) -> Verdict:
    """Weigh the observations of one failure.

    Args:
        seen: the failure.

    Example:
        >>> verdict = diagnose(Observations(("她",), ("her", "EOS"), ("him", "EOS"), log_p=(-6.4, -8.2)))
        >>> {name: verdict.status(name) for name in ("search", "model", "history", "source")}
        {'search': 'established', 'model': 'excluded', 'history': 'excluded', 'source': 'undetermined'}
        >>> verdict.missing["source"]
        ('twin', 'aimed')
    """
    evidence = (
        Evidence("first", "history", -2),  # before the first difference both histories are the same
        *_of_scores(seen),
        *_of_beam(seen),
        *_of_steps(seen),
        *_of_reading(seen),
        *_of_aimed(seen),
        *_of_twin(seen),
    )
    made = {e.observation for e in evidence}
    verdict = Verdict(seen.first_error, evidence, {}, _later(seen))
    open_ = [name for name in SETTLES if verdict.status(name) == "undetermined"]
    missing = {name: tuple(o for o in SETTLES[name] if o not in made) for name in open_}
    return Verdict(verdict.first_error, evidence, missing, verdict.later)


def _of_scores(seen: Observations) -> Iterator[Evidence]:
    """The higher of two scores says, of this pair, whether the search or the model is at fault; a tie does not."""
    if seen.blamed is None:
        return
    ahead = {"search": 2, "tie": 0, "model": -2}[seen.blamed]
    yield Evidence("scores", "search", ahead)
    yield Evidence("scores", "model", -ahead)


def _of_beam(seen: Observations) -> Iterator[Evidence]:
    """Kept whole and not returned: it scores no higher. Pruned: where it was lost, if it would have won at all.

    Holds for a search that ranked by log p, without a length penalty, and that returned this very output.
    """
    if not seen.beam:
        return
    if seen.kept:
        yield Evidence("beam", "search", -2)
        yield Evidence("beam", "model", 0 if seen.blamed == "tie" else 2)
        return
    lost = seen.blamed == "search" and seen.beam[-1] == "pruned"
    yield Evidence("beam", "search", 1 if lost else 0)
    yield Evidence("beam", "model", 0)


def _of_steps(seen: Observations) -> Iterator[Evidence]:
    """A wrong token that is likelier at its step: a search may stumble over it, a model may mean it."""
    steps = seen.forced or (seen.free if seen.first_error < len(seen.free) else ())
    if not steps or _writes(steps[seen.first_error], seen):
        return
    yield Evidence("steps", "search", 0)
    yield Evidence("steps", "model", 0)


def _of_reading(seen: Observations) -> Iterator[Evidence]:
    """Hiding a position shows whether it is used; weights hint, unless hiding shows that they mislead."""
    if not seen.wanted:
        return
    used = None if seen.hidden is None else _top(seen.hidden, seen.wanted)
    if seen.weights is not None:
        right = _top(seen.weights, seen.wanted)
        misleads = right is not None and used is not None and right != used
        yield Evidence("weights", "reading", 0 if right is None or misleads else -1 if right else 1)
    if seen.hidden is not None:
        yield Evidence("hidden", "reading", 0 if used is None else -1 if used else 1)


def _of_aimed(seen: Observations) -> Iterator[Evidence]:
    """Only the place of the read changes: if that repairs the token, the read was wrong and the source holds it."""
    if seen.aimed is None:
        return
    repaired = _writes(seen.aimed, seen)
    yield Evidence(
        "aimed", "reading", 2 if repaired else -1
    )  # a read that training never did may fail by itself
    yield Evidence("aimed", "source", -1 if repaired else 0)


def _of_twin(seen: Observations) -> Iterator[Evidence]:
    """Two sources that need two tokens and give the decoder the same: no decoder can write both."""
    if seen.twin is not None:
        yield Evidence("twin", "source", 2 if seen.twin < EVEN else 0)


def _writes(step: StepSeen, seen: Observations) -> bool:
    """Return whether the target's token is the likeliest of its step."""
    return bool(step.likeliest == seen.target[seen.first_error])


def _top(values: tuple[float, ...], wanted: tuple[int, ...]) -> bool | None:
    """Return whether the largest value stands at a wanted position, None if all are even."""
    row = np.array(values)
    return None if np.ptp(row) < EVEN else int(row.argmax()) in wanted


def _status(weights: tuple[int, ...]) -> Status:
    if 2 in weights:
        return "established"
    if -2 in weights:
        return "excluded"
    if 1 in weights and -1 not in weights:
        return "supported"
    return "weakened" if -1 in weights and 1 not in weights else "undetermined"


def _later(seen: Observations) -> tuple[int, int] | None:
    if not (seen.forced and seen.free):
        return None
    later = range(seen.first_error + 1, len(seen.target))
    free = sum(seen.output[at : at + 1] != seen.target[at : at + 1] for at in later)
    return free, sum(seen.forced[at].likeliest != seen.target[at] for at in later)
