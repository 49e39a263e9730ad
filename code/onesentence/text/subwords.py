"""Byte-pair encoding of whole texts, in two variants that must not be confused.

`CharacterBpe` starts from the characters of its training texts, as the first BPE for translation did (Sennrich
et al. 2016, arXiv:1508.07909). A character that training lacks has no symbol, and the tokenizer says beforehand
what happens then: it is refused, becomes UNK and is lost, or falls back to its bytes, which have ids of their own.

`ByteBpe` starts from the 256 bytes, as Radford et al. 2019 (GPT-2, section 2.2) did, so every text has ids and
comes back unchanged. Its pieces are bytes and may cut a character in two.

Both count only the training texts and never merge across words. Words of `CharacterBpe` are what spaces divide,
each with a mark at its end; words of `ByteBpe` are runs of letters and digits, runs of other signs, each with one
space before it, and single white space (GPT-2 divides further). Chinese has no spaces, so there a "word" may be
a whole clause. Nothing is normalised: case, width and composition of characters stay. Section 1.12 of the course.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from onesentence.text.bpe import END_OF_WORD, apply_rules, characters, learn, ranks, utf8_bytes
from onesentence.text.coding import BYTES, REPLACEMENT, as_bytes, from_utf8, to_utf8
from onesentence.text.symbols import Symbol, SymbolTable

Unknown = Literal["refuse", "UNK", "bytes"]
UNK = "UNK"
_WORDS = re.compile(r" ?\w+| ?[^\w\s]+|\s")


def space_words(text: str) -> tuple[str, ...]:
    """Cut a text at its spaces; joining the words with single spaces gives the text back.

    Example:
        >>> space_words("low lower"), space_words("a  b"), space_words("")
        (('low', 'lower'), ('a', '', 'b'), ())
    """
    return tuple(text.split(" ")) if text else ()


def run_words(text: str) -> tuple[str, ...]:
    """Cut a text into runs of letters, runs of signs, and white space; joining them gives the text back.

    Example:
        >>> run_words("low, lower  岚？")
        ('low', ',', ' lower', ' ', ' 岚', '？')
    """
    return tuple(_WORDS.findall(text))


@dataclass(frozen=True)
class CharacterBpe:
    """BPE whose smallest symbols are the characters of the training texts and a mark for the end of a word.

    Attributes:
        alphabet: the characters that have symbols.
        rules: the pairs to merge, in the order of learning.
        unknown: what happens to other characters: `"refuse"`, `"UNK"` or `"bytes"`.
        specials: names of special symbols; `"UNK"` must be among them exactly if `unknown` is `"UNK"`.

    Raises:
        ValueError: for another `unknown`, or if it and `specials` do not fit together.

    Example:
        >>> bpe = CharacterBpe.learn(["low low low lower lower new"], 4)
        >>> bpe.pieces("newer lower")
        ('n', 'e', 'w', 'er', '</w>', 'low', 'er', '</w>')
        >>> bpe.decode(bpe.encode("newer lower"))
        'newer lower'
        >>> bpe.pieces("wider")
        Traceback (most recent call last):
            ...
        ValueError: text: no symbol for 'i' (U+0069) in 'wider'
    """

    alphabet: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]
    unknown: Unknown = "refuse"
    specials: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.unknown not in ("refuse", "UNK", "bytes"):
            raise ValueError(f"unknown: expected 'refuse', 'UNK' or 'bytes', got {self.unknown!r}")
        if (self.unknown == UNK) != (UNK in self.specials):
            raise ValueError(f"specials: expected UNK exactly if unknown is 'UNK', got {self.specials}")

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        merges: int,
        *,
        unknown: Unknown = "refuse",
        specials: tuple[str, ...] = (),
    ) -> CharacterBpe:
        """Learn alphabet and rules from training texts, and from nothing else.

        Args:
            texts: training texts; not a single string.
            merges: how many merges to learn at most.
            unknown: what happens to characters that the texts lack.
            specials: names of special symbols.

        Raises:
            TypeError: if `texts` is a single string, or `merges` no integer.
            ValueError: if `merges` is negative, a text contains `</w>`, or `unknown` and `specials` do not fit.
        """
        counts = Counter(word for text in _several(texts) for word in space_words(text))
        alphabet = tuple(sorted({character for word in counts for character in word}))
        return cls(alphabet, learn(counts, merges, spell=characters).rules, unknown, specials)

    @cached_property
    def table(self) -> SymbolTable:
        """Special symbols, bytes if they are the fallback, characters, the mark, pieces as they were learned."""
        pieces = dict.fromkeys(first + second for first, second in self.rules)
        known = dict.fromkeys((*self.alphabet, END_OF_WORD, *pieces))
        return SymbolTable((*(BYTES if self.unknown == "bytes" else ()), *known), self.specials)

    @cached_property
    def _ranks(self) -> dict[tuple[str, str], int]:
        return ranks(self.rules)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.alphabet)

    def pieces(self, text: str) -> tuple[Symbol | None, ...]:
        """Return the pieces of a text: text, single bytes where characters fell back, None for UNK.

        Raises:
            ValueError: if a character has no symbol and is to be refused.
        """
        return tuple(piece for word in space_words(text) for piece in self._word(word))

    def _word(self, word: str) -> list[Symbol | None]:
        """Cut a word at its unknown characters; what lies between is merged by the rules."""
        found: list[Symbol | None] = []
        run: list[str] = []
        for character in word:
            if character in self._known:
                run.append(character)
                continue
            found += apply_rules(tuple(run), self._ranks)[0]
            run = []
            found += self._instead(character, word)
        return found + list(apply_rules((*run, END_OF_WORD), self._ranks)[0])

    def _instead(self, character: str, word: str) -> tuple[Symbol | None, ...]:
        if self.unknown == "refuse":
            raise ValueError(f"text: no symbol for {character!r} (U+{ord(character):04X}) in {word!r}")
        return (None,) if self.unknown == UNK else utf8_bytes(character)

    def encode(self, text: str, *, start: str | None = None, end: str | None = None) -> tuple[int, ...]:
        """Return the ids of a text, between the special symbols `start` and `end` where these are named.

        Raises:
            ValueError: if a character has no symbol and is to be refused.
        """
        ids = (
            self.table.special_id(UNK) if piece is None else self.table.id_of(piece)
            for piece in self.pieces(text)
        )
        return self.table.framed(tuple(ids), start, end)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids. Special symbols give nothing, UNK gives U+FFFD.

        The mark at the end of a word becomes a space, except at the end of the text.

        Raises:
            ValueError: if no symbol has an id, or fallen-back bytes are not UTF-8.
        """
        lost = self.table.special_id(UNK) if self.unknown == UNK else None
        parts: list[bytes] = []
        ended = False
        for number in ids:
            symbol = self.table.symbol(number)
            if symbol is None and number != lost:
                continue
            ended = isinstance(symbol, str) and symbol.endswith(END_OF_WORD)
            if isinstance(symbol, str) and ended:
                parts.append(to_utf8(symbol.removesuffix(END_OF_WORD) + " "))
            else:
                parts.append(as_bytes(REPLACEMENT if symbol is None else symbol))
        text = from_utf8(b"".join(parts))
        return text[:-1] if ended else text


@dataclass(frozen=True)
class ByteBpe:
    r"""BPE whose smallest symbols are the 256 bytes: every text has ids and comes back unchanged.

    Attributes:
        rules: the pairs to merge, in the order of learning.
        specials: names of special symbols.

    Example:
        >>> bpe = ByteBpe.learn(["low low low lower lower new"], 3)
        >>> bpe.pieces("low 岚")
        (b'low', b' ', b'\xe5', b'\xb2', b'\x9a')
        >>> bpe.decode(bpe.encode("low 岚"))
        'low 岚'
    """

    rules: tuple[tuple[bytes, bytes], ...]
    specials: tuple[str, ...] = ()

    @classmethod
    def learn(cls, texts: Iterable[str], merges: int, *, specials: tuple[str, ...] = ()) -> ByteBpe:
        """Learn rules from training texts, and from nothing else.

        Args:
            texts: training texts; not a single string.
            merges: how many merges to learn at most.
            specials: names of special symbols.

        Raises:
            TypeError: if `texts` is a single string, or `merges` no integer.
            ValueError: if `merges` is negative.
        """
        counts = Counter(word for text in _several(texts) for word in run_words(text))
        return cls(learn(counts, merges, spell=utf8_bytes).rules, specials)

    @cached_property
    def table(self) -> SymbolTable:
        """Special symbols, the 256 bytes, pieces as they were learned."""
        pieces = dict.fromkeys(first + second for first, second in self.rules)
        return SymbolTable((*BYTES, *pieces), self.specials)

    @cached_property
    def _ranks(self) -> dict[tuple[bytes, bytes], int]:
        return ranks(self.rules)

    def pieces(self, text: str) -> tuple[bytes, ...]:
        """Return the pieces of a text; one character may be cut in two.

        Raises:
            ValueError: if the text holds half of a surrogate pair, which is no character.
        """
        words = (utf8_bytes(word) for word in run_words(text))
        return tuple(piece for word in words for piece in apply_rules(word, self._ranks)[0])

    def encode(self, text: str, *, start: str | None = None, end: str | None = None) -> tuple[int, ...]:
        """Return the ids of a text, between the special symbols `start` and `end` where these are named.

        Raises:
            ValueError: if the text holds half of a surrogate pair, which is no character.
        """
        return self.table.framed([self.table.id_of(piece) for piece in self.pieces(text)], start, end)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; special symbols give nothing.

        Raises:
            ValueError: if no symbol has an id, or the bytes are not UTF-8.
        """
        return from_utf8(b"".join(as_bytes(self.table.symbol(number)) for number in ids))


def _several(texts: Iterable[str]) -> Iterable[str]:
    if isinstance(texts, str):
        raise TypeError("texts: expected a collection of texts, got a single string")
    return texts
