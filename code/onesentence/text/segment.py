"""Cutting a sentence into units by a word list, and two readings of one character by its neighbours.

The nine units of the book are a teaching choice. A different word list gives a different segmentation of
the same text, equally legitimate; what no segmentation may change is the text itself. No real tokenizer is
imitated here.

The character 本 shows what a dictionary cannot do: it lists a measure word (一本书) and a determiner (本书,
this book), and only the neighbours decide. Section 1.2 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from onesentence.sentence.example import UNITS

TEACHING_LEXICON: frozenset[str] = frozenset(UNITS)
"""The nine units of the book."""

COARSE_LEXICON: frozenset[str] = frozenset({"我", "昨天", "给了", "他", "一本", "书", "。"})
"""A coarser choice: verb with its particle, numeral with its measure word."""


def segment(text: str, lexicon: Iterable[str]) -> tuple[str, ...]:
    """Cut a text by forward maximum matching: from left to right, the longest word that fits.

    The method is greedy and never goes back, so a long word may take a character from its neighbour. A
    character at which no word starts becomes a unit of its own. Joining the units gives the text back.

    Args:
        text: the text; may be empty.
        lexicon: the words, in any order; not a single string.

    Returns:
        The units in order.

    Raises:
        TypeError: if the lexicon is a string, which would be read as a list of characters.
        ValueError: if a word is empty.

    Example:
        >>> "/".join(segment("我昨天给了他一本书。", TEACHING_LEXICON))
        '我/昨天/给/了/他/一/本/书/。'
        >>> "/".join(segment("我昨天给了他一本书。", COARSE_LEXICON))
        '我/昨天/给了/他/一本/书/。'
        >>> segment("研究生命起源", {"研究", "研究生", "生命", "起源"})
        ('研究生', '命', '起源')
    """
    if isinstance(lexicon, str):
        raise TypeError("lexicon: expected a collection of words, got a single string")
    words = frozenset(lexicon)
    if "" in words:
        raise ValueError("lexicon: an empty word can never be matched")
    longest = max((len(word) for word in words), default=1)
    units: list[str] = []
    position = 0
    while position < len(text):
        ends = range(min(position + longest, len(text)), position, -1)
        end = next((end for end in ends if text[position:end] in words), position + 1)
        units.append(text[position:end])
        position = end
    return tuple(units)


Sense = Literal["measure word", "this", "undecided"]


class Reading(NamedTuple):
    """What one occurrence of a character was read as, and the context that decided it.

    Attributes:
        position: index of the character in the text, from 0.
        sense: `"measure word"`, `"this"` or `"undecided"`.
        because: the evidence, or what was lacking.
    """

    position: int
    sense: Sense
    because: str


_QUANTIFIERS = (
    *"0123456789０１２３４５６７８９〇零一二两三四五六七八九十百千万几半这那每哪某",
    "多少",
    "若干",
)
_VOLUMES = ("书", "词典", "字典", "小说", "杂志", "相册", "日记", "笔记", "教材", "画册", "诗集", "账")
_SELF = (*"文章节校人店厂院系班市省国周月年届", "公司")
_LONGER_BEHIND = ("日", "课", "剧", "书", "版", "样", "文", "副", "基", "根", "成", "资", "标")
_LONGER_AHEAD = ("来", "身", "质", "能", "领", "事", "科", "地", "子", "性", "色")
_PREPOSITIONS = ("在", "从", "对", "于", "为", "由")
_REACH = 3
"""Characters allowed between the measure word and its noun: room for 厚厚的 or 新买的."""


def readings(text: str, char: str = "本") -> tuple[Reading, ...]:
    """Read each 本 of a text as a measure word, as "this", or leave it undecided.

    The first rule that applies decides:

    1. beside a character that usually makes a longer word with it (日本, 本来): undecided;
    2. after a numeral or 几/这/那/每/哪, with a noun for something bound close behind in the same clause:
       measure word; without such a noun: undecided;
    3. before 校, 人, 公司 and the like, which 本 does not count: "this";
    4. before a noun for something bound: "this" at the start of a clause or after a preposition; elsewhere
       undecided, since 给了他本书 drops the numeral and 我喜欢本书 does not.

    The word lists are short and written by hand. Known limit: rule 1 also stops at 三本科幻小说, which begins
    like 本科; it gives up there, it does not guess.

    Args:
        text: the text; may be empty.
        char: the character; only 本 has rules.

    Returns:
        One reading for each occurrence, in order.

    Raises:
        ValueError: for a character without rules.

    Example:
        >>> [(r.position, r.sense) for r in readings("本书介绍了三本词典。")]
        [(0, 'this'), (6, 'measure word')]
        >>> readings("日本")
        (Reading(position=1, sense='undecided', because='part of the longer word 日本'),)
    """
    if char != "本":
        raise ValueError(f"char: only 本 has rules, got {char!r}")
    return tuple(Reading(at, *_read(text, at)) for at, one in enumerate(text) if one == char)


def _read(text: str, at: int) -> tuple[Sense, str]:
    """Decide the sense of the 本 at one position."""
    before, after = text[:at], text[at + 1 :]
    if before.endswith(_LONGER_BEHIND):
        return "undecided", f"part of the longer word {before[-1]}本"
    if after.startswith(_LONGER_AHEAD):
        return "undecided", f"part of the longer word 本{after[0]}"
    quantifier = next((word for word in _QUANTIFIERS if before.endswith(word)), None)
    if quantifier is not None:
        noun = _volume_within(after, _REACH)
        if noun is None:
            return "undecided", f"after {quantifier}, but no known noun follows"
        return "measure word", f"after {quantifier}, before {noun}"
    own = next((word for word in _SELF if after.startswith(word)), None)
    if own is not None:
        return "this", f"no numeral before it, {own} after it"
    noun = _volume_within(after, 0)
    if noun is None:
        return "undecided", "no rule applies to its neighbours"
    if not before or not before[-1].isalnum():
        return "this", f"at the start of a clause, before {noun}"
    if before.endswith(_PREPOSITIONS):
        return "this", f"after the preposition {before[-1]}, before {noun}"
    return "undecided", f"between {before[-1]} and {noun}: a numeral may have been dropped"


def _volume_within(after: str, reach: int) -> str | None:
    """Return the first noun for something bound that starts at most `reach` characters on in the clause."""
    for start in range(min(reach + 1, len(after))):
        if not after[start].isalnum():
            return None
        for noun in _VOLUMES:
            if after.startswith(noun, start):
                return noun
    return None
