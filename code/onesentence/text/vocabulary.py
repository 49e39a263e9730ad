"""A vocabulary: which words a model knows, and the number of each.

A word list becomes a row number in every later model: a column of a count table, a row of an embedding, a
logit. Numbers therefore never change once a vocabulary exists. The special symbols that are asked for come
first, always in the order PAD, BOS, EOS, UNK; then the words, by first appearance or sorted by code point.
None of the four is added silently: a text of unknown words needs UNK to be asked for.

Symbols: `V` size of the vocabulary, `T` number of words of a sentence. NumPy only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.text.batches import id_vector

PAD, BOS, EOS, UNK = "PAD", "BOS", "EOS", "UNK"
SPECIALS: tuple[str, ...] = (PAD, BOS, EOS, UNK)
"""Filling, beginning of a sentence, its end, any other word; the order in which they get their numbers."""

Order = Literal["appearance", "sorted"]


@dataclass(frozen=True)
class Vocabulary:
    """Words and their numbers; the position in `symbols` is the number.

    Build one with `from_words` or `from_sentences`; two vocabularies are equal if all their numbers are.

    Attributes:
        symbols: special symbols, then words, V of them.
        specials: those of PAD, BOS, EOS, UNK that stand at the front of `symbols`.
    """

    symbols: tuple[str, ...]
    specials: tuple[str, ...] = ()
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        wanted = tuple(special for special in SPECIALS if special in self.specials)
        if wanted != self.specials:
            raise ValueError(f"specials: expected some of {SPECIALS} in this order, got {self.specials}")
        if self.symbols[: len(wanted)] != wanted:
            raise ValueError(f"symbols: expected {wanted} at the front, got {self.symbols[: len(wanted)]}")
        words = self.symbols[len(wanted) :]
        for word in words:
            _check_word(word)
        if not words:
            raise ValueError("symbols: expected at least one word besides the special symbols, got none")
        ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        if len(ids) != len(self.symbols):
            twice = next(word for word, times in Counter(words).items() if times > 1)
            raise ValueError(f"symbols: {twice!r} stands there twice, expected each word once")
        object.__setattr__(self, "_ids", ids)

    @classmethod
    def from_words(
        cls, words: Iterable[str], *, specials: Iterable[str] = (), order: Order = "appearance"
    ) -> Vocabulary:
        """Number the words of a list or a text.

        Args:
            words: the words; later repetitions are ignored.
            specials: which of PAD, BOS, EOS, UNK to put at the front.
            order: `"appearance"` numbers words as they first appear, `"sorted"` by code point.

        Raises:
            TypeError: if `words` or `specials` is a single string, or a word is not one.
            ValueError: if there is no word, a word is empty or one of the four reserved symbols, a special
                symbol is none of the four, or `order` is neither of the two.

        Example:
            >>> v = Vocabulary.from_words("I gave her a book".split(), specials=[BOS, EOS])
            >>> v.symbols
            ('BOS', 'EOS', 'I', 'gave', 'her', 'a', 'book')
            >>> v.encode(["I", "gave"]).tolist()
            [2, 3]
        """
        return cls.from_sentences([as_words("words", words)], specials=specials, order=order)

    @classmethod
    def from_sentences(
        cls,
        sentences: Iterable[Iterable[str]],
        *,
        specials: Iterable[str] = (),
        order: Order = "appearance",
        min_count: int = 1,
    ) -> Vocabulary:
        """Number the words of a corpus.

        Args:
            sentences: sentences, each a sequence of words; `list(text)` makes one of characters.
            specials: which of PAD, BOS, EOS, UNK to put at the front.
            order: `"appearance"` numbers words as they first appear, `"sorted"` by code point.
            min_count: words that occur fewer times are left out, so that they encode as UNK; at least 1.

        Raises:
            TypeError: if a sentence or `specials` is a single string, or a word is not one.
            ValueError: as for `from_words`; or if `min_count` is below 1, or above 1 without UNK.

        Example:
            >>> Vocabulary.from_sentences([["b", "a"], ["a"]], specials=[UNK], min_count=2).symbols
            ('UNK', 'a')
        """
        if order not in ("appearance", "sorted"):
            raise ValueError(f"order: expected 'appearance' or 'sorted', got {order!r}")
        asked = as_words("specials", specials)
        for special in asked:
            if special not in SPECIALS:
                raise ValueError(f"specials: expected some of {SPECIALS}, got {special!r}")
        if min_count < 1 or (min_count > 1 and UNK not in asked):
            raise ValueError(f"min_count: expected 1, or more together with UNK, got {min_count}")
        times = Counter(chain.from_iterable(as_words("sentences", sentence) for sentence in sentences))
        words = [word for word, number in times.items() if number >= min_count]
        front = tuple(special for special in SPECIALS if special in asked)
        return cls((*front, *(sorted(words) if order == "sorted" else words)), front)

    def __len__(self) -> int:
        return len(self.symbols)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self.symbols)

    @property
    def words(self) -> tuple[str, ...]:
        """The symbols without the special ones."""
        return self.symbols[len(self.specials) :]

    @cached_property
    def candidates(self) -> NDArray[np.int64]:
        """Numbers of the symbols that a model may predict, read-only: all but PAD and BOS."""
        numbers = np.array([i for i, symbol in enumerate(self.symbols) if symbol not in (PAD, BOS)])
        numbers.setflags(write=False)
        return numbers

    def id(self, word: str) -> int:
        """Return the number of a word, or that of UNK for an unknown one.

        Args:
            word: a word or a special symbol.

        Raises:
            ValueError: if the word is unknown and the vocabulary has no UNK.

        Example:
            >>> Vocabulary.from_words(["her", "him"], specials=[EOS, UNK]).id("you")
            1
        """
        number = self._ids.get(word, self._ids.get(UNK) if UNK in self.specials else None)
        if number is None:
            raise ValueError(
                f"word: {word!r} is not among the {len(self)} symbols of the vocabulary, which has no UNK; "
                "expected one of them"
            )
        return number

    def encode(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of a sentence; nothing is added at its ends.

        Args:
            words: T words, not a single string.

        Returns:
            int64, (T,).

        Raises:
            TypeError: if `words` is a single string.
            ValueError: if a word is unknown and the vocabulary has no UNK.

        Example:
            >>> v = Vocabulary.from_words(["her", "him"], specials=[EOS])
            >>> v.encode(["him", EOS]).tolist()
            [2, 0]
            >>> v.encode(["you"])
            Traceback (most recent call last):
                ...
            ValueError: word: 'you' is not among the 3 symbols of the vocabulary, which has no UNK; expected one of them
        """
        return np.array([self.id(word) for word in as_words("words", words)], dtype=np.int64)

    def decode(self, ids: ArrayLike) -> tuple[str, ...]:
        """Return the symbols with these numbers; encoding them gives the numbers back.

        Args:
            ids: integers, (T,), each at least 0 and below V.

        Raises:
            TypeError: if the numbers are not integers.
            ValueError: if they are not a vector, or one lies outside the vocabulary.

        Example:
            >>> Vocabulary.from_words(["her", "him"], specials=[EOS]).decode([2, 0])
            ('him', 'EOS')
        """
        numbers = id_vector("ids", ids)
        for number in numbers.tolist():
            if not 0 <= number < len(self):
                raise ValueError(f"ids: expected numbers from 0 to {len(self) - 1}, got {number}")
        return tuple(self.symbols[number] for number in numbers.tolist())


def as_words(name: str, value: Iterable[str]) -> Sequence[str]:
    """Return words as a sequence, refusing the single string that would be read as characters.

    Args:
        name: what the error message calls them.
        value: the words.

    Raises:
        TypeError: if they are a single string.
    """
    if isinstance(value, str):
        raise TypeError(
            f"{name}: expected a sequence of words, got the single string {value!r}; list(text) makes characters"
        )
    return value if isinstance(value, (list, tuple)) else list(value)


def _check_word(word: str) -> None:
    if not isinstance(word, str):
        raise TypeError(f"words: expected strings, got {word!r}")
    if not word:
        raise ValueError("words: expected words of at least one character, got an empty one")
    if word in SPECIALS:
        raise ValueError(f"words: {word} is a reserved symbol, not a word; ask for it in specials")
