"""A model written down: for every prefix the distribution of the next token, all of it visible.

A tree has finitely many prefixes, each with a distribution over a few tokens; EOS ends a text. It answers like any
model of this package, so the same search runs on it and on a trained one. Section 3.17 of the course.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesentence.generate.checks import checked_distribution
from onesentence.generate.hypotheses import Found, Hypothesis
from onesentence.numerics import FloatArray

BOS, EOS = "BOS", "EOS"


@dataclass(frozen=True, eq=False)
class Tree:
    """An explicit tree of probabilities.

    Attributes:
        after: prefix to {token: probability}; prefixes are tokens with blanks between them, the empty one is "". Every
            prefix that a listed token leads to, other than EOS, has a row of its own, and no other prefix has.
        tokens: the vocabulary: BOS, EOS, then the tokens in the order in which `after` names them.

    Example:
        >>> tree = Tree({"": {"A": 0.6, "B": 0.4}, "A": {"EOS": 0.5, "a": 0.5}, "A a": {"EOS": 1}, "B": {"EOS": 1}})
        >>> tree.tokens, tree.depth
        (('BOS', 'EOS', 'A', 'B', 'a'), 3)
        >>> tree.text(tree.ids("A a EOS"))
        'A a EOS'
    """

    after: Mapping[str, Mapping[str, float]]
    tokens: tuple[str, ...] = field(init=False)
    _table: FloatArray = field(init=False, repr=False)
    _next: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_rows(self.after)
        named = dict.fromkeys(token for row in self.after.values() for token in row)
        if bad := [t for t in named if not t or t != "".join(t.split()) or t == BOS]:
            raise ValueError(f"after: a token must be a word without blanks and not BOS, got {bad[0]!r}")
        object.__setattr__(self, "tokens", (BOS, EOS, *(t for t in named if t != EOS)))
        prefixes = list(self.after)
        reached = {"", *(_join(p, t) for p, row in self.after.items() for t in row if t != EOS)}
        if wrong := sorted(reached ^ set(prefixes)):
            what = "has no distribution" if wrong[0] in reached else "is reached by no token"
            raise ValueError(f"after: the prefix {wrong[0]!r} {what}")
        table = np.zeros((len(prefixes) + 1, len(self.tokens)))
        where = np.full(table.shape, len(prefixes))  # the last row stands behind every end
        for number, (prefix, row) in enumerate(self.after.items()):
            if not all(p > 0 for p in row.values()):
                raise ValueError(f"after: probabilities must be above 0, got {dict(row)} for {prefix!r}")
            for token, p in row.items():
                table[number, self.tokens.index(token)] = p
                if token != EOS:
                    where[number, self.tokens.index(token)] = prefixes.index(_join(prefix, token))
            try:
                checked_distribution(table[number])
            except ValueError as error:
                raise ValueError(f"after: no distribution for {prefix!r}: {error}") from error
        table[-1, 1] = 1.0
        object.__setattr__(self, "_table", table)
        object.__setattr__(self, "_next", where)

    @classmethod
    def closed(cls, after: Mapping[str, Mapping[str, float]]) -> Tree:
        """Return a tree in which every prefix that is reached and has no row is followed by EOS for certain.

        Example:
            >>> dict(Tree.closed({"": {"A": 0.6, "EOS": 0.4}}).after)
            {'': {'A': 0.6, 'EOS': 0.4}, 'A': {'EOS': 1.0}}
        """
        reached = [_join(prefix, token) for prefix, row in after.items() for token in row if token != EOS]
        return cls({**after, **{prefix: {EOS: 1.0} for prefix in reached if prefix not in after}})

    @property
    def depth(self) -> int:
        """Tokens of the longest text, EOS among them."""
        return max(len(prefix.split()) for prefix in self.after) + 1

    def next_log_probs(self, prefix: Sequence[str]) -> dict[str, float]:
        """Return the tokens that may follow, with their log probabilities.

        Raises:
            KeyError: if there is no such prefix.
        """
        return {token: float(np.log(p)) for token, p in self.after[" ".join(prefix)].items()}

    def step(self, ids: NDArray[np.int64], state: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
        """Read one token of each row, as a model does; a token that may not follow leads behind the end.

        Args:
            ids: (R,), BOS first.
            state: numbers of the prefixes, (R,); -1 before BOS.

        Returns:
            Log probabilities (R, V), -inf for what may not come, and the state.
        """
        now = np.where(state < 0, list(self.after).index(""), self._next[state, ids])
        with np.errstate(divide="ignore"):
            return np.log(self._table[now]), now

    def model(self, limit: int | None = None) -> dict[str, Any]:
        """Return the tree as the arguments `step`, `state`, `bos`, `eos` and `limit` of a search for one source.

        Args:
            limit: largest number of tokens; None is the depth.
        """
        whole = self.depth if limit is None else limit
        return {"step": self.step, "state": np.array([-1]), "bos": 0, "eos": 1, "limit": whole}

    def named(self, hypotheses: Sequence[Hypothesis]) -> list[list[str | float]]:
        """Return [text, probability] of each hypothesis.

        Example:
            >>> from onesentence.generate.exhaustive import exhaustive
            >>> tree = Tree.closed({"": {"A": 0.75, "B": 0.25}})
            >>> [[text, round(p, 6)] for text, p in tree.named(exhaustive(**tree.model()))]
            [['A EOS', 0.75], ['B EOS', 0.25]]
        """
        return [[self.text(h.ids), float(np.exp(h.log_prob))] for h in hypotheses]

    def walked(self, found: Found) -> list[tuple[tuple[str, ...], float, str]]:
        """Return what a search made of every prefix, ended texts among them, each after the one that it continues.

        Args:
            found: a search of this tree that kept records.

        Returns:
            Tokens, probability, and "kept", "ended", "pruned" or, where the search never formed it, "unseen". What was
            kept at first and thrown away later counts as pruned if it had ended, as kept if it was extended.

        Raises:
            ValueError: if the search kept no records: then nothing is known of any prefix.
        """
        if not found.rounds:
            raise ValueError("found: expected a search with record=True, got one without records")
        names = {"open": "kept", "aside": "ended"}
        fate = {c.ids: names.get(c.fate, c.fate) for candidates in found.rounds for c in candidates}
        rows: list[tuple[tuple[str, ...], float, str]] = []
        todo: list[tuple[tuple[str, ...], float]] = [((), 1.0)]
        while todo:
            path, p = todo.pop(0)
            if path:
                rows.append((path, p, fate.get(self.ids(" ".join(path)), "unseen")))
            if path[-1:] != (EOS,):
                todo += [((*path, token), p * q) for token, q in self.after[" ".join(path)].items()]
        return rows

    def ids(self, text: str) -> tuple[int, ...]:
        """Return the ids of a text, tokens with blanks between them.

        Raises:
            ValueError: if it holds another token.
        """
        words = text.split()
        if wrong := [word for word in words if word not in self.tokens]:
            raise ValueError(f"text: expected tokens of {', '.join(self.tokens)}, got {wrong[0]!r}")
        return tuple(map(self.tokens.index, words))

    def text(self, ids: Sequence[int]) -> str:
        """Return the tokens of ids with blanks between them."""
        return " ".join(self.tokens[i] for i in ids)


def _check_rows(after: Mapping[str, Mapping[str, float]]) -> None:
    """Refuse what is no mapping of prefixes to {token: probability}."""
    if not isinstance(after, Mapping):
        raise TypeError(f"after must map prefixes to {{token: probability}}, got {after!r}")
    for prefix, row in after.items():
        if not (isinstance(prefix, str) and isinstance(row, Mapping)):
            raise TypeError(f"after must map prefixes to {{token: probability}}, got {prefix!r}: {row!r}")
        for token, p in row.items():
            if not isinstance(token, str) or isinstance(p, bool) or not isinstance(p, Real):
                raise TypeError(
                    f"after: expected tokens with probabilities for {prefix!r}, got {token!r}: {p!r}"
                )


def _join(prefix: str, token: str) -> str:
    return f"{prefix} {token}".strip()
