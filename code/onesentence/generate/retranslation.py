"""A translation that is shown while its source still arrives: what was withdrawn, and when it was final.

With each source unit the prefix is translated anew; version i is what came of the first i units, version S of the whole.
A display shows version i without its last k tokens, and all of version S. Over the displays o_1 ... o_S:

    erased   = sum_i |o_{i-1}| - |common prefix of o_{i-1} and o_i|         tokens withdrawn again
    g(t)     = the first i from which on all displays begin with the final t tokens
    AL       = 1/tau sum_{t <= tau} (g(t) - (t - 1) S/T)                    tau = the first t with g(t) = S

Erasure, divided by the tokens of the final text, the mask of k tokens, and g as the time at which a token is final:
Arivazhagan et al. 2020 (arXiv:2004.03643; arXiv:1912.03393). Average lagging AL: Ma et al. 2019 (arXiv:1810.08398),
section 4; there g belongs to a translator that takes nothing back. Delays are in source units, not in seconds. Section
4.16 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from onesentence.checks import checked_integer

Token = TypeVar("Token")


def common_prefix(one: Sequence[Token], other: Sequence[Token]) -> int:
    """Return how many tokens two texts have in common from their start.

    Example:
        >>> common_prefix("I gave him".split(), "I gave her a".split())
        2
    """
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return at
    return min(len(one), len(other))


def displays(versions: Sequence[Sequence[Token]], k: int) -> list[tuple[Token, ...]]:
    """Return what is shown after each source unit.

    Args:
        versions: translations of the prefixes, the last one of the whole source; at least one.
        k: tokens at the end of all but the last version that are not shown.

    Raises:
        TypeError: if k is not an integer.
        ValueError: if it is negative, or there is no version.

    Example:
        >>> displays(["I .".split(), "I gave .".split()], 1)
        [('I',), ('I', 'gave', '.')]
    """
    k = checked_integer("k", k, 0)
    *early, last = _some(versions)
    return [*(tuple(version[: max(len(version) - k, 0)]) for version in early), tuple(last)]


def erased(shown: Sequence[Sequence[Token]]) -> int:
    """Return how many shown tokens were withdrawn or replaced later, each time counted.

    Args:
        shown: of `displays`.

    Raises:
        ValueError: if there is none.

    Example:
        >>> erased(["I gave .".split(), "I gave him .".split(), "Did I give him ?".split()])
        5
    """
    shown = _some(shown)
    return sum(len(a) - common_prefix(a, b) for a, b in pairwise(shown))


def final_at(shown: Sequence[Sequence[Token]]) -> tuple[int, ...]:
    """Return g: for each token of the last display after how many source units it and all before it stay.

    Args:
        shown: of `displays`.

    Raises:
        ValueError: if there is none.

    Example:
        >>> final_at(["I gave .".split(), "I gave him .".split()])
        (1, 1, 2, 2)
    """
    shown = _some(shown)
    last = shown[-1]
    g = [1] * len(last)
    for i, text in enumerate(shown, start=1):
        for t in range(common_prefix(text, last), len(last)):
            g[t] = i + 1  # display i does not have it, so it cannot be final before the next
    return tuple(g)


def average_lagging(g: Sequence[int], *, S: int) -> float:
    """Return AL, in source units: how far behind a translator is that would write T tokens evenly over S units.

    Args:
        g: for each target token how many source units had been read, 1 to S, never falling; at least one token.
        S: source length.

    Raises:
        ValueError: if g is empty, falls, or leaves [1, S].

    Example:
        >>> average_lagging([3, 3, 3], S=3), average_lagging([1, 2, 3], S=3)
        (3.0, 1.0)
    """
    if not g or list(g) != sorted(g) or not 1 <= g[0] <= g[-1] <= S:
        raise ValueError(f"g must hold units in [1, {S}], never falling, at least one, got {tuple(g)}")
    tau = next((t for t, units in enumerate(g, start=1) if units == S), len(g))
    return sum(units - at * S / len(g) for at, units in enumerate(g[:tau])) / tau


def _some(texts: Sequence[Sequence[Token]]) -> Sequence[Sequence[Token]]:
    if not texts:
        raise ValueError("expected at least one text, got none")
    return texts
