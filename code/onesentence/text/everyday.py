"""A small made-up Chinese corpus whose word classes are known, so that what vectors learn can be scored.

Each sentence is one of seven patterns filled with words: 她 昨天 在 图书馆 读 了 一 本 小说 。 A verb takes
objects of its own class (喝 with 茶, 读 with 书), a noun its measure word (本, 个, 杯, 把); the book's own
sentence, 我 昨天 给 了 他 一 本 书 。, is one that the grammar can make. Within a class the word of rank r
is drawn with a weight r^-exponent, so each class has frequent and rare members.

The corpus is a construction. Words of one class are interchangeable in every pattern by design, which is far
more regular than real Chinese; what is learnt here says how a method works, nothing about the language.
Sections 1.5 and 1.6 of the course.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import NamedTuple

import numpy as np

from onesentence.checks import checked_integer

CLASSES: dict[str, tuple[str, ...]] = {
    "people": ("我", "他", "她", "老师", "妈妈", "同学", "医生", "邻居"),
    "times": ("昨天", "前天", "晚上", "上午", "下午", "周末"),
    "places": ("学校", "图书馆", "商店", "公园", "医院", "食堂"),
    "readables": ("书", "小说", "词典", "杂志", "日记", "画册"),
    "foods": ("苹果", "面包", "鸡蛋", "橘子", "馒头", "土豆"),
    "drinks": ("茶", "水", "咖啡", "牛奶", "果汁"),
    "tools": ("剪刀", "雨伞", "钥匙", "锤子", "尺子"),
    "reading": ("看", "读", "翻"),
    "eating": ("吃", "尝", "切"),
    "drinking": ("喝", "倒", "端"),
    "using": ("用", "修", "擦"),
    "getting": ("买", "拿", "找"),
    "giving": ("给", "送", "还"),
    "going": ("去", "到", "离开"),
    "numerals": ("一", "两", "三"),
    "measures": ("个", "本", "杯", "把"),
    "particles": ("了", "在", "喜欢", "。"),
}
"""The words of each class, from frequent to rare. No word is in two classes."""

VOCABULARY: tuple[str, ...] = tuple(word for words in CLASSES.values() for word in words)
"""All words, in the order of the classes; a word's position is its ID."""

CLASS_OF: dict[str, str] = {word: name for name, words in CLASSES.items() for word in words}
"""The class of each word."""


class _Object(NamedTuple):
    """What a sentence is about: the class of the noun, its measure word, the verbs for it."""

    noun: str
    measure: str
    verbs: str


_OBJECTS = (
    _Object("readables", "本", "reading"),
    _Object("foods", "个", "eating"),
    _Object("drinks", "杯", "drinking"),
    _Object("tools", "把", "using"),
)

_PATTERNS = (
    "people times VERB 了 numerals MEASURE NOUN 。",
    "people 在 places VERB 了 numerals MEASURE NOUN 。",
    "people times 在 places VERB 了 numerals MEASURE NOUN 。",
    "people times getting 了 numerals MEASURE NOUN 。",
    "people times giving 了 people numerals MEASURE NOUN 。",
    "people times going 了 places 。",
    "people 喜欢 VERB NOUN 。",
)


@dataclass(frozen=True)
class EverydayConfig:
    """How much of the corpus to make, and how unequal its word frequencies are.

    Attributes:
        count: number of sentences, at least 1.
        exponent: s in the weight r^-s of the word of rank r in its class; 0 makes them equal.
    """

    count: int = 3000
    exponent: float = 1.0

    def __post_init__(self) -> None:
        """Refuse sizes without meaning."""
        checked_integer("count", self.count, 1)
        if not isfinite(self.exponent) or self.exponent < 0:
            raise ValueError(f"exponent must be finite and not negative, got {self.exponent}")


def sentences(config: EverydayConfig, rng: np.random.Generator) -> tuple[tuple[str, ...], ...]:
    """Make the corpus.

    In a sentence with a giver and a recipient, the two are different people.

    Args:
        config: number of sentences and inequality of the frequencies.
        rng: source of randomness; the same state gives the same corpus.

    Returns:
        The sentences, each a tuple of words ending in 。.

    Raises:
        TypeError: `rng` is not a NumPy Generator.

    Example:
        >>> corpus = sentences(EverydayConfig(count=3), np.random.default_rng(0))
        >>> [len(words) >= 5 and words[-1] == "。" for words in corpus]
        [True, True, True]
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy Generator, got {type(rng).__name__}")
    cumulative = {
        name: list(accumulate(rank**-config.exponent for rank in range(1, len(words) + 1)))
        for name, words in CLASSES.items()
    }
    return tuple(_sentence(cumulative, rng) for _ in range(config.count))


def _sentence(cumulative: dict[str, list[float]], rng: np.random.Generator) -> tuple[str, ...]:
    """Fill one pattern: uniform over patterns and objects, weighted over the words of a class."""
    pattern = _PATTERNS[int(rng.random() * len(_PATTERNS))]
    about = _OBJECTS[int(rng.random() * len(_OBJECTS))]
    names = {"VERB": about.verbs, "NOUN": about.noun}
    words: list[str] = []
    for slot in pattern.split():
        name = names.get(slot, slot)
        if slot == "MEASURE":
            words.append(about.measure)
        elif name not in CLASSES:
            words.append(name)
        else:
            word = _draw(name, cumulative[name], rng)
            while name == "people" and word in words:
                word = _draw(name, cumulative[name], rng)
            words.append(word)
    return tuple(words)


def _draw(name: str, cumulative: list[float], rng: np.random.Generator) -> str:
    """Draw a word of a class by its cumulative weights."""
    return CLASSES[name][bisect_right(cumulative, rng.random() * cumulative[-1])]
