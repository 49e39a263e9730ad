"""Exact-match scores of extracted spans, and the small constructed set on which extractors are compared.

A predicted span counts only if start, end and label all agree with a gold span. With `tp` such spans, `fp`
other predicted ones and `fn` gold ones not found: precision = tp/(tp+fp), recall = tp/(tp+fn), F1 =
2tp/(2tp+fp+fn).

A quotient with denominator zero is undefined and is `None`, not 0 and not 1: silence about a text without
entities is neither a success nor a failure of precision. So without gold and without prediction all three
are `None`; predictions without gold give precision 0, recall `None`, F1 0; gold without prediction gives
precision `None`, recall 0, F1 0. Section 1.2 of the course.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from onesentence.sentence.example import NAMED, SENTENCE
from onesentence.text.entities import Extractor, Schema, Span


def _ratio(numerator: int, denominator: int) -> float | None:
    """Return the quotient, or `None` where it is undefined."""
    return numerator / denominator if denominator else None


@dataclass(frozen=True)
class SpanScore:
    """Counts of an exact-match comparison, and the rates that follow from them.

    Attributes:
        tp: predicted spans that are gold.
        fp: predicted spans that are not.
        fn: gold spans that were not predicted.

    Example:
        >>> SpanScore(tp=1, fp=1, fn=0).f1
        0.6666666666666666
        >>> SpanScore(tp=0, fp=0, fn=0).precision is None
        True
    """

    tp: int
    fp: int
    fn: int

    def __post_init__(self) -> None:
        for name, count in (("tp", self.tp), ("fp", self.fp), ("fn", self.fn)):
            if count < 0:
                raise ValueError(f"{name}: expected a count of at least 0, got {count}")

    @property
    def precision(self) -> float | None:
        """Share of the predicted spans that are gold; `None` without predictions."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Share of the gold spans that were predicted; `None` without gold."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, from the counts; `None` if there is no span at all."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)


class SpanComparison(NamedTuple):
    """The spans behind a score, each group sorted by position."""

    found: tuple[Span, ...]
    spurious: tuple[Span, ...]
    missed: tuple[Span, ...]


def _distinct(name: str, spans: Iterable[Span]) -> set[Span]:
    """Return the spans as a set, refusing one that is given twice."""
    distinct: set[Span] = set()
    for span in spans:
        if span in distinct:
            raise ValueError(f"{name}: {span} is given twice")
        distinct.add(span)
    return distinct


def compare(gold: Iterable[Span], predicted: Iterable[Span]) -> SpanComparison:
    """Sort the spans of one text into found, spurious (predicted only) and missed (gold only).

    Args:
        gold: the annotated spans.
        predicted: the proposed spans of the same text.

    Raises:
        ValueError: if a span is given twice on one side.

    Example:
        >>> compare([Span(0, 4, "ORG")], [Span(0, 2, "LOC")]).spurious
        (Span(start=0, end=2, label='LOC'),)
    """
    wanted, proposed = _distinct("gold", gold), _distinct("predicted", predicted)
    groups = (wanted & proposed, proposed - wanted, wanted - proposed)
    return SpanComparison(*(tuple(sorted(group)) for group in groups))


def score(gold: Iterable[Span], predicted: Iterable[Span]) -> SpanScore:
    """Score the predicted spans of one text by exact match.

    Args:
        gold: the annotated spans.
        predicted: the proposed spans of the same text.

    Returns:
        Counts, with `precision`, `recall` and `f1`; see the module for denominators of zero.

    Raises:
        ValueError: if a span is given twice on one side.

    Example:
        >>> score([Span(0, 2, "PER"), Span(6, 8, "PER")], [Span(0, 2, "PER")])
        SpanScore(tp=1, fp=0, fn=1)
    """
    found, spurious, missed = compare(gold, predicted)
    return SpanScore(tp=len(found), fp=len(spurious), fn=len(missed))


def score_corpus(golds: Sequence[Iterable[Span]], predictions: Sequence[Iterable[Span]]) -> SpanScore:
    """Score many texts together: counts are added first, rates taken once (micro-average).

    Args:
        golds: annotated spans, one collection per text.
        predictions: proposed spans, in the same order of texts.

    Raises:
        ValueError: if the two differ in length, or a text has a span twice on one side.

    Example:
        >>> score_corpus([[], [Span(0, 2, "PER")]], [[Span(3, 5, "LOC")], [Span(0, 2, "PER")]])
        SpanScore(tp=1, fp=1, fn=0)
    """
    if len(golds) != len(predictions):
        raise ValueError(f"predictions: expected one per text, {len(golds)} in all, got {len(predictions)}")
    scores = [score(gold, predicted) for gold, predicted in zip(golds, predictions, strict=True)]
    return SpanScore(
        tp=sum(one.tp for one in scores), fp=sum(one.fp for one in scores), fn=sum(one.fn for one in scores)
    )


_MARK = re.compile(r"\[([^\[\]|]+)\|([^\[\]|]+)\]")


@dataclass(frozen=True)
class Annotated:
    """A text and its gold spans.

    Attributes:
        text: the plain text.
        spans: gold spans, sorted by position.
    """

    text: str
    spans: tuple[Span, ...]

    def __post_init__(self) -> None:
        if list(self.spans) != sorted(self.spans):
            raise ValueError(f"spans: expected them sorted by position, got {self.spans}")
        for span in self.spans:
            span.text(self.text)

    @classmethod
    def parse(cls, marked: str) -> Annotated:
        """Read a text whose entities are marked as `[name|LABEL]`.

        Args:
            marked: the text with its marks, not nested.

        Raises:
            ValueError: if a bracket or bar is left over once the marks are read.

        Example:
            >>> Annotated.parse("[张明|PER]来了。")
            Annotated(text='张明来了。', spans=(Span(start=0, end=2, label='PER'),))
        """
        text, spans, read = "", [], 0
        for mark in _MARK.finditer(marked):
            text += marked[read : mark.start()]
            spans.append(Span(len(text), len(text) + len(mark[1]), mark[2]))
            text += mark[1]
            read = mark.end()
        text += marked[read:]
        for sign in "[]|":
            if sign in text:
                raise ValueError(f"marked: stray {sign!r} in {marked!r}; expected marks such as [张明|PER]")
        return cls(text, tuple(spans))


def evaluate(extractor: Extractor, sentences: Sequence[Annotated], schema: Schema) -> SpanScore:
    """Run an extractor over annotated sentences and score it, under one schema for gold and predictions.

    Args:
        extractor: what proposes spans.
        sentences: the sentences with their gold spans.
        schema: the labels that may occur on either side.

    Raises:
        ValueError: if a gold or predicted span breaks the schema or its sentence.

    Example:
        >>> from onesentence.text.entities import PER_ORG_LOC, DictionaryExtractor
        >>> evaluate(DictionaryExtractor(PER_ORG_LOC, NAMES), EVALUATION, PER_ORG_LOC)
        SpanScore(tp=12, fp=2, fn=5)
    """
    predictions = [extractor.extract(sentence.text) for sentence in sentences]
    for sentence, predicted in zip(sentences, predictions, strict=True):
        schema.validate(sentence.spans, sentence.text)
        schema.validate(predicted, sentence.text)
    return score_corpus([sentence.spans for sentence in sentences], predictions)


def error_names(extractor: Extractor, sentences: Sequence[Annotated]) -> tuple[list[str], list[str]]:
    """Return the words of an extractor's errors: those it invented, then those it missed.

    Args:
        extractor: what proposes spans.
        sentences: the sentences with their gold spans.

    Returns:
        Words of the spurious spans and words of the missed ones, in the order of the sentences.

    Example:
        >>> from onesentence.text.entities import PER_ORG_LOC, DictionaryExtractor
        >>> error_names(DictionaryExtractor(PER_ORG_LOC, NAMES), EVALUATION)[0]
        ['北京大学', '高明']
    """
    spurious, missed = [], []
    for sentence in sentences:
        comparison = compare(sentence.spans, extractor.extract(sentence.text))
        spurious += [span.text(sentence.text) for span in comparison.spurious]
        missed += [span.text(sentence.text) for span in comparison.missed]
    return spurious, missed


EVALUATION: tuple[Annotated, ...] = (
    Annotated(SENTENCE, ()),
    Annotated(NAMED.text, (Span(0, 2, "PER"), Span(6, 8, "PER"))),
    Annotated.parse("[张明|PER]给了[李华|PER]一支笔，[李华|PER]又给了[张明|PER]一本词典。"),
    Annotated.parse("[王芳|PER]把三本书送给了[北京大学|ORG]。"),
    Annotated.parse("[北京|LOC]的[李华|PER]昨天送给我一张地图。"),
    Annotated.parse("[北京大学出版社|ORG]给了[王芳|PER]两本词典。"),
    Annotated.parse("他周一给了我一本书。"),
    Annotated.parse("[欧阳兰|PER]昨天借给[陈静|PER]一本书。"),
    Annotated.parse("老师给了[高明|PER]一个高明的办法。"),
    Annotated.parse("[小梅|PER]把[上海|LOC]的地图给了她。"),
)
"""Ten constructed sentences about giving, with PER/ORG/LOC gold.

Conventions: every mention is annotated, also a repeated one; of nested names only the outer one (北京大学,
not the 北京 in it); pronouns, kinship and job words (老师) are not names; a nickname (小梅) is. The set was
written together with `NAMES` and `CHINESE_NAME_RULES` so that each shows its typical errors: its rates rank
nothing beyond it.
"""

NAMES: Mapping[str, str] = MappingProxyType(
    {"张明": "PER", "李华": "PER", "王芳": "PER", "高明": "PER", "北京": "LOC", "北京大学": "ORG"}
)
"""The dictionary that the dictionary extractor is given on `EVALUATION`. It knows 高明 as a name (also an
adjective) and 北京大学 (also the beginning of a publisher's name), and four names of the set it does not
know: 欧阳兰, 陈静, 小梅, 上海, besides the publisher itself."""
