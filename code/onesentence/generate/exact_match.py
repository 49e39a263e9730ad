"""Exact match: the share of sentences that were written as the reference has them, symbol by symbol.

The denominator is every sentence that was asked for: one that was cut off at the limit or left empty counts as wrong,
none is left out. Compared is what is given, so ids with EOS also ask whether the model stopped by itself, and texts
without it do not. Sections 2.5 and 3.19 of the course.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from onesentence.checks import checked_integer


@dataclass(frozen=True)
class ExactMatch:
    """A number of exact sentences and the number of all.

    Attributes:
        hits: sentences equal to their reference.
        total: sentences, at least 1.
    """

    hits: int
    total: int

    def __post_init__(self) -> None:
        for name in ("hits", "total"):
            checked_integer(name, getattr(self, name), -1)  # how small it may be is said below
        if self.total < 1:
            raise ValueError(f"total: expected at least 1 sentence, got {self.total}")
        if not 0 <= self.hits <= self.total:
            raise ValueError(f"hits must lie in [0, {self.total}], got {self.hits}")

    @property
    def share(self) -> float:
        """Hits over total, 0 to 1."""
        return self.hits / self.total


def exact_match(hypotheses: Sequence[Sequence[Any]], references: Sequence[Sequence[Any]]) -> ExactMatch:
    """Count the sentences that equal their reference.

    Args:
        hypotheses: one sequence of symbols a sentence, tuples of ids, lists of words or strings.
        references: as many, of the same kind.

    Raises:
        TypeError: if a string is compared with a sequence of words or ids, which it can never equal, a sentence is no
            sequence, or a string stands where the sentences are expected.
        ValueError: without a sentence, or with other numbers of hypotheses and references.

    Example:
        >>> exact_match([(5, 7, 2), (5, 2)], [(5, 7, 2), (5, 7, 2)])
        ExactMatch(hits=1, total=2)
    """
    for name, given in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(given, (str, bytes)) or not isinstance(given, Collection):
            raise TypeError(f"{name} must be a sequence with an entry per sentence, got {given!r}")
    if len(hypotheses) != len(references):
        raise ValueError(
            f"references must be as many as hypotheses, got {len(references)} for {len(hypotheses)}"
        )
    hits = 0
    for i, (one, other) in enumerate(zip(hypotheses, references, strict=True)):
        if not (isinstance(one, Collection) and isinstance(other, Collection)):
            wrong = other if isinstance(one, Collection) else one
            raise TypeError(
                f"hypotheses[{i}] and references[{i}] must be sequences of symbols, got {wrong!r}"
            )
        if isinstance(one, str) != isinstance(other, str):
            kinds = f"{type(one).__name__} and {type(other).__name__}"
            raise TypeError(f"hypotheses[{i}] and references[{i}] must be of one kind, got {kinds}")
        hits += tuple(one) == tuple(other)
    return ExactMatch(hits, len(hypotheses))
