"""Text to ids and back: one id for each character, or one for each byte of UTF-8.

Characters are Unicode code points. Bytes cover every text; the price is length (three ids for most Chinese
characters). Sections 1.9 and 1.11 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from onesentence.text.symbols import Symbol, SymbolTable

REPLACEMENT = "\ufffd"
"""What an unknown character becomes when ids are turned back to text."""


@dataclass(frozen=True)
class CharacterCoding:
    """One id for each character of a fixed list.

    Attributes:
        table: the characters and the special symbols.
        unknown: name of the special symbol that stands for other characters; None refuses them.

    Raises:
        ValueError: if a symbol is not one character, or `unknown` is no special symbol of the table.

    Example:
        >>> coding = CharacterCoding.learn(["一本书"], specials=("BOS", "EOS"))
        >>> coding.encode("书一", start="BOS", end="EOS")
        (0, 3, 2, 1)
        >>> coding.decode((0, 3, 2, 1))
        '书一'
        >>> coding.encode("书名")
        Traceback (most recent call last):
            ...
        ValueError: text: no id for '名' (U+540D) at position 1, and no symbol for the unknown
    """

    table: SymbolTable
    unknown: str | None = None

    def __post_init__(self) -> None:
        for symbol in self.table.symbols:
            if not isinstance(symbol, str) or len(symbol) != 1:
                raise ValueError(f"table: expected single characters, got {symbol!r}")
        if self.unknown is not None:
            self.table.special_id(self.unknown)

    @classmethod
    def learn(
        cls, texts: Iterable[str], *, specials: tuple[str, ...] = (), unknown: str | None = None
    ) -> CharacterCoding:
        """Return the coding for the characters of some texts, in the order of their code points.

        Args:
            texts: training texts only; not a single string.
            specials: names of special symbols.
            unknown: which of them stands for characters that the texts lack; None refuses these.

        Raises:
            TypeError: if `texts` is a single string.
            ValueError: if `unknown` is not among the special symbols.
        """
        if isinstance(texts, str):
            raise TypeError("texts: expected a collection of texts, got a single string")
        characters = sorted({character for text in texts for character in text})
        return cls(SymbolTable(tuple(characters), specials), unknown)

    def encode(self, text: str, *, start: str | None = None, end: str | None = None) -> tuple[int, ...]:
        """Return the ids of a text, between the special symbols `start` and `end` where these are named.

        Raises:
            ValueError: if a character has no id and none stands for the unknown, naming the first one.
        """
        ids = []
        for at, character in enumerate(text):
            if character in self.table:
                ids.append(self.table.id_of(character))
            elif self.unknown is not None:
                ids.append(self.table.special_id(self.unknown))
            else:
                raise ValueError(
                    f"text: no id for {character!r} (U+{ord(character):04X}) at position {at}, "
                    "and no symbol for the unknown"
                )
        return self.table.framed(ids, start, end)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids. Special symbols give nothing, the unknown one gives U+FFFD.

        Raises:
            ValueError: if no symbol has an id.
        """
        lost = None if self.unknown is None else self.table.special_id(self.unknown)
        parts = []
        for number in ids:
            symbol = self.table.symbol(number)
            parts.append(REPLACEMENT if number == lost else "" if symbol is None else str(symbol))
        return "".join(parts)


BYTES: tuple[bytes, ...] = tuple(bytes([value]) for value in range(256))
"""The 256 bytes in order."""


@dataclass(frozen=True)
class ByteCoding:
    """One id for each byte of a text's UTF-8: every text has ids, none is unknown.

    Attributes:
        specials: names of special symbols; the byte b has the id b + len(specials).

    Example:
        >>> ByteCoding().encode("书!")
        (228, 185, 166, 33)
        >>> ByteCoding(("EOS",)).decode((229, 186, 167, 34, 0))
        '书!'
        >>> ByteCoding().decode((228, 185))
        Traceback (most recent call last):
            ...
        ValueError: ids: the bytes E4 B9 are not UTF-8 at byte 0
    """

    specials: tuple[str, ...] = ()

    @cached_property
    def table(self) -> SymbolTable:
        """The special symbols and the 256 bytes."""
        return SymbolTable(BYTES, self.specials)

    def encode(self, text: str, *, start: str | None = None, end: str | None = None) -> tuple[int, ...]:
        """Return the ids of a text, between the special symbols `start` and `end` where these are named.

        Raises:
            ValueError: if the text holds half of a surrogate pair, which is no character.
        """
        offset = len(self.specials)
        return self.table.framed([byte + offset for byte in to_utf8(text)], start, end)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; special symbols give nothing.

        Raises:
            ValueError: if no symbol has an id, or the bytes are not UTF-8.
        """
        return from_utf8(b"".join(as_bytes(self.table.symbol(number)) for number in ids))


def as_bytes(symbol: Symbol | None) -> bytes:
    """Return the bytes of a symbol; none for a special one."""
    return b"" if symbol is None else symbol if isinstance(symbol, bytes) else to_utf8(symbol)


def to_utf8(text: str) -> bytes:
    """Return the UTF-8 of a text.

    Raises:
        ValueError: if the text holds half of a surrogate pair, which is no character.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ValueError(f"text: U+{code:04X} at position {error.start} is no character") from None


def from_utf8(data: bytes) -> str:
    """Return the text of some UTF-8.

    Raises:
        ValueError: if the bytes are not UTF-8, naming where.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = data[error.start : error.start + 4].hex(" ").upper()
        raise ValueError(f"ids: the bytes {shown} are not UTF-8 at byte {error.start}") from None
