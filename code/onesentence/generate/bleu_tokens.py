"""What BLEU counts as a token: four rules, each equal to sacrebleu 2.5.1's of the same name.

`none`: what white space separates. `char`: every character that is not white space. `13a`: words of a European
language, by the rules of mteval-v13a, the script of the NIST evaluations that WMT scores with; it splits off ASCII
punctuation and leaves Chinese characters together. `zh`: every Chinese character by itself, the rest as in 13a.

The ranges of `zh` are those of sacrebleu as Python reads them, not those that its comments name. Two of its rows mean
U+20000 to U+2A6D6 and U+2F800 to U+2FA1D, but an escape of four digits reads them as U+2001 to U+2A6D and U+2F81 to
U+2FA1: the typographic quotes “ ” and the ellipsis … are split off and the rare characters of Extension B are not
(github.com/mjpost/sacrebleu/issues/298). A score is comparable only where this is repeated.

Post 2018 (arXiv:1804.08771): a score is comparable only if its tokenisation is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

Tokenisation: TypeAlias = Literal["13a", "zh", "char", "none"]
Tokens: TypeAlias = tuple[str, ...]

_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
"""Replaced in this order, so `&amp;lt;` becomes `<` too."""

_SPLIT = (
    (re.compile(r"([ -&(-+:-@/\[-`{-~])"), r" \1 "),  # ASCII punctuation but ' , - .
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # . and , unless a digit stands before them
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # or behind
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),  # - behind a digit
)

_CHINESE = (
    (0x2001, 0x2A6D),  # punctuation, arrows, mathematics: see above
    (0x2E80, 0x2FDF),  # radicals; U+2FE0 to U+2FEF are not assigned
    (0x2FF0, 0x303F),  # description characters, CJK punctuation
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31BF),
    (0x31C0, 0x31EF),  # strokes
    (0x3200, 0x4DB5),  # enclosed and compatibility characters, Extension A
    (0x4E00, 0x9FBB),  # the unified ideographs of Unicode 4.1
    (0xF900, 0xFA2D),
    (0xFA30, 0xFA6A),
    (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F),  # vertical forms
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),  # full-width forms, 。 and ， among them are U+3002 and U+FF0C
)
_HAN = re.compile("([" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _CHINESE) + "])")


def tokens(text: str, tokenisation: Tokenisation) -> Tokens:
    """Cut a text into what BLEU counts.

    Args:
        text: a sentence, as a reader would see it (detokenised) for `13a` and `zh`.
        tokenisation: `13a`, `zh`, `char` or `none`; there is no default, since every score depends on it.

    Raises:
        TypeError: if the text is not a string.
        ValueError: for an unknown tokenisation.

    Example:
        >>> tokens("I gave him a book, yesterday.", "13a")
        ('I', 'gave', 'him', 'a', 'book', ',', 'yesterday', '.')
        >>> tokens("我给了他book。", "zh"), tokens("我给了他book。", "13a")
        (('我', '给', '了', '他', 'book', '。'), ('我给了他book。',))
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, got {text!r}")
    return _RULES[checked_tokenisation(tokenisation)](text)


def checked_tokenisation(tokenisation: str) -> Tokenisation:
    """Return the name of a tokenisation after checking it.

    Raises:
        ValueError: if it is not one of the four.
    """
    if tokenisation not in get_args(Tokenisation):
        expected = ", ".join(get_args(Tokenisation))
        raise ValueError(f"tokenisation must be one of {expected}, got {tokenisation!r}")
    return tokenisation  # type: ignore[return-value]


def _split(text: str) -> Tokens:
    for pattern, replacement in _SPLIT:
        text = pattern.sub(replacement, text)
    return tuple(text.split())


def _13a(text: str) -> Tokens:
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return _split(f" {text} ")


def _zh(text: str) -> Tokens:
    return _split(_HAN.sub(r" \1 ", text.strip()))


def _char(text: str) -> Tokens:
    return tuple("".join(text.split()))


def _none(text: str) -> Tokens:
    return tuple(text.split())


_RULES: dict[Tokenisation, Callable[[str], Tokens]] = {"13a": _13a, "zh": _zh, "char": _char, "none": _none}
