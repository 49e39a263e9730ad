"""Two stories that differ in one early token and end in the same question, where the key is.

    钥匙 放进 红 盒子 。  杯子 移 到 窗边 。  …  钥匙 在 哪里

The other story of the pair says 蓝, and every other token is the same. So the answers differ while everything behind
the colour agrees: what reads the common suffix only gives both stories the same answer and has at most one of them
right. Events between fact and question move other things than the key, five tokens each. This is the red and blue
version of the course's classroom; the key with a blue tag in an ochre or a grey box is another text.

Section 2.12 of the course. `window_corpus.key_story` is an English relative with fixed clauses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from onesentence.checks import Ids, as_ids

COLOURS = ("红", "蓝")
"""The answers, 0 and 1."""

THINGS = ("电话", "杯子", "雨伞", "书包")
PLACES = ("桌上", "柜里", "窗边", "门口")
_FACT, _QUESTION = ("钥匙", "放进", "红", "盒子", "。"), ("钥匙", "在", "哪里")

TOKENS = (*_FACT, "蓝", "移", "到", "在", "哪里", *THINGS, *PLACES)
"""All tokens; ids are places in this tuple."""

FACT_AT = _FACT.index("红")
"""Where the colour stands, counted from 0."""

EVENT_TOKENS = 5


def key_pairs(pairs: int, events: int, rng: np.random.Generator) -> Ids:
    """Draw pairs of stories.

    Args:
        pairs: how many, at least 1.
        events: moves of other things between fact and question, at least 0, five tokens each; the same ones in both
            stories of a pair.
        rng: source of all randomness.

    Returns:
        Ids, (pairs, 2, 8 + 5 events); the second axis is red, blue, so the labels are 0 and 1 and balanced.

    Raises:
        ValueError: for a number below its minimum.

    Example:
        >>> [" ".join(words(story)) for story in key_pairs(1, 1, np.random.default_rng(0))[0]]
        ['钥匙 放进 红 盒子 。 书包 移 到 窗边 。 钥匙 在 哪里', '钥匙 放进 蓝 盒子 。 书包 移 到 窗边 。 钥匙 在 哪里']
    """
    if pairs < 1:
        raise ValueError(f"pairs must be at least 1, got {pairs}")
    if events < 0:
        raise ValueError(f"events must be at least 0, got {events}")
    middle = np.empty((pairs, events, EVENT_TOKENS), dtype=np.int64)
    middle[..., 0] = TOKENS.index(THINGS[0]) + rng.integers(len(THINGS), size=(pairs, events))
    middle[..., 1], middle[..., 2] = TOKENS.index("移"), TOKENS.index("到")
    middle[..., 3] = TOKENS.index(PLACES[0]) + rng.integers(len(PLACES), size=(pairs, events))
    middle[..., 4] = TOKENS.index("。")
    front, end = (np.tile(_encode(part), (pairs, 1)) for part in (_FACT, _QUESTION))
    red = np.concatenate([front, middle.reshape(pairs, -1), end], axis=1)
    blue = red.copy()
    blue[:, FACT_AT] = TOKENS.index("蓝")
    return np.stack([red, blue], axis=1)


def words(ids: ArrayLike) -> tuple[str, ...]:
    """Return the tokens of one story.

    Args:
        ids: (T,).

    Raises:
        TypeError: if they are not integers.
        ValueError: if one lies outside `TOKENS`; a negative one does not count from the end.

    Example:
        >>> words([0, 1, 2])
        ('钥匙', '放进', '红')
    """
    return tuple(TOKENS[i] for i in as_ids("ids", ids, len(TOKENS)))


def pairs_right(answers: ArrayLike) -> float:
    """Return the share of pairs that are answered right in both stories.

    Args:
        answers: 0 for red, 1 for blue, (pairs, 2) in the order of `key_pairs`.

    Raises:
        ValueError: if the shape is another.

    Example:
        >>> pairs_right([[0, 1], [0, 0], [1, 1], [1, 0]])
        0.25
    """
    given = np.asarray(answers)
    if given.ndim != 2 or given.shape[1] != 2 or given.shape[0] < 1:
        raise ValueError(f"answers must have shape (pairs, 2), got {given.shape}")
    return float((given == (0, 1)).all(axis=1).mean())


def suffix_answers(seen: Ids, asked: Ids, width: int) -> Ids:
    """Answer from the last `width` tokens alone: the colour that they most often went with in the stories seen.

    Args:
        seen: stories with their answers, as `key_pairs` gives them.
        asked: stories to answer, in the same shape.
        width: how many tokens from the end are read, at least 1.

    Returns:
        0 or 1, (pairs, 2); 0 where both colours are equally frequent or the ending was never seen.

    Raises:
        ValueError: if the width is below 1.

    Example:
        >>> stories = key_pairs(4, 1, np.random.default_rng(0))
        >>> pairs_right(suffix_answers(stories, stories, 10)), pairs_right(suffix_answers(stories, stories, 11))
        (0.0, 1.0)
    """
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    table: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for pair in seen:
        for label, story in enumerate(pair):
            table[tuple(story[-width:].tolist())][label] += 1
    votes = [[table.get(tuple(story[-width:].tolist()), Counter()) for story in pair] for pair in asked]
    return np.array([[int(vote[1] > vote[0]) for vote in pair] for pair in votes])


def _encode(tokens: Sequence[str]) -> Ids:
    return np.array([TOKENS.index(token) for token in tokens])
