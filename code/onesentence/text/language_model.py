"""What every language model of the book answers, however it gets its numbers.

The chain rule (section 1.7 of the course) is exact and fixes no implementation:

    p(x_1, ..., x_T, EOS) = p(x_1 | BOS) p(x_2 | BOS x_1) ... p(EOS | BOS x_1 ... x_T)

BOS is the empty prefix and is never predicted; EOS is the last factor, so sentences of all lengths share a
total probability of 1. `LanguageModel` is the interface, `ContextModel` does everything that follows from
the conditional probabilities; a subclass supplies `_prob` and `_row` for a context of n - 1 numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from math import exp, inf, log
from typing import NamedTuple, Protocol

import numpy as np

from onesentence.numerics import FloatArray
from onesentence.text.ngram_counts import Ids, check_length, sentence_ids
from onesentence.text.vocabulary import BOS, EOS, PAD, Vocabulary


class Sample(NamedTuple):
    """A generated sentence.

    Attributes:
        words: without BOS and EOS.
        ended: whether EOS was drawn; False where the limit of steps cut the sentence off.
    """

    words: tuple[str, ...]
    ended: bool


class LanguageModel(Protocol):
    """A distribution over the next word for each context, and what follows from it.

    Arguments and errors are documented at `ContextModel`.
    """

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, with BOS and EOS."""
        ...

    @property
    def order(self) -> int:
        """The model sees order - 1 words."""
        ...

    def prob(self, word: str, context: Sequence[str]) -> float:
        """Return the probability that a word comes next."""
        ...

    def distribution(self, context: Sequence[str]) -> FloatArray:
        """Return the probabilities of all symbols, (V,)."""
        ...

    def log_prob_sentence(self, words: Sequence[str]) -> float:
        """Return log p(words, EOS) in nats."""
        ...

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> float:
        """Return exp of the mean negative log probability per token, EOS included."""
        ...

    def sample(self, rng: np.random.Generator, max_length: int) -> Sample:
        """Draw a sentence, with at most `max_length` draws."""
        ...


class ContextModel(LanguageModel):
    """A language model that sees the last n - 1 words; base of the models of this package.

    A context shorter than n - 1 words is the beginning of a sentence and is filled up with BOS on the left.
    """

    @property
    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, with BOS and EOS."""

    @property
    @abstractmethod
    def order(self) -> int:
        """n: the model sees n - 1 words."""

    @abstractmethod
    def _prob(self, word: int, context: Ids) -> float:
        """Return p(w | h) for a candidate and a context of exactly n - 1 numbers."""

    @abstractmethod
    def _row(self, context: Ids) -> FloatArray:
        """Return p(. | h), (V,), for a context of exactly n - 1 numbers."""

    def prob(self, word: str, context: Sequence[str]) -> float:
        """Return the probability that a word comes next.

        Args:
            word: a word, UNK or EOS; BOS and PAD are never predicted and get 0.
            context: the words before it, at most n - 1; fewer are the beginning of a sentence.

        Raises:
            TypeError: if the context is a single string.
            ValueError: if the context is longer than n - 1, holds PAD or EOS, or BOS after a word; if a word
                is unknown to a vocabulary without UNK; if the model has no distribution for the context.
        """
        context_ids, number = self._context(context), self.vocabulary.id(word)
        return 0.0 if word in (PAD, BOS) else self._prob(number, context_ids)

    def distribution(self, context: Sequence[str]) -> FloatArray:
        """Return the probabilities of all symbols of the vocabulary as the next one.

        Args:
            context: the words before it, at most n - 1; fewer are the beginning of a sentence.

        Returns:
            float64, (V,), in the order of the vocabulary; sums to 1, with 0 at BOS and PAD.

        Raises:
            TypeError, ValueError: as for `prob`.
        """
        return self._row(self._context(context))

    def log_prob_sentence(self, words: Sequence[str]) -> float:
        """Return log p(words, EOS) in nats: the chain rule with EOS as the last factor.

        Args:
            words: the sentence without BOS and EOS; may be empty.

        Returns:
            At most 0. `-inf` as soon as one factor is 0; the factors after it are not asked for.

        Raises:
            ValueError: if a word is unknown to a vocabulary without UNK, or the sentence holds BOS or EOS.
        """
        filled = [*self._front, *sentence_ids(self.vocabulary, words), self.vocabulary.id(EOS)]
        reach, total = self.order - 1, 0.0
        for at in range(reach, len(filled)):
            p = self._prob(filled[at], tuple(filled[at - reach : at]))
            if p == 0:
                return -inf
            total += log(p)
        return total

    def perplexity(self, sentences: Iterable[Sequence[str]]) -> float:
        """Return exp of the mean negative log probability per predicted token, EOS included.

        Args:
            sentences: at least one sentence, without BOS and EOS.

        Returns:
            At least 1; `inf` where a sentence has probability 0.

        Raises:
            ValueError: if there is no sentence, or as for `log_prob_sentence`.
        """
        total, tokens = 0.0, 0
        for words in sentences:
            total += self.log_prob_sentence(words)
            tokens += len(words) + 1
        if not tokens:
            raise ValueError("sentences: expected at least one, got an empty corpus")
        return inf if total == -inf else exp(-total / tokens)

    def sample(self, rng: np.random.Generator, max_length: int) -> Sample:
        """Draw a sentence word by word until EOS is drawn or the steps are used up.

        Args:
            rng: the generator.
            max_length: largest number of draws, the one that gives EOS included; at least 1.

        Returns:
            The words, and whether EOS was drawn. Stopping at the limit is not an end of the sentence.

        Raises:
            ValueError: if `max_length` is below 1.
        """
        if max_length < 1:
            raise ValueError(f"max_length: expected at least 1 step, got {max_length}")
        end, history = self.vocabulary.id(EOS), list(self._front)
        for _ in range(max_length):
            row = self._row(tuple(history[len(history) - self.order + 1 :]))
            drawn = int(rng.choice(len(row), p=row / row.sum()))
            if drawn == end:
                return Sample(self.vocabulary.decode(history[self.order - 1 :]), True)
            history.append(drawn)
        return Sample(self.vocabulary.decode(history[self.order - 1 :]), False)

    @property
    def _front(self) -> list[int]:
        return [self.vocabulary.id(BOS)] * (self.order - 1)

    def _context(self, context: Sequence[str]) -> Ids:
        """Return a checked context as exactly n - 1 numbers."""
        check_length(context, self.order)
        started = False
        for word in context:
            if word in (PAD, EOS) or (word == BOS and started):
                raise ValueError(f"context: expected words, with BOS only before them, got {tuple(context)}")
            started = started or word != BOS
        ids = self.vocabulary.encode(context).tolist()
        return (*self._front[len(ids) :], *ids)
