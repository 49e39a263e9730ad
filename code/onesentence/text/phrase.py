"""The model of a phrase-based translator: what a derivation is, and how four scores add up to one.

A derivation cuts the source into phrases, takes them in some order and writes one target phrase for each. With
target phrases e_1 ... e_n in the order of writing, e_k translating the source span from start_k to before end_k,

    translation = sum over k of ln phi(e_k|f_k) + ln phi(f_k|e_k)
    language    = sum over target words and EOS of ln p(word | words before it)
    distortion  = - sum over k of |start_k - end_{k-1}|          with end_0 = 0
    words       = number of target words
    score       = lambda_tm translation + lambda_lm language + lambda_d distortion + lambda_w words

Sources: Koehn, Och and Marcu 2003, section 2 (model, distortion alpha^|...|, length factor omega); the
log-linear form is that of Och and Ney 2002. Differences: Koehn et al. use phi(f|e) alone; a source
word that no one-word phrase translates may be copied, for a price. Sections 1.2 and 1.15 of the course.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

from onesentence.text.parallel import ParallelPair
from onesentence.text.phrase_table import Phrase, PhraseTable, count_phrases
from onesentence.text.target_model import count_words
from onesentence.text.vocabulary import SPECIALS

BOS, EOS = "BOS", "EOS"
"""What a language model reads before the first word, and predicts after the last."""

COPY_LOG_PROB = -10.0
"""What copying a source word costs in `translation`, in nats."""


class LanguageModel(Protocol):
    """Anything that says how likely a target word is after others."""

    @property
    def order(self) -> int:
        """How many words count: the predicted one and `order` - 1 before it."""

    def log_prob(self, word: str, context: Sequence[str]) -> float:
        """Return ln p(word | context) in nats; a context shorter than `order` - 1 is allowed."""


@dataclass(frozen=True)
class Weights:
    """The four lambdas of the score.

    Attributes:
        translation: lambda_tm.
        language: lambda_lm.
        distortion: lambda_d; the feature is at most 0, so a larger weight makes jumps dearer.
        words: lambda_w; above 0 rewards long sentences.
    """

    translation: float
    language: float
    distortion: float
    words: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value):
                raise ValueError(f"{field.name}: expected a finite weight, got {value}")

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Weights:
        """Return the weights of a mapping.

        Args:
            weights: `translation`, `language`, `distortion` and `words`, no other.

        Raises:
            ValueError: if a weight is missing, unknown or not finite.

        Example:
            >>> Weights.of({"translation": 1, "language": 1, "words": 0})
            Traceback (most recent call last):
                ...
            ValueError: weights: distortion is missing
        """
        names = [field.name for field in fields(cls)]
        if missing := [name for name in names if name not in weights]:
            raise ValueError(f"weights: {', '.join(missing)} is missing")
        if unknown := [name for name in weights if name not in names]:
            raise ValueError(f"weights: {', '.join(unknown)} is not one of {', '.join(names)}")
        return cls(**weights)


class Features(NamedTuple):
    """The four scores before weighting; `translation` and `language` in nats."""

    translation: float
    language: float
    distortion: float
    words: float

    def weighted(self, weights: Weights) -> float:
        """Return the weighted sum."""
        return (
            weights.translation * self.translation
            + weights.language * self.language
            + weights.distortion * self.distortion
            + weights.words * self.words
        )


class Option(NamedTuple):
    """One way to translate one source span.

    Attributes:
        start: first source position.
        end: position after the last.
        target: what is written for it.
        log_prob: ln phi(e|f) + ln phi(f|e), or the price of copying.
        copied: whether a word is copied, not translated.
    """

    start: int
    end: int
    target: Phrase
    log_prob: float
    copied: bool = False


class Step(NamedTuple):
    """An option taken, and what it added to each score."""

    option: Option
    features: Features


@dataclass(frozen=True)
class Derivation:
    """A translation with the way in which it came about.

    Attributes:
        source: source words.
        steps: in the order of writing; the last one closes the sentence and writes EOS.
        score: weighted sum of the features.
    """

    source: Phrase
    steps: tuple[Step, ...]
    score: float

    @property
    def target(self) -> Phrase:
        """The words written, without EOS."""
        return tuple(word for step in self.steps[:-1] for word in step.option.target)

    @property
    def text(self) -> str:
        """The words written, separated by spaces."""
        return " ".join(self.target)

    @property
    def features(self) -> Features:
        """The four scores of the whole."""
        return Features(
            *(math.fsum(column) for column in zip(*(s.features for s in self.steps), strict=True))
        )


@dataclass(frozen=True)
class PhraseModel:
    """Everything that a derivation is scored with, and which derivations are allowed.

    Attributes:
        table: phrase pairs.
        language: model of the target language.
        weights: the four lambdas.
        distortion_limit: longest jump |start_k - end_{k-1}| allowed, in source words; None for no limit.
        copy_unknown: whether a word without a one-word translation may be copied.
    """

    table: PhraseTable
    language: LanguageModel
    weights: Weights
    distortion_limit: int | None = None
    copy_unknown: bool = False

    def __post_init__(self) -> None:
        if self.language.order < 1:
            raise ValueError(f"language: expected an order of at least 1, got {self.language.order}")
        if self.distortion_limit is not None and self.distortion_limit < 0:
            raise ValueError(f"distortion_limit: expected 0 or more words, got {self.distortion_limit}")

    @property
    def opening(self) -> Phrase:
        """The context of the first word."""
        return (BOS,) * (self.language.order - 1)

    def options(self, source: Sequence[str]) -> tuple[Option, ...]:
        """Return every option of every span of a sentence, by span, the most frequent first.

        Args:
            source: source words, at least one.

        Raises:
            ValueError: if there is no word, or a word that occurs in no option.
        """
        words = tuple(source)
        if not words:
            raise ValueError("source: expected at least one word, got none")
        if reserved := [word for word in words if word in SPECIALS]:
            raise ValueError(f"source: {reserved[0]!r} is a special symbol, not a word")
        found: list[Option] = []
        for start in range(len(words)):
            for end in range(start + 1, min(start + self.table.max_length, len(words)) + 1):
                rows = self.table.entries(words[start:end])
                found += [
                    Option(start, end, r.target, math.log(r.forward) + math.log(r.inverse)) for r in rows
                ]
                if self.copy_unknown and not rows and end == start + 1:
                    found.append(Option(start, end, (words[start],), COPY_LOG_PROB, copied=True))
        covered = {i for option in found for i in range(option.start, option.end)}
        if unknown := [word for i, word in enumerate(words) if i not in covered]:
            raise ValueError(
                f"source: no phrase of the table covers {', '.join(unknown)}; copy_unknown would pass it through"
            )
        return tuple(found)

    def jump_allowed(self, end: int, start: int) -> bool:
        """Say whether a phrase may begin at `start` when the one before ended before `end`."""
        return self.distortion_limit is None or abs(start - end) <= self.distortion_limit

    def log_prob(self, words: Sequence[str], context: Phrase) -> tuple[float, Phrase]:
        """Return ln p of some words after a context, and the context of the next word."""
        keep, total = self.language.order - 1, 0.0
        for word in words:
            total += self.language.log_prob(word, context)
            context = (*context, word)[-keep:] if keep else ()
        return total, context

    def derive(self, source: Sequence[str], options: Iterable[Option]) -> Derivation:
        """Score a derivation from its options, word by word; the reference for the search.

        Args:
            source: source words.
            options: the options in the order of writing; together they cover each source word once.

        Raises:
            ValueError: if they do not.
        """
        chosen = tuple(options)
        places = sorted(i for option in chosen for i in range(option.start, option.end))
        if places != list(range(len(source))):
            raise ValueError(
                f"options: expected each of {len(source)} source words once, got positions {places}"
            )
        steps: list[Step] = []
        end, context = 0, self.opening
        for option in chosen:
            language, context = self.log_prob(option.target, context)
            jump = float(-abs(option.start - end))
            steps.append(Step(option, Features(option.log_prob, language, jump, float(len(option.target)))))
            end = option.end
        closing, _ = self.log_prob((EOS,), context)
        last = Option(len(source), len(source), (EOS,), 0.0)
        steps.append(Step(last, Features(0.0, closing, 0.0, 0.0)))
        score = math.fsum(step.features.weighted(self.weights) for step in steps)
        return Derivation(tuple(source), tuple(steps), score)


def train(
    pairs: Iterable[ParallelPair], weights: Weights, *, max_length: int = 4, copy_unknown: bool = False
) -> PhraseModel:
    """Count a phrase table and a bigram model on a corpus; nothing else is learned.

    Args:
        pairs: aligned pairs, at least one.
        weights: the four lambdas.
        max_length: longest phrase, in words, on either side.
        copy_unknown: whether unknown words are passed through.

    Raises:
        ValueError: if the corpus is empty or `max_length` is below 1.

    Example:
        >>> pair = ParallelPair(("他", "书"), ("his", "book"), frozenset({(0, 0), (1, 1)}))
        >>> model = train([pair], Weights(1, 1, 1, 0))
        >>> model.derive(("书",), model.options(("书",))).text
        'book'
    """
    corpus = tuple(pairs)
    table = count_phrases(corpus, max_length)
    language = count_words([pair.target for pair in corpus])
    return PhraseModel(table, language, weights, copy_unknown=copy_unknown)
