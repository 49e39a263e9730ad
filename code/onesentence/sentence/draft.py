"""Word-for-word replacement: what a dictionary gives, and which decisions it leaves open (section 1.1).

The dictionary holds one English word per unit, or none; it is set by hand for teaching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

DICTIONARY: Mapping[str, str | None] = MappingProxyType(
    {
        "我": "I",
        "昨天": "yesterday",
        "给": "give",
        "了": None,
        "他": "he",
        "一": "one",
        "本": None,
        "书": "book",
        "。": ".",
    }
)
"""One word per unit; None where the dictionary has no word that could stand alone."""


def replace_words(units: Sequence[str], dictionary: Mapping[str, str | None] = DICTIONARY) -> list[str]:
    """Return the words found for the units, in the order of the units.

    Args:
        units: units of a sentence.
        dictionary: unit to word, None for a unit that gives no word.

    Returns:
        The words; units without a word leave no trace.

    Raises:
        ValueError: if a unit is not in the dictionary.

    Example:
        >>> replace_words(("我", "给", "了", "他"))
        ['I', 'give', 'he']
    """
    unknown = [unit for unit in units if unit not in dictionary]
    if unknown:
        raise ValueError(f"units: the dictionary has no entry for {', '.join(unknown)}")
    return [word for unit in units if (word := dictionary[unit]) is not None]


def differences(draft: Sequence[str], target: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the target words that a draft lacks, and the draft words that the target does not use.

    Args:
        draft: words of a draft.
        target: words of a translation, EOS left out.

    Example:
        >>> differences(["I", "give", "he"], ["I", "gave", "him"])
        (['gave', 'him'], ['give', 'he'])
    """
    return [word for word in target if word not in draft], [word for word in draft if word not in target]
