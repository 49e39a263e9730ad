"""The sentence 我昨天给了他一本书。 as plain data: units, labels, roles, target, variants.

Everything here is set by hand for teaching (identity `constructed`); no tagger, parser or translator produced
it. Source: sections 1.1 and 1.2 of the course. Positions count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

SENTENCE = "我昨天给了他一本书。"
UNITS: tuple[str, ...] = ("我", "昨天", "给", "了", "他", "一", "本", "书", "。")
POS: tuple[str, ...] = ("代词", "时间词", "动词", "助词", "代词", "数词", "量词", "名词", "标点")
"""Part of speech of each unit, in this sentence."""

TRANSLATION = "I gave him a book yesterday ."
TARGET: tuple[str, ...] = ("I", "gave", "him", "a", "book", "yesterday", ".", "EOS")
"""The eight predictions of the decoder. EOS ends the generation; BOS, its first input, is not predicted."""

DRAFT = "I yesterday give he one book."
"""Word-for-word replacement, made by hand to show what is missing; not the output of any product."""


@dataclass(frozen=True)
class Role:
    """A semantic role of the event and the units that fill it.

    Attributes:
        name: Chinese name of the role.
        english: English name of the role.
        units: positions in `UNITS`.
    """

    name: str
    english: str
    units: tuple[int, ...]

    @property
    def text(self) -> str:
        """The words that fill the role."""
        return "".join(UNITS[i] for i in self.units)


ROLES: tuple[Role, ...] = (
    Role("给出者", "giver", (0,)),
    Role("接收者", "recipient", (4,)),
    Role("交付物", "theme", (5, 6, 7)),
    Role("时间", "time", (1,)),
)
EVENT_UNIT = 2
"""Position of 给, the event that the roles belong to."""


@dataclass(frozen=True)
class Variant:
    """The sentence after people's names were assigned by decision, not inferred.

    Attributes:
        assignment: which pronoun stands for which name.
        text: the new sentence.
    """

    assignment: tuple[tuple[str, str], ...]
    text: str


NAMED = Variant((("我", "张明"), ("他", "李华")), "张明昨天给了李华一本书。")


def target_of(translation: str) -> tuple[str, ...]:
    """Return what a decoder has to predict for a tokenised translation: its tokens, then EOS.

    Args:
        translation: tokens separated by single spaces, the full stop included.

    Returns:
        The tokens and a final `EOS`, in order. BOS is an input and does not appear.

    Raises:
        ValueError: if there is no token, or a reserved symbol stands inside the text.

    Example:
        >>> target_of("I gave him a book yesterday .")[-2:]
        ('.', 'EOS')
    """
    tokens = translation.split()
    if not tokens:
        raise ValueError("translation: expected at least one token, got an empty text")
    for token in tokens:
        if token in ("BOS", "EOS", "PAD"):
            raise ValueError(f"translation: {token} is a reserved symbol, not a word of the text")
    return (*tokens, "EOS")


def name_people(units: tuple[str, ...], assignment: dict[str, str]) -> str:
    """Return the sentence with pronouns replaced by assigned names.

    Args:
        units: units of the sentence.
        assignment: pronoun to name; each pronoun must occur among the units.

    Raises:
        ValueError: if a pronoun does not occur.

    Example:
        >>> name_people(UNITS, {"我": "张明", "他": "李华"})
        '张明昨天给了李华一本书。'
    """
    missing = [pronoun for pronoun in assignment if pronoun not in units]
    if missing:
        raise ValueError(f"assignment: {', '.join(missing)} does not occur in {'/'.join(units)}")
    return "".join(assignment.get(unit, unit) for unit in units)
