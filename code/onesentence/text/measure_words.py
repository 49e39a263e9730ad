"""Sentences of giving with the measure word left out, which the noun behind it decides.

我给了他一□旧书。: one book is 一本, one pen 一支, one key 一把, one letter 一封. Nothing before the blank says which
noun comes, all four are equally probable, and between blank and noun there are 0 to 2 words that say nothing either.
A constructed corpus for section 2.13 of the course.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onesentence.text.vocabulary import Vocabulary

MEASURES = {"书": "本", "笔": "支", "钥匙": "把", "信": "封"}
"""Noun to measure word."""

CLASSES: tuple[str, ...] = tuple(MEASURES.values())
"""Labels, in this order."""

BLANK = "□"
_PEOPLE, _BETWEEN = ("我", "你", "他", "她"), ("旧", "新", "小")
_LONGEST = 9

_VOCABULARY = Vocabulary.from_sentences(
    [_PEOPLE, tuple(MEASURES), _BETWEEN, ("给", "了", "一", BLANK, "。")], specials=[], order="sorted"
)
WORDS: tuple[str, ...] = tuple(_VOCABULARY.symbols)
"""Words, a word's id is its place."""


def blank_sentences(
    count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Draw sentences with a blank.

    Args:
        count: how many, at least 1.
        rng: source of all randomness.

    Returns:
        Ids (count, T) padded on the right; the class of the sentence's noun, the same at each position; True at real
        words; True at the blank.

    Raises:
        ValueError: for a count below 1.

    Example:
        >>> ids, labels, real, blank = blank_sentences(1, np.random.default_rng(0))
        >>> "".join(WORDS[i] for i in ids[real]), CLASSES[labels[blank].item()]
        ('他给了我一□笔。', '支')
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    ids = np.zeros((count, _LONGEST + 1), dtype=np.int64)
    labels, real = np.zeros_like(ids), np.zeros(ids.shape, dtype=bool)
    nouns = tuple(MEASURES)
    for row in range(count):
        giver, taker = rng.permutation(len(_PEOPLE))[:2]
        noun = int(rng.integers(len(nouns)))
        between = [_BETWEEN[i] for i in rng.permutation(len(_BETWEEN))[: rng.integers(3)]]
        words = [_PEOPLE[giver], "给", "了", _PEOPLE[taker], "一", BLANK, *between, nouns[noun], "。"]
        ids[row, : len(words)] = [_VOCABULARY.id(word) for word in words]
        labels[row], real[row, : len(words)] = noun, True
    return ids, labels, real, real & (ids == _VOCABULARY.id(BLANK))
