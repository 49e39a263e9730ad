"""Generated Chinese sentences with persons' names and their BIO labels by character.

Names are invented from common characters. Training and held-out sentences draw surnames from one list and given
names from two lists that share no name, though they may share characters; some characters of names also occur in
ordinary words (明 in 明天, 高 in 高兴, 文 in 作文). Section 1.6 of the course.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from onesentence.text.vocabulary import PAD, UNK, Vocabulary

SURNAMES: tuple[str, ...] = ("王", "李", "张", "高", "黄", "林", "欧阳", "司马")
TRAINING_GIVEN: tuple[str, ...] = ("明", "华", "静", "文", "小红", "国强", "天明", "建华", "书文", "一鸣")
HELD_OUT_GIVEN: tuple[str, ...] = ("强", "红", "鸣", "文静", "明华", "小天", "国华", "晓林", "子轩", "一")

TEMPLATES: tuple[str, ...] = (
    "#昨天给了#一本书。",
    "#把书送给#了。",
    "我昨天看见#。",
    "#说明天来。",
    "高兴的#笑了。",
    "书是#写的。",
    "#、#和我去看书。",
    "老师请#读作文。",
    "我说明天不来。",
    "高个子给了他一张纸。",
    "他家养了黄小狗。",
    "我国的树林很大。",
)
"""`#` stands for a person; the last four have none."""


class TaggedText(NamedTuple):
    """A text and its labels.

    Attributes:
        text: the characters.
        labels: `O`, `B-PER` or `I-PER`, one per character.
    """

    text: str
    labels: tuple[str, ...]


def name_sentences(
    count: int, rng: np.random.Generator, *, given: tuple[str, ...] = TRAINING_GIVEN
) -> tuple[TaggedText, ...]:
    """Draw sentences with labels.

    Args:
        count: how many, at least 1.
        rng: source of all randomness.
        given: the given names to draw from.

    Raises:
        ValueError: for a count below 1 or no given name.

    Example:
        >>> name_sentences(1, np.random.default_rng(1), given=("明",))
        (TaggedText(text='书是黄明写的。', labels=('O', 'O', 'B-PER', 'I-PER', 'O', 'O', 'O')),)
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if not given:
        raise ValueError("given must hold at least one name")
    return tuple(_fill(str(rng.choice(TEMPLATES)), rng, given) for _ in range(count))


def character_vocabulary(texts: Iterable[TaggedText], *, least: int = 2) -> Vocabulary:
    """Number PAD, UNK and every character that occurs often enough, sorted.

    Characters left out are read as UNK, so that training meets UNK too.

    Args:
        texts: the training texts.
        least: fewest occurrences that give a character a row of its own.

    Example:
        >>> character_vocabulary([TaggedText("李华看李", ("B-PER", "I-PER", "O", "B-PER"))]).symbols
        ('PAD', 'UNK', '李')
    """
    characters = (list(one.text) for one in texts)
    return Vocabulary.from_sentences(characters, specials=[PAD, UNK], order="sorted", min_count=least)


def _fill(template: str, rng: np.random.Generator, given: tuple[str, ...]) -> TaggedText:
    text, labels = "", []
    for char in template:
        piece = str(rng.choice(SURNAMES)) + str(rng.choice(given)) if char == "#" else char
        text += piece
        labels += ["B-PER"] + ["I-PER"] * (len(piece) - 1) if char == "#" else ["O"]
    return TaggedText(text, tuple(labels))
