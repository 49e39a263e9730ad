"""A small n-gram language model with add-alpha smoothing, until a fuller one takes its place.

    p(w | h) = (N(h w) + alpha) / (N(h) + alpha (V + 1))

with V the target words seen and EOS, and one further share for all words never seen. Private: `phrase` knows
it only as a `LanguageModel`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BOS, EOS = "BOS", "EOS"  # as in `phrase`


@dataclass(frozen=True)
class AddAlphaModel:
    """Counts of runs of up to `order` words, smoothed when asked.

    Attributes:
        order: longest run that was counted, in words.
        alpha: what is added to every count.
        counts: run of words to how often its last word was predicted after the others.
        histories: run of words to how often some word was predicted after it.
        vocabulary: the words that were predicted, EOS among them.
    """

    order: int
    alpha: float
    counts: Counter[tuple[str, ...]]
    histories: Counter[tuple[str, ...]]
    vocabulary: frozenset[str]

    def log_prob(self, word: str, context: Sequence[str]) -> float:
        """Return ln p(word | context) in nats; only the last `order` - 1 words of the context are read."""
        history = tuple(context)[max(0, len(context) - self.order + 1) :]
        above = self.counts[(*history, word)] + self.alpha
        return math.log(above / (self.histories[history] + self.alpha * (len(self.vocabulary) + 1)))


def count_words(sentences: Iterable[Sequence[str]], *, order: int = 2, alpha: float = 0.1) -> AddAlphaModel:
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
    counts, histories = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for sentence in corpus:
        padded = (*[BOS] * (order - 1), *sentence, EOS)
        for at in range(order - 1, len(padded)):
            for size in range(order):
                counts[padded[at - size : at + 1]] += 1
                histories[padded[at - size : at]] += 1
    return AddAlphaModel(order, alpha, counts, histories, frozenset({EOS}.union(*corpus)))
