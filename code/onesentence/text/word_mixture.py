"""A translation model that knows words and no order: each target word comes from some source unit, all equally likely.

    p(y_j | x) = (1 - f) mean_i t(y_j | x_i) + f / V

t(w | u) is how often a unit u was aligned with w, out of the links of u; f spreads a little over all V candidates,
so that nothing has probability 0. EOS is aligned with the unit that ends the sentence. The form is that of IBM Model 1
(Brown et al. 1993, Computational Linguistics 19:2), here with gold alignments instead of EM and without an empty unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from onesentence.text.parallel import ParallelPair
from onesentence.text.vocabulary import EOS


@dataclass(frozen=True, eq=False)
class WordMixture:
    """Word translations and their probabilities; `from_pairs` counts them.

    Attributes:
        links: unit to the target words aligned with it and their counts, EOS among them.
        words: the V candidates, EOS among them.
        floor: f, above 0 and below 1.
    """

    links: Mapping[str, Mapping[str, int]]
    words: frozenset[str]
    floor: float = 0.01

    def __post_init__(self) -> None:
        if not 0 < self.floor < 1:
            raise ValueError(f"floor: expected a share between 0 and 1, got {self.floor}")

    @classmethod
    def from_pairs(cls, pairs: Iterable[ParallelPair], *, floor: float = 0.01) -> WordMixture:
        """Count the links of aligned sentences.

        Args:
            pairs: at least one; the last unit of a source is what EOS comes from.
            floor: f.

        Raises:
            ValueError: if there is no pair, or the floor is not between 0 and 1.
        """
        links: dict[str, Counter[str]] = {}
        words = {EOS}
        for pair in pairs:
            words.update(pair.target)
            for i, j in pair.alignment:
                links.setdefault(pair.source[i], Counter())[pair.target[j]] += 1
            links.setdefault(pair.source[-1], Counter())[EOS] += 1
        if not links:
            raise ValueError("pairs: expected at least one, got none")
        return cls(links, frozenset(words), floor)

    def prob(self, word: str, source: Sequence[str]) -> float:
        """Return p(word | source), the same at every position.

        Args:
            word: a candidate.
            source: units, at least one that training aligned with something.

        Raises:
            ValueError: if the word is no candidate, or no unit of the source is known.
        """
        if word not in self.words:
            raise ValueError(f"word: expected one of {len(self.words)} candidates, got {word!r}")
        known = [self.links[unit] for unit in source if unit in self.links]
        if not known:
            raise ValueError(f"source: no unit of {'/'.join(source)} was ever aligned")
        mixed = sum(counts.get(word, 0) / sum(counts.values()) for counts in known) / len(known)
        return (1 - self.floor) * mixed + self.floor / len(self.words)

    def log_prob(self, target: Sequence[str], source: Sequence[str]) -> float:
        """Return log p(target, EOS | source) in nats.

        Args:
            target: candidates, EOS left out.
            source: units.

        Raises:
            ValueError: as `prob`.

        Example:
            >>> pair = ParallelPair(("书", "。"), ("book", "."), frozenset({(0, 0), (1, 1)}))
            >>> model = WordMixture.from_pairs([pair], floor=0.03)
            >>> round(model.prob("book", ["书"]), 3), round(model.log_prob(["book", "."], ["书", "。"]), 3)
            (0.98, -3.456)
        """
        return sum(log(self.prob(word, source)) for word in (*target, EOS))
