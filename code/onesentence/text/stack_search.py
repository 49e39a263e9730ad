"""Stack search: the best derivations of a phrase model, without trying all of them.

Hypotheses are kept on one stack for each number of source words translated. From the emptiest stack on, the best
of each are extended by every option that still fits. Two hypotheses that have translated the same words, ended at
the same place and wrote the same last `order` - 1 words have the same future: they are recombined, which loses
nothing. Then each stack is cut to `stack_size`, by score so far plus an estimate of what the untranslated spans
will still add; that can lose the best derivation.

The estimate of a span is the best, over all ways to cut it, of translation, word weight and language model inside
each phrase alone; jumps are left out. Sources: Koehn, Och and Marcu 2003, section 2.2; Koehn 2004
(Pharaoh). Section 1.2 of the course.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from onesentence.text.phrase import EOS, Derivation, Features, Option, PhraseModel
from onesentence.text.phrase_table import Phrase


@dataclass(frozen=True)
class SearchResult:
    """What a search found, and what it cost.

    Attributes:
        derivations: the best first; different derivations may write the same words.
        extended: how many extensions were scored.
        recombined: how many of them met a hypothesis with the same future.
        pruned: how many hypotheses were cut from full stacks.
    """

    derivations: tuple[Derivation, ...]
    extended: int
    recombined: int
    pruned: int

    @property
    def best(self) -> Derivation:
        """The derivation of the highest score."""
        return self.derivations[0]

    def distinct(self) -> tuple[Derivation, ...]:
        """Return the best derivation of each translation."""
        first: dict[Phrase, Derivation] = {}
        for derivation in self.derivations:
            first.setdefault(derivation.target, derivation)
        return tuple(first.values())


class _Arc(NamedTuple):
    before: _Hypothesis
    option: Option | None  # None closes the sentence
    gain: float


@dataclass(eq=False)
class _Hypothesis:
    covered: int  # bit i: source word i is translated
    context: Phrase
    end: int
    score: float
    estimate: float = 0.0
    arcs: list[_Arc] = field(default_factory=list)


def search(
    model: PhraseModel, source: Sequence[str], *, stack_size: int = 30, n_best: int = 1
) -> SearchResult:
    """Search for the best derivations of a sentence.

    Args:
        model: the model.
        source: source words, at least one.
        stack_size: hypotheses kept for each number of translated words, at least 1.
        n_best: how many derivations to return at most, at least 1.

    Raises:
        ValueError: if `stack_size` or `n_best` is below 1, a word is in no phrase, or no derivation is allowed.
    """
    for name, value in (("stack_size", stack_size), ("n_best", n_best)):
        if value < 1:
            raise ValueError(f"{name}: expected at least 1, got {value}")
    words = tuple(source)
    run = _Run(model, words)
    stacks = [run.start, *({} for _ in words)]
    pruned = 0
    for stack in stacks[:-1]:
        ranked = sorted(stack.values(), key=lambda h: -(h.score + h.estimate))
        pruned += len(ranked[stack_size:])
        for hypothesis in ranked[:stack_size]:
            run.extend(hypothesis, stacks)
    goal = run.close(stacks[-1].values())
    derivations = tuple(model.derive(words, path) for path in _best_paths(goal, n_best))
    return SearchResult(derivations, run.extended, run.recombined, pruned)


def future_estimates(model: PhraseModel, source: Sequence[str]) -> dict[tuple[int, int], float]:
    """Return the estimate of every span: the best weighted score of translating it on its own.

    Args:
        model: the model.
        source: source words.

    Returns:
        (start, end) to the estimate, minus infinity where no phrases cover the span.
    """
    best: dict[tuple[int, int], float] = defaultdict(lambda: -math.inf)
    for option in model.options(source):
        language, _ = model.log_prob(option.target, ())
        span = option.start, option.end
        best[span] = max(best[span], _own_score(model, option) + model.weights.language * language)
    for size in range(2, len(source) + 1):
        for start in range(len(source) - size + 1):
            end = start + size
            cuts = [best[start, cut] + best[cut, end] for cut in range(start + 1, end)]
            best[start, end] = max(best[start, end], *cuts)
    return dict(best)


class _Run:
    """One search over one sentence."""

    def __init__(self, model: PhraseModel, words: Phrase) -> None:
        self.model, self.words = model, words
        self.options = [(option, _bits(option), _own_score(model, option)) for option in model.options(words)]
        self.spans = future_estimates(model, words)
        self.extended = self.recombined = 0
        root = _Hypothesis(0, model.opening, 0, 0.0)
        self.start = {(0, root.context, 0): root}
        self._language: dict[tuple[Phrase, Phrase], tuple[float, Phrase]] = {}
        self._estimates: dict[int, float] = {}

    def extend(self, old: _Hypothesis, stacks: list[dict[tuple[int, Phrase, int], _Hypothesis]]) -> None:
        """Put every extension of a hypothesis on its stack, recombined where it meets its like."""
        weights = self.model.weights
        for option, bits, own in self.options:
            if old.covered & bits or not self.model.jump_allowed(old.end, option.start):
                continue
            covered = old.covered | bits
            if (estimate := self._estimate(covered)) == -math.inf:
                continue  # what is left cannot be covered
            language, context = self._log_prob(option.target, old.context)
            jump = -abs(option.start - old.end)
            gain = own + weights.language * language + weights.distortion * jump
            self.extended += 1
            stack, key = stacks[covered.bit_count()], (covered, context, option.end)
            if key in stack:
                self.recombined += 1
            else:
                stack[key] = _Hypothesis(covered, context, option.end, -math.inf, estimate)
            stack[key].arcs.append(_Arc(old, option, gain))
            stack[key].score = max(stack[key].score, old.score + gain)

    def close(self, complete: Iterable[_Hypothesis]) -> _Hypothesis:
        """Join all complete hypotheses in one goal, EOS written."""
        goal = _Hypothesis((1 << len(self.words)) - 1, (), len(self.words), -math.inf)
        for old in complete:
            language, _ = self._log_prob((EOS,), old.context)
            gain = self.model.weights.language * language
            goal.arcs.append(_Arc(old, None, gain))
            goal.score = max(goal.score, old.score + gain)
        if not goal.arcs:
            limit = self.model.distortion_limit
            raise ValueError(
                f"source: phrases cannot cover {'/'.join(self.words)} with distortion_limit {limit}"
            )
        return goal

    def _log_prob(self, target: Phrase, context: Phrase) -> tuple[float, Phrase]:
        if (found := self._language.get((target, context))) is None:
            found = self._language[target, context] = self.model.log_prob(target, context)
        return found

    def _estimate(self, covered: int) -> float:
        if (found := self._estimates.get(covered)) is None:
            gaps, start = [], None
            for i in range(len(self.words) + 1):
                free = i < len(self.words) and not covered >> i & 1
                if free and start is None:
                    start = i
                elif not free and start is not None:
                    gaps.append(self.spans[start, i])
                    start = None
            found = self._estimates[covered] = math.fsum(gaps)
        return found


def _bits(option: Option) -> int:
    return sum(1 << i for i in range(option.start, option.end))


def _own_score(model: PhraseModel, option: Option) -> float:
    """Return what an option adds to the score wherever it is used."""
    return Features(option.log_prob, 0.0, 0.0, float(len(option.target))).weighted(model.weights)


def _best_paths(goal: _Hypothesis, n_best: int) -> list[list[Option]]:
    """Return the options of the best paths to the goal, best first.

    Walks backwards. The score of a hypothesis is the best that any path to it reaches, so score plus what the
    path behind it gained never underrates a path: the first to arrive at the start is the best left.
    """
    order = count()
    heap: list[tuple[float, int, float, _Hypothesis, tuple[Option, ...]]] = []
    heapq.heappush(heap, (-goal.score, next(order), 0.0, goal, ()))
    found: list[list[Option]] = []
    while heap and len(found) < n_best:
        _, _, behind, hypothesis, path = heapq.heappop(heap)
        if not hypothesis.arcs:
            found.append(list(path))
        for before, option, gain in hypothesis.arcs:
            gained = behind + gain
            longer = path if option is None else (option, *path)
            heapq.heappush(heap, (-(before.score + gained), next(order), gained, before, longer))
    return found
