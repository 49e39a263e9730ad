"""Named entities: spans, schemas, and the two extractors that need no training, a dictionary and rules.

An extractor proposes spans; a schema says which labels exist. Neither says who gave what to whom: roles
live in `onesentence.sentence`. A pronoun refers to a person and is still not a named person, so under
PER/ORG/LOC the main sentence has no entity, and an extractor that returns nothing for it is right. Section
1.2 of the course.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol


@dataclass(frozen=True, order=True)
class Span:
    """A labelled stretch of a text, ordered by start, then end, then label.

    Attributes:
        start: first character, a Python string index from 0 (inclusive).
        end: character after the last one (exclusive).
        label: type of the entity, such as `PER`.
    """

    start: int
    end: int
    label: str

    def text(self, text: str) -> str:
        """Return the characters that the span covers.

        Args:
            text: the text that the span was found in.

        Raises:
            ValueError: if the span does not lie inside the text.

        Example:
            >>> Span(0, 2, "PER").text("张明昨天给了李华一本书。")
            '张明'
        """
        if not 0 <= self.start <= self.end <= len(text):
            raise ValueError(f"span {self} lies outside the text of {len(text)} characters")
        return text[self.start : self.end]


def surfaces(text: str, spans: Iterable[Span]) -> list[tuple[str, str]]:
    """Return (characters, label) of each span, in the order given.

    Example:
        >>> surfaces("张明给了李华一本书。", [Span(0, 2, "PER"), Span(4, 6, "PER")])
        [('张明', 'PER'), ('李华', 'PER')]
    """
    return [(span.text(text), span.label) for span in spans]


@dataclass(frozen=True)
class Schema:
    """The labels that exist, and with them what counts as an entity at all.

    Attributes:
        labels: at least one label, no empty one, none twice.
    """

    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.labels, tuple):
            raise TypeError(f"labels: expected a tuple of strings, got {type(self.labels).__name__}")
        if not self.labels:
            raise ValueError("labels: expected at least one label, got none")
        for label in self.labels:
            if not isinstance(label, str) or not label.strip():
                raise ValueError(f"labels: expected strings that are not blank, got {label!r}")
            if self.labels.count(label) > 1:
                raise ValueError(f"labels: {label!r} is given twice")

    def check_label(self, label: str) -> None:
        """Refuse a label that is not in the schema.

        Raises:
            ValueError: naming the label and the allowed ones.
        """
        if label not in self.labels:
            raise ValueError(f"label {label!r} is not in the schema; allowed: {', '.join(self.labels)}")

    def validate(self, spans: Iterable[Span], text: str) -> None:
        """Refuse spans that the schema or the text does not allow.

        Args:
            spans: the spans, in any order.
            text: the text they were found in.

        Raises:
            ValueError: for a label outside the schema, a span outside the text, an empty span, or a span
                given twice; the message names what is wrong.

        Example:
            >>> PER_ORG_LOC.validate([Span(1, 3, "TIME")], "我昨天给了他一本书。")
            Traceback (most recent call last):
            ValueError: label 'TIME' is not in the schema; allowed: PER, ORG, LOC
        """
        seen: set[Span] = set()
        for span in spans:
            self.check_label(span.label)
            if span.start < 0 or span.end > len(text):
                raise ValueError(f"{span} lies outside the text of {len(text)} characters")
            if span.start >= span.end:
                raise ValueError(f"{span} is empty; expected start < end")
            if span in seen:
                raise ValueError(f"{span} is given twice")
            seen.add(span)


PER_ORG_LOC = Schema(("PER", "ORG", "LOC"))
"""Named persons, organisations and places. Time expressions and pronouns are outside it."""


class Extractor(Protocol):
    """Anything that proposes spans for a text; extractors are compared through this one method."""

    def extract(self, text: str) -> tuple[Span, ...]:
        """Return the proposed spans of a text, sorted."""
        ...


@dataclass(frozen=True)
class DictionaryExtractor:
    """Finds known names wherever their characters occur, with no look at the context.

    With `overlaps="longest"` the text is read from left to right; at each position the longest name that
    starts there is taken and reading goes on after it, so a shorter name that overlaps it is never
    reported. With `overlaps="all"` every occurrence of every name is reported, nested ones too. A name that
    occurs twice gives two spans. A name has one label: homographs cannot be told apart.

    Attributes:
        schema: the labels allowed.
        names: name to label; copied, so later changes of the argument have no effect.
        overlaps: `"longest"` or `"all"`.

    Example:
        >>> names = {"北京": "LOC", "北京大学": "ORG"}
        >>> surfaces("北京大学在北京。", DictionaryExtractor(PER_ORG_LOC, names).extract("北京大学在北京。"))
        [('北京大学', 'ORG'), ('北京', 'LOC')]
    """

    schema: Schema
    names: Mapping[str, str] = field(hash=False)
    overlaps: Literal["longest", "all"] = "longest"

    def __post_init__(self) -> None:
        for name, label in self.names.items():
            if not name:
                raise ValueError("names: an empty name would match everywhere")
            self.schema.check_label(label)
        if self.overlaps not in ("longest", "all"):
            raise ValueError(f"overlaps: expected 'longest' or 'all', got {self.overlaps!r}")
        object.__setattr__(self, "names", MappingProxyType(dict(self.names)))

    def extract(self, text: str) -> tuple[Span, ...]:
        """Return the spans of the known names, sorted by position."""
        by_length = sorted(self.names, key=lambda name: (-len(name), name))
        spans: list[Span] = []
        free_from = 0
        for start in range(len(text)):
            if self.overlaps == "longest" and start < free_from:
                continue
            for name in by_length:
                if text.startswith(name, start):
                    free_from = start + len(name)
                    spans.append(Span(start, free_from, self.names[name]))
                    if self.overlaps == "longest":
                        break
        return tuple(sorted(spans))


@dataclass(frozen=True)
class Rule:
    """A pattern whose match, or one group of it, is an entity.

    Attributes:
        pattern: a regular expression of Python's `re`.
        label: label of what it finds.
        group: number of the group that is the entity, 0 for the whole match.
    """

    pattern: str
    label: str
    group: int = 0

    def __post_init__(self) -> None:
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise ValueError(f"pattern {self.pattern!r} is not a regular expression: {error}") from error
        if not 0 <= self.group <= groups:
            raise ValueError(
                f"group {self.group} does not exist; pattern {self.pattern!r} has groups 0 to {groups}"
            )


@dataclass(frozen=True)
class RuleExtractor:
    """Finds names by how they look and by what stands beside them.

    A rule can find a name it never saw, and can take an ordinary word for a name. Every word added to its
    context buys recall and is paid for in precision, so both are to be measured on the same text.

    Where spans of two rules overlap, the rule that stands earlier in `rules` keeps its span. A group that
    took no part in a match gives nothing.

    Attributes:
        schema: the labels allowed.
        rules: the rules, most trusted first.

    Example:
        >>> rules = [Rule("给了(李.)", "PER", group=1), Rule("[王李].", "PER")]
        >>> RuleExtractor(PER_ORG_LOC, rules).extract("王芳给了李华一本书。")
        (Span(start=0, end=2, label='PER'), Span(start=4, end=6, label='PER'))
    """

    schema: Schema
    rules: Sequence[Rule]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        for rule in self.rules:
            self.schema.check_label(rule.label)

    def extract(self, text: str) -> tuple[Span, ...]:
        """Return the spans that the rules find, sorted by position.

        Raises:
            ValueError: if a rule matched no character, which would be an empty entity.
        """
        spans: list[Span] = []
        for rule in self.rules:
            for match in re.finditer(rule.pattern, text):
                start, end = match.span(rule.group)
                if start == end >= 0:
                    raise ValueError(f"pattern {rule.pattern!r} matched no character at position {start}")
                if start >= 0 and all(end <= kept.start or kept.end <= start for kept in spans):
                    spans.append(Span(start, end, rule.label))
        return tuple(sorted(spans))


_NAME = "[王李张刘陈杨黄赵周吴徐孙马胡朱郭何高林罗][\u4e00-\u9fff]{1,2}?"
CHINESE_NAME_RULES: tuple[Rule, ...] = (
    Rule(f"(?:给了|送给|借给|还给|寄给)({_NAME})(?=[一二两三四五六七八九十几这那])", "PER", group=1),
    Rule(f"{_NAME}(?=昨天|今天|明天|前天|给|送|借|还|寄|把)", "PER"),
)
"""Two rules for persons: a receiver between a verb of giving and a quantity, a giver before a time word or a verb.

A name is one of twenty common surnames and the fewest of one or two Han characters that let the rule match. The
lists were written with giving sentences in mind. Known limits: surnames of two characters, nicknames and foreign
names are missed, as is a name at the end of a clause; an ordinary word that begins like a surname (周一, Monday)
is taken for a name; organisations and places have no rule.
"""
