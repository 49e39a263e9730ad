"""The language model of a phrase-based translator: add-alpha counts that also answer for shorter contexts.

A translator asks for words behind a full context, and, when it estimates a phrase by itself, behind fewer words or
none. So one model of each order up to n stands ready (`onesentence.text.ngram.AddAlpha`); words that were never seen
share one place of the vocabulary, UNK.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onesentence.text.ngram import AddAlpha
from onesentence.text.ngram_counts import NgramCounts
from onesentence.text.vocabulary import BOS, EOS, UNK, Vocabulary


@dataclass(frozen=True, eq=False)
class TargetModel:
    """Add-alpha models of the orders 1 to n.

    Attributes:
        models: the model of order k at k - 1.
    """

    models: tuple[AddAlpha, ...]

    @property
    def order(self) -> int:
        """The longest run that was counted, in words."""
        return len(self.models)

    @property
    def vocabulary(self) -> Vocabulary:
        """What can be predicted: the words seen, EOS, and UNK for all others."""
        return self.models[0].vocabulary

    def log_prob(self, word: str, context: Sequence[str]) -> float:
        """Return ln p(word | context) in nats; only the last `order` - 1 words of the context are read."""
        near = context[max(0, len(context) - self.order + 1) :]
        return math.log(self.models[len(near)].prob(word, near))


def count_words(sentences: Iterable[Sequence[str]], *, order: int = 2, alpha: float = 0.1) -> TargetModel:
    """Count a corpus of target sentences.

    Args:
        sentences: tokens without BOS and EOS; at least one sentence.
        order: longest run to count, at least 1.
        alpha: what is added to every count, above 0.

    Raises:
        ValueError: if there is no sentence, or `order` or `alpha` is too small.

    Example:
        >>> model = count_words([["gave", "him"], ["gave", "her"]], alpha=1.0)
        >>> round(math.exp(model.log_prob("him", ["gave"])), 4)
        0.2857
    """
    corpus = [tuple(sentence) for sentence in sentences]
    if not corpus:
        raise ValueError("sentences: expected at least one sentence, got an empty corpus")
    if order < 1:
        raise ValueError(f"order: expected at least 1 word, got {order}")
    if not (math.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha: expected a number above 0, got {alpha}")
    vocabulary = Vocabulary.from_sentences(corpus, specials=[BOS, EOS, UNK])
    counts = [NgramCounts.of(corpus, size, vocabulary) for size in range(1, order + 1)]
    return TargetModel(tuple(AddAlpha(each, alpha) for each in counts))
