"""What was seen of one failed output: the material of `seq2seq.diagnosis`, checked before anything is concluded.

A failure is a source, the target that was wanted and the output that came. Everything else may be missing: the log
probabilities of both, the steps behind both histories, what a search made of the target, and four observations of the
first wrong step, weights, hiding a position, reading where one should, and a twin of the source. Sections 3.12 to 3.16
and 3.20 of the course.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import checked_integer
from onesentence.generate.hypotheses import TIE, Fate, blame
from onesentence.numerics import as_floats
from onesentence.seq2seq.evaluation import first_difference

CLOSE = TIE
"""Two probabilities of one model closer than this count as equal; so do, in `blame`, two log probabilities (nats)."""

SUM = 1e-3
"""How far a stated log probability (nats) may lie from the sum over the steps."""


@dataclass(frozen=True)
class StepSeen:
    """One step of a model: its likeliest token, and what the target's token of that step number got.

    Attributes:
        likeliest: a token.
        p_likeliest: its probability.
        p_target: probability of the target's token, None behind the target's end.
    """

    likeliest: Any
    p_likeliest: float
    p_target: float | None

    def __post_init__(self) -> None:
        for name in ("p_likeliest", "p_target"):
            value = getattr(self, name)
            if name == "p_target" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, Real):
                raise TypeError(f"{name} must be a number, got {value!r}")
            if not 0 <= float(value) <= 1 + CLOSE:
                raise ValueError(f"{name} must lie in [0, 1], got {value}")
        if self.p_target is not None and self.p_target > self.p_likeliest + CLOSE:
            raise ValueError(
                f"p_target must be at most p_likeliest = {self.p_likeliest:g}, got {self.p_target:g}"
            )

    @classmethod
    def of(cls, log_p: ArrayLike, target: int | None) -> StepSeen:
        """Return what is kept of a distribution.

        Args:
            log_p: log probabilities, (V,), in nats.
            target: id of the target's token, in [0, V), None behind its end.

        Raises:
            TypeError: if `log_p` is not real or `target` no integer.
            ValueError: if `log_p` is no vector or `target` lies outside it.

        Example:
            >>> StepSeen.of(np.log([0.25, 0.75]), 0)
            StepSeen(likeliest=1, p_likeliest=0.75, p_target=0.25)
        """
        p = np.exp(as_floats("log_p", log_p))
        if p.ndim != 1 or not p.size:
            raise ValueError(f"log_p must have shape (V,) with V >= 1, got {p.shape}")
        if target is not None and checked_integer("target", target, 0) >= len(p):
            raise ValueError(f"target must lie in [0, {len(p)}), got {target}")
        return cls(int(p.argmax()), float(p.max()), None if target is None else float(p[target]))


@dataclass(frozen=True)
class Observations:
    """A failure and what is known of it; None and () stand for what nobody looked at.

    Attributes:
        source: tokens, S of them.
        target: tokens, EOS at the end.
        output: tokens, EOS at the end if it came; not the target.
        log_p: log p of target and output under the model, nats, EOS counted, without a length penalty.
        forced: steps behind the target's own history, one per token of the target.
        free: steps behind the output's own history, one per token of the output.
        beam: what the rounds of the search that returned the output, and ranked without a length penalty, made of the
            target's beginnings, as `generate.hypotheses.follow` gives them; `ended` or `aside` at the end says that it
            was kept whole.
        wanted: source positions, from 0, that the target's token at the first error depends on.
        weights: over the source at the first error, S of them.
        hidden: per source position, how far the distribution at the first error moves when only that step may not
            read it, total variation in [0, 1].
        aimed: the first wrong step again, reading nothing but `wanted`.
        twin: largest absolute difference between what the decoder gets from the source and from a twin whose right
            token at the first error is another.
    """

    source: tuple[Any, ...]
    target: tuple[Any, ...]
    output: tuple[Any, ...]
    log_p: tuple[float, float] | None = None
    forced: tuple[StepSeen, ...] = ()
    free: tuple[StepSeen, ...] = ()
    beam: tuple[Fate, ...] = ()
    wanted: tuple[int, ...] = ()
    weights: tuple[float, ...] | None = None
    hidden: tuple[float, ...] | None = None
    aimed: StepSeen | None = None
    twin: float | None = None

    def __post_init__(self) -> None:
        for name in ("source", "target", "output"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # a list is never equal to a tuple
        if not self.source or not self.target:
            raise ValueError("source, target: expected at least one token each")
        if self.target == self.output:
            raise ValueError("output: it is the target, there is no failure to explain")
        if self.output[: len(self.target)] == self.target:
            raise ValueError("output: it goes on behind the target's end, no step of the target is wrong")
        self._check_paths()
        self._check_scores()
        self._check_beam()
        self._check_read()

    @property
    def first_error(self) -> int:
        """The first position, from 0, at which output and target differ: the histories before it are equal."""
        first = first_difference(self.output, self.target)
        assert first is not None
        return first

    def _check_paths(self) -> None:
        for name, steps, text in (("forced", self.forced, self.target), ("free", self.free, self.output)):
            if steps and len(steps) != len(text):
                raise ValueError(f"{name}: expected {len(text)} steps, one per token, got {len(steps)}")
        if not (self.forced and self.free):
            return
        for at in range(min(self.first_error + 1, len(self.free))):
            one, two = self.forced[at], self.free[at]
            near = abs(one.p_likeliest - two.p_likeliest) < CLOSE
            if one.p_target is not None and two.p_target is not None:
                near = near and abs(one.p_target - two.p_target) < CLOSE
            if not near:
                raise ValueError(
                    f"forced, free: step {at + 1} stands behind the same history and must be the same in both"
                )

    def _check_scores(self) -> None:
        if self.log_p is None:
            return
        if any(isinstance(x, bool) or not isinstance(x, Real) for x in self.log_p):
            raise TypeError(f"log_p must be two log probabilities, got {self.log_p}")
        if len(self.log_p) != 2 or not all(x <= 0 for x in self.log_p):  # false for NaN too
            raise ValueError(f"log_p must be two log probabilities of at most 0, got {self.log_p}")
        factors = [step.p_target for step in self.forced]
        if factors and all(factors):
            total = math.fsum(math.log(p) for p in factors if p)
            if abs(total - self.log_p[0]) > SUM:
                raise ValueError(f"log_p: the target's is {self.log_p[0]:g}, its steps sum to {total:g}")

    def _check_beam(self) -> None:
        if unknown := [fate for fate in self.beam if fate not in get_args(Fate)]:
            raise ValueError(f"beam: expected {', '.join(get_args(Fate))}, got {unknown[0]!r}")
        if self.kept and self.blamed == "search":
            raise ValueError(
                "beam, log_p: a search that keeps the target to the end returns nothing that scores lower"
            )

    @property
    def blamed(self) -> Literal["search", "model", "tie"] | None:
        """What the two scores say, None without them."""
        return None if self.log_p is None else blame(*self.log_p)

    @property
    def kept(self) -> bool:
        """Whether a search kept the whole target to its end."""
        return bool(self.beam) and self.beam[-1] in ("ended", "aside")

    def _check_read(self) -> None:
        size = len(self.source)
        for position in self.wanted:
            if checked_integer("wanted", position, 0) >= size:
                raise ValueError(f"wanted must lie in [0, {size}), got {position}")
        for name, values in (("weights", self.weights), ("hidden", self.hidden)):
            if values is None:
                continue
            if len(values) != size or not all(0 <= x <= 1 + CLOSE for x in values):
                raise ValueError(f"{name} must be {size} numbers in [0, 1], got {values}")
        if self.weights is not None and abs(math.fsum(self.weights) - 1) > CLOSE:
            raise ValueError(f"weights must sum to 1, got {math.fsum(self.weights):g}")
        if self.aimed is not None and not self.wanted:
            raise ValueError("aimed: expected wanted to say where that step read")
        if self.twin is not None and not self.twin >= 0:
            raise ValueError(f"twin must be a difference of at least 0, got {self.twin}")
