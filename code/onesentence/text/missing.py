"""Who misses whom, in English and in French: the same two persons, the relation turned round by the construction.

English `X misses Y` puts the one who misses first. French `X manque à Y` puts the missed one first. Two simple
patterns are read, with nouns of one or several words and, in French, the pronouns that stand before the verb; this
is no parser. Section 1.17 of the course.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ENGLISH = re.compile(r"(?P<first>.+?) (?:misses|miss) (?P<second>.+?)\.?$")
_FRENCH = re.compile(r"(?P<first>.+?) (?:manque|manquent) à (?P<second>.+?)\.?$")
_FRENCH_PRONOUN = re.compile(r"(?P<first>.+?) (?P<second>me|lui|nous|vous|leur) (?:manque|manquent)\.?$")


class Missing(NamedTuple):
    """The relation that a sentence states.

    Attributes:
        who: the one who misses, as the sentence has it.
        whom: the one who is missed.
    """

    who: str
    whom: str


def read_english(sentence: str) -> Missing:
    """Read `X misses Y`.

    Raises:
        ValueError: if the sentence has another form.

    Example:
        >>> read_english("Pierre's parents miss him.")
        Missing(who="Pierre's parents", whom='him')
    """
    match = _ENGLISH.match(sentence)
    if match is None:
        raise ValueError(f"sentence: expected 'X misses Y.', got {sentence!r}")
    return Missing(match["first"], match["second"])


def read_french(sentence: str) -> Missing:
    """Read `X manque à Y` or, with a pronoun, `X lui manque`: Y misses X.

    Raises:
        ValueError: if the sentence has another form.

    Example:
        >>> read_french("Pierre manque à ses parents.")
        Missing(who='ses parents', whom='Pierre')
        >>> read_french("Les parents de Pierre lui manquent.")
        Missing(who='lui', whom='Les parents de Pierre')
    """
    match = _FRENCH.match(sentence) or _FRENCH_PRONOUN.match(sentence)
    if match is None:
        raise ValueError(f"sentence: expected 'X manque à Y.' or 'X lui manque.', got {sentence!r}")
    return Missing(match["second"], match["first"])


def resolved(relation: Missing, persons: dict[str, str]) -> Missing:
    """Name the persons that the words of a relation stand for.

    Args:
        relation: as a sentence has it.
        persons: words to person; set by whoever knows the context, not inferred.

    Raises:
        ValueError: if a word is not among them.

    Example:
        >>> resolved(Missing("lui", "Marie"), {"lui": "Paul", "Marie": "Marie"})
        Missing(who='Paul', whom='Marie')
    """
    for word in relation:
        if word not in persons:
            raise ValueError(f"persons: nobody is given for {word!r}; given are {', '.join(persons)}")
    return Missing(persons[relation.who], persons[relation.whom])
