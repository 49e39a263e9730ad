"""BLEU: how many n-grams of a translation stand in references, pooled over a corpus.

For order n, over all sentences s of the corpus (Papineni et al. 2002, sections 2.1 to 2.3)

    p_n = sum_s sum_g min(count_s(g), max over references of count_r(g)) / sum_s sum_g count_s(g)
    BP = 1 where c >= r, else exp(1 - r / c)
    BLEU = 100 BP exp(1/N sum_{n=1..N} ln p_n)

Symbols: `g` an n-gram, `c` the length of all hypotheses and `r` the sum, over sentences, of the length of the
reference that is closest to the hypothesis, the shorter of two that are equally close; all in tokens. `N` is `n`.

The values equal those of sacrebleu 2.5.1 with `effective_order=False` (Post 2018, arXiv:1804.08771). Differences from
it: references are given per hypothesis; the tokenisation has no default; the default smoothing is none, as in the
paper, where sacrebleu has `exp`. If no n-gram of any order matches, the score is 0 however it is smoothed; so is that
of an empty hypothesis. An order for which no sentence is long enough makes the score 0, even of a perfect translation,
unless add-k gives it something. Smoothing: Chen and Cherry 2014, methods 1 to 3. Section 3.19 of the course.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal, TypeAlias

from onesentence.checks import checked_integer
from onesentence.generate.bleu_tokens import Tokenisation, checked_tokenisation, tokens

Smoothing: TypeAlias = Literal["none", "floor", "add-k", "exp"]

_SMOOTHING: dict[str, float | None] = {"none": None, "floor": 0.1, "add-k": 1.0, "exp": None}
"""The names and the values that they take when none is given."""


@dataclass(frozen=True)
class Bleu:
    """A score and what it was computed from.

    Attributes:
        score: 0 to 100.
        matches: clipped matches of the orders 1 to n, summed over the corpus, before smoothing.
        totals: n-grams of the hypotheses, likewise.
        precisions: what the score is the geometric mean of, 0 to 1, smoothed; all 0 if nothing matched at all.
        brevity_penalty: BP, 0 to 1.
        hypothesis_length: c, tokens.
        reference_length: r, tokens.
        signature: what has to be reported with the score, in sacrebleu's words where it has one.
    """

    score: float
    matches: tuple[int, ...]
    totals: tuple[int, ...]
    precisions: tuple[float, ...]
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int
    signature: str = field(repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 100 + 1e-9:
            raise ValueError(f"score must lie in [0, 100], got {self.score}")
        if not len(self.matches) == len(self.totals) == len(self.precisions) >= 1:
            sizes = len(self.matches), len(self.totals), len(self.precisions)
            raise ValueError(f"matches, totals and precisions must have one entry per order, got {sizes}")


def ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the runs of n tokens.

    Raises:
        TypeError: if a string stands for tokens, or n is no integer.
        ValueError: if n is below 1.

    Example:
        >>> ngrams("a book a book".split(), 2)
        Counter({('a', 'book'): 2, ('book', 'a'): 1})
    """
    if isinstance(words, str):
        raise TypeError(f"words must be tokens, got the string {words!r}")
    n = checked_integer("n", n, 1)
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def clipped_matches(hypothesis: Sequence[str], references: Iterable[Sequence[str]], n: int) -> int:
    """Return how many n-grams match, each at most as often as in the reference that has it most often.

    Args:
        hypothesis: tokens.
        references: tokens of each reference; the maximum is taken per n-gram, over all of them.
        n: order, at least 1.

    Raises:
        TypeError, ValueError: as `ngrams`.

    Example:
        >>> clipped_matches("a a a".split(), ["a book".split()], 1)
        1
    """
    allowed: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        allowed |= ngrams(reference, n)  # the larger of two counts
    return (ngrams(hypothesis, n) & allowed).total()  # the smaller


def closest_length(length: int, lengths: Sequence[int]) -> int:
    """Return the length closest to `length`, of two equally close the shorter.

    Raises:
        ValueError: if there is no length to choose from.

    Example:
        >>> closest_length(5, [4, 6, 9])
        4
    """
    if not lengths:
        raise ValueError("lengths: expected at least one, got none")
    return min(lengths, key=lambda other: (abs(other - length), other))


def brevity_penalty(c: int, r: int) -> float:
    """Return BP: 1 where the hypotheses are at least as long as the references, else exp(1 - r/c), 0 for c = 0.

    Args:
        c: tokens of the hypotheses.
        r: tokens of the references.

    Example:
        >>> brevity_penalty(6, 5), round(brevity_penalty(5, 6), 6)
        (1.0, 0.818731)
    """
    c, r = checked_integer("c", c, 0), checked_integer("r", r, 0)
    if c >= r:
        return 1.0
    return math.exp(1 - r / c) if c else 0.0


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenisation: Tokenisation,
    smoothing: Smoothing = "none",
    value: float | None = None,
    n: int = 4,
    lowercase: bool = False,
) -> Bleu:
    """Score a corpus; a corpus of one sentence is a sentence's BLEU.

    Args:
        hypotheses: one string a sentence; it may be empty.
        references: for each hypothesis its references, at least one string.
        tokenisation: `13a`, `zh`, `char` or `none`.
        smoothing: what becomes of orders without a match: `none` leaves them 0; `floor` counts `value` matches;
            `add-k` adds `value` to matches and totals of all orders from 2 on, matched or not; `exp` counts 1/2, 1/4,
            ... for the first, second, ... such order.
        value: of `floor` (0.1 if None; at most 1, so that no match is not worth more than one) or `add-k` (1 if None);
            the others take none.
        n: highest order N.
        lowercase: whether case is ignored.

    Raises:
        TypeError: if a sentence is no string, strings or nothing stand where lists are expected, or `value` is no
            number.
        ValueError: without a hypothesis, with other numbers of hypotheses and lists of references, with an empty list
            of references, for n < 1, an unknown tokenisation or smoothing, or a value out of place.

    Example:
        >>> result = bleu(["I gave a book yesterday"], [["I gave him a book yesterday"]], tokenisation="none", n=2)
        >>> round(result.score, 2), result.matches, result.totals
        (70.9, (5, 3), (5, 4))
    """
    _check_corpus(hypotheses, references)
    checked_tokenisation(tokenisation)
    n, value = checked_integer("n", n, 1), _checked_value(smoothing, value)
    matches, totals = [0] * n, [0] * n
    c = r = 0
    for hypothesis, group in zip(hypotheses, references, strict=True):
        cut = [tokens(text.lower() if lowercase else text, tokenisation) for text in (hypothesis, *group)]
        words, others = cut[0], cut[1:]
        c += len(words)
        r += closest_length(len(words), [len(other) for other in others])
        for order in range(1, n + 1):
            matches[order - 1] += clipped_matches(words, others, order)
            totals[order - 1] += max(len(words) - order + 1, 0)
    precisions = _precisions(matches, totals, smoothing, value)
    bp = brevity_penalty(c, r)
    mean = math.exp(sum(map(math.log, precisions)) / n) if all(precisions) else 0.0
    signature = _signature({len(group) for group in references}, tokenisation, smoothing, value, n, lowercase)
    return Bleu(100 * bp * mean, tuple(matches), tuple(totals), precisions, bp, c, r, signature)


def mean_sentence_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenisation: Tokenisation,
    smoothing: Smoothing = "none",
    value: float | None = None,
    n: int = 4,
    lowercase: bool = False,
) -> float:
    """Return the mean of the scores of single sentences, 0 to 100: another number than the score of the corpus.

    Here to be compared with `bleu`; what is called BLEU is the latter.

    Args:
        hypotheses: one string a sentence.
        references: for each hypothesis its references.
        tokenisation: as `bleu`, like the rest.
        smoothing: applied to each sentence.
        value: of the smoothing.
        n: highest order.
        lowercase: whether case is ignored.

    Raises:
        TypeError, ValueError: as `bleu`.

    Example:
        >>> pairs = ["I left .", "He gave me a book ."], [["I left ."], ["He gave me a pen ."]]
        >>> round(mean_sentence_bleu(*pairs, tokenisation="none", n=2), 2)
        85.36
        >>> round(bleu(*pairs, tokenisation="none", n=2).score, 2)
        79.68
    """
    _check_corpus(hypotheses, references)
    scores = [
        bleu(
            [hypothesis],
            [group],
            tokenisation=tokenisation,
            smoothing=smoothing,
            value=value,
            n=n,
            lowercase=lowercase,
        ).score
        for hypothesis, group in zip(hypotheses, references, strict=True)
    ]
    return sum(scores) / len(scores)


def _precisions(
    matches: Sequence[int], totals: Sequence[int], smoothing: Smoothing, value: float | None
) -> tuple[float, ...]:
    """Return p_1 to p_N; 0 for every order if nothing matched, and for orders that no sentence is long enough for."""
    if not any(matches):
        return (0.0,) * len(matches)
    result, unmatched = [], 0
    for order, (match, total) in enumerate(zip(matches, totals, strict=True), start=1):
        more = value if smoothing == "add-k" and order > 1 and value is not None else 0.0
        count: float = match + more
        if count == 0 and smoothing == "floor" and value is not None:
            count = value
        elif count == 0 and smoothing == "exp":
            unmatched += 1
            count = 0.5**unmatched
        result.append(count / (total + more) if total + more else 0.0)
    return tuple(result)


def _signature(
    counts: set[int], tokenisation: str, smoothing: str, value: float | None, n: int, lowercase: bool
) -> str:
    number = str(next(iter(counts))) if len(counts) == 1 else "var"
    smooth = smoothing if value is None else f"{smoothing}[{value:.2f}]"
    case = "lc" if lowercase else "mixed"
    return (
        f"nrefs:{number}|case:{case}|eff:no|tok:{tokenisation}|smooth:{smooth}|n:{n}|equal-to:sacrebleu-2.5.1"
    )


def _checked_value(smoothing: str, value: float | None) -> float | None:
    if not isinstance(smoothing, str) or smoothing not in _SMOOTHING:
        raise ValueError(f"smoothing must be one of {', '.join(_SMOOTHING)}, got {smoothing!r}")
    default = _SMOOTHING[smoothing]
    if value is None or default is None:
        if value is not None:
            raise ValueError(f"value must be None for smoothing {smoothing!r}, got {value}")
        return default
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"value must be a number, got {value!r}")
    if not 0 < value < math.inf:
        raise ValueError(f"value must be finite and positive, got {value}")
    if smoothing == "floor" and value > 1:
        raise ValueError(f"value must be at most 1 for smoothing 'floor', got {value}")
    return value


def _check_corpus(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    for name, given in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(given, str):
            raise TypeError(f"{name} must be a sequence with an entry per sentence, got the string {given!r}")
        if not isinstance(given, Collection):
            raise TypeError(f"{name} must be a sequence with an entry per sentence, got {given!r}")
    if not len(hypotheses):
        raise ValueError("hypotheses: expected at least one, got none")
    if len(hypotheses) != len(references):
        raise ValueError(
            f"references must have an entry per hypothesis, got {len(references)} for {len(hypotheses)}"
        )
    for i, group in enumerate(references):
        if isinstance(group, str):
            raise TypeError(f"references[{i}] must be a sequence of strings, got the string {group!r}")
        if not isinstance(group, Collection):
            raise TypeError(f"references[{i}] must be a sequence of strings, got {group!r}")
        if not len(group):
            raise ValueError(f"references[{i}]: expected at least one reference, got none")
