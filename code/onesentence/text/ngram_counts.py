"""Counts of n-grams: how often each word followed each context of n - 1 words.

A sentence x_1 ... x_T is counted as BOS ... BOS x_1 ... x_T EOS with n - 1 times BOS in front and one EOS.
Each of the T + 1 predicted positions (the words and EOS, never BOS) gives one n-gram. Because of the filling
every shorter k-gram that ends at a predicted position is the end of exactly one n-gram, so the tables of all
lower orders are sums of the highest.

Symbols: `n` order; h context (a tuple of at most n - 1 numbers); w word; C(h, w) and C(h) counts.
Differences: nltk's `padded_everygram_pipeline` also fills n - 1 times EOS and counts BOS as a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from onesentence.text.vocabulary import BOS, EOS, PAD, Vocabulary, as_words

Ids = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts of words after contexts of one length.

    Attributes:
        rows: context to the words seen after it and their counts, all positive.
        totals: context to the sum of its row.
    """

    rows: Mapping[Ids, Mapping[int, int]]
    totals: Mapping[Ids, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "totals", {h: sum(row.values()) for h, row in self.rows.items()})


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """All counts up to one order.

    Attributes:
        vocabulary: has BOS and EOS.
        order: n, the length of the longest n-grams counted; at least 1.
        ngrams: number of times each n-gram was seen; at least one n-gram, each at least once.
        tables: `tables[k]` has the contexts of length k, from 0 to n - 1.
    """

    vocabulary: Vocabulary
    order: int
    ngrams: Mapping[Ids, int]
    tables: tuple[CountTable, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_order(self.order)
        _check_vocabulary(self.vocabulary)
        if not self.ngrams:
            raise ValueError("ngrams: expected at least one n-gram, got an empty corpus")
        predicted = set(self.vocabulary.candidates.tolist())
        for gram, count in self.ngrams.items():
            if len(gram) != self.order:
                raise ValueError(f"ngrams: expected {self.order} numbers in each, got {gram}")
            if gram[-1] not in predicted or not 0 <= min(gram) <= max(gram) < len(self.vocabulary.symbols):
                raise ValueError(
                    f"ngrams: expected numbers of the vocabulary, the last predictable, got {gram}"
                )
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise ValueError(f"ngrams: expected a count of at least 1 for {gram}, got {count!r}")
        rows: list[dict[Ids, dict[int, int]]] = [{} for _ in range(self.order)]
        for gram, count in self.ngrams.items():
            word = gram[-1]
            for length in range(self.order):
                row = rows[length].setdefault(gram[self.order - 1 - length : -1], {})
                row[word] = row.get(word, 0) + count
        object.__setattr__(self, "tables", tuple(CountTable(table) for table in rows))

    @classmethod
    def of(
        cls, sentences: Iterable[Sequence[str]], order: int, vocabulary: Vocabulary | None = None
    ) -> NgramCounts:
        """Count the n-grams of a corpus.

        Args:
            sentences: sentences, each a sequence of words without BOS and EOS; may be empty sequences.
            order: n, at least 1.
            vocabulary: has BOS and EOS; None makes one of the words of the corpus by first appearance.

        Raises:
            TypeError: if a sentence is a single string.
            ValueError: if there is no sentence, the order is below 1, a word is unknown to a vocabulary
                without UNK, or a special symbol stands inside a sentence.

        Example:
            >>> counts = NgramCounts.of([["I", "gave", "her"], ["I", "gave", "him"]], order=3)
            >>> counts.count("her", ["I", "gave"]), counts.count("EOS", ["gave", "him"])
            (1, 1)
        """
        _check_order(order)
        corpus = list(sentences)
        if not corpus:
            raise ValueError("sentences: expected at least one, got an empty corpus")
        if vocabulary is None:
            vocabulary = Vocabulary.from_sentences(corpus, specials=[BOS, EOS])
        _check_vocabulary(vocabulary)
        front, end = [vocabulary.id(BOS)] * (order - 1), vocabulary.id(EOS)
        ngrams: Counter[Ids] = Counter()
        for sentence in corpus:
            filled = [*front, *sentence_ids(vocabulary, sentence), end]
            ngrams.update(zip(*(filled[start:] for start in range(order)), strict=False))
        return cls(vocabulary, order, ngrams)

    def count(self, word: str, context: Sequence[str]) -> int:
        """Return C(h, w): how often a word followed a context, 0 if never.

        Args:
            word: a word or EOS.
            context: at most n - 1 words or BOS. A shorter one is *not* filled up: it asks for a lower order.

        Raises:
            ValueError: if the context is longer, or a word is unknown to a vocabulary without UNK.
        """
        return self.followers(context).get(self.vocabulary.symbols[self.vocabulary.id(word)], 0)

    def followers(self, context: Sequence[str]) -> dict[str, int]:
        """Return the words that followed a context and how often each did.

        Args:
            context: at most n - 1 words or BOS; a shorter one asks for a lower order.

        Raises:
            ValueError: if the context is longer, or a word is unknown to a vocabulary without UNK.

        Example:
            >>> counts = NgramCounts.of([["I", "gave", "her"], ["I", "gave", "him"]], order=3)
            >>> counts.followers(["gave"])
            {'her': 1, 'him': 1}
        """
        check_length(context, self.order)
        row = self.tables[len(context)].rows.get(tuple(self.vocabulary.encode(context).tolist()), {})
        return {self.vocabulary.symbols[word]: count for word, count in row.items()}

    def predecessors(self, word: str) -> tuple[str, ...]:
        """Return the different words (BOS among them) that stood right before a word, in order of number.

        Args:
            word: a word or EOS.

        Raises:
            ValueError: if the order is 1, which keeps no context, or the word is unknown.

        Example:
            >>> NgramCounts.of([["San", "Francisco"], ["San", "Francisco"]], order=2).predecessors("Francisco")
            ('San',)
        """
        if self.order < 2:
            raise ValueError("predecessors: expected counts of order 2 or more, got order 1")
        number = self.vocabulary.id(word)
        before = sorted(h[0] for h, row in self.tables[1].rows.items() if number in row)
        return self.vocabulary.decode(before)


def sentence_ids(vocabulary: Vocabulary, sentence: Sequence[str]) -> list[int]:
    """Return the numbers of a sentence that may be counted or scored: one without PAD, BOS and EOS.

    Args:
        vocabulary: the vocabulary.
        sentence: words; may be empty.

    Raises:
        TypeError: if the sentence is a single string.
        ValueError: if it holds a special symbol, or an unknown word and the vocabulary has no UNK.
    """
    for symbol in (PAD, BOS, EOS):
        if not isinstance(sentence, str) and symbol in sentence:
            raise ValueError(f"sentence: expected words only, got {symbol}, which is added where it belongs")
    return [vocabulary.id(word) for word in as_words("sentence", sentence)]


def check_length(context: Sequence[str], order: int) -> None:
    """Refuse a context that a model of this order cannot see whole.

    Raises:
        TypeError: if the context is a single string.
        ValueError: if it has more than order - 1 words.
    """
    if isinstance(context, str):
        raise TypeError(f"context: expected a sequence of words, got the single string {context!r}")
    if len(context) > order - 1:
        raise ValueError(
            f"context: expected at most {order - 1} words for order {order}, got {len(context)}: {tuple(context)}"
        )


def _check_order(order: int) -> None:
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ValueError(f"order: expected an integer of at least 1, got {order!r}")


def _check_vocabulary(vocabulary: Vocabulary) -> None:
    missing = [symbol for symbol in (BOS, EOS) if symbol not in vocabulary.specials]
    if missing:
        raise ValueError(f"vocabulary: expected the special symbols BOS and EOS, {missing[0]} is missing")
