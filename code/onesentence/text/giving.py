"""Giving events: who gave (lent) whom how many of what, and when; the words that a sentence of them needs.

`Grammar` holds what the template may be filled with and numbers every filling, so that events can be drawn
without a list of all of them. People, verbs, things, numbers, times and polarities are its fields; a larger corpus
is a larger grammar. Everything is set by hand (identity `constructed`). Sections 1.2 and 1.15 of the course.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Person:
    """Someone who can give and be given to: `He` gave, gave `him`; `rank` is the grammatical person, 1 to 3."""

    zh: str
    subject: str
    object: str
    rank: int = 3

    @property
    def inside(self) -> str:
        """The subject behind the first word of a sentence: he, but I and Mary as they are."""
        return self.subject if self.subject in ("I", self.object) else self.subject.lower()


@dataclass(frozen=True)
class Verb:
    """A verb of giving with its English past and base form."""

    zh: str
    past: str
    base: str


@dataclass(frozen=True)
class Thing:
    """Something given, with its measure word and its English article, singular and plural."""

    zh: str
    measure: str
    article: str
    singular: str
    plural: str


@dataclass(frozen=True)
class Number:
    """A numeral; an empty `en` takes the article and the singular of the thing."""

    zh: str
    en: str = ""


@dataclass(frozen=True)
class Time:
    """A day; `past` decides between 了 with the past form and 会 with will."""

    zh: str
    en: str
    past: bool


@dataclass(frozen=True)
class Item:
    """So many of one thing."""

    number: Number
    thing: Thing


@dataclass(frozen=True)
class Event:
    """One giving event, said, denied or asked.

    Attributes:
        giver, recipient, verb, number, thing, time: who gave whom how many of what, and when.
        time_first: whether the day stands before the subject in Chinese; it never does in English.
        negated: whether it is denied.
        question: whether it is asked; a question is not negated.
        others: what was given besides, each of another thing, joined by 和 and `and`.
    """

    giver: Person
    recipient: Person
    verb: Verb
    number: Number
    thing: Thing
    time: Time
    time_first: bool = False
    negated: bool = False
    question: bool = False
    others: tuple[Item, ...] = ()

    def __post_init__(self) -> None:
        if self.negated and self.question:
            raise ValueError("question: expected a question or a negation, got both")
        names = [item.thing.zh for item in self.items]
        if len(set(names)) < len(names):
            raise ValueError(f"others: expected different things, got {'、'.join(names)}")

    @property
    def items(self) -> tuple[Item, ...]:
        """Everything that was given, in order."""
        return (Item(self.number, self.thing), *self.others)


PEOPLE = (
    Person("我", "I", "me", 1),
    Person("你", "You", "you", 2),
    Person("他", "He", "him"),
    Person("她", "She", "her"),
    Person("我们", "We", "us", 1),
    Person("他们", "They", "them"),
)
VERBS = (Verb("给", "gave", "give"), Verb("送给", "gave", "give"), Verb("借给", "lent", "lend"))
THINGS = (
    Thing("书", "本", "a", "book", "books"),
    Thing("词典", "本", "a", "dictionary", "dictionaries"),
    Thing("笔", "支", "a", "pen", "pens"),
    Thing("伞", "把", "an", "umbrella", "umbrellas"),
    Thing("钥匙", "把", "a", "key", "keys"),
)
TIMES = (Time("昨天", "yesterday", True), Time("今天", "today", True), Time("明天", "tomorrow", False))


@dataclass(frozen=True)
class Grammar:
    """What the template may be filled with.

    Attributes:
        people: givers and recipients.
        verbs: verbs of giving.
        numbers: numerals.
        things: what is given.
        times: days.
        time_orders: whether the day may stand behind the subject (False), before it (True), or both.
        polarities: whether the sentence may affirm (False), negate (True), or both.

    Example:
        >>> Grammar().size
        6480
        >>> Grammar(polarities=(False, True)).size
        12960
    """

    people: tuple[Person, ...] = PEOPLE
    verbs: tuple[Verb, ...] = VERBS
    numbers: tuple[Number, ...] = (Number("一"), Number("两", "two"))
    things: tuple[Thing, ...] = THINGS
    times: tuple[Time, ...] = TIMES
    time_orders: tuple[bool, ...] = (False, True)
    polarities: tuple[bool, ...] = (False,)

    def __post_init__(self) -> None:
        for field in fields(self):
            values = getattr(self, field.name)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"{field.name}: expected different entries, at least one, got {values!r}")
        if not any(can_give(a, b) for a in self.people for b in self.people):
            raise ValueError("people: expected two who can give to each other, found none")

    @property
    def _axes(self) -> tuple[tuple[object, ...], ...]:
        things = (self.verbs, self.numbers, self.things, self.times)
        return (self.people, self.people, *things, self.time_orders, self.polarities)

    @property
    def size(self) -> int:
        """How many ways there are to fill the template, those that no one can say included."""
        return math.prod(len(axis) for axis in self._axes)

    def event(self, index: int) -> Event | None:
        """Return the filling of this number, or None where giver and recipient overlap.

        Args:
            index: from 0 to `size` - 1.

        Raises:
            ValueError: if there is no filling of this number.
        """
        if not 0 <= index < self.size:
            raise ValueError(f"index: expected 0 to {self.size - 1}, got {index}")
        places = np.unravel_index(index, [len(axis) for axis in self._axes])
        giver, recipient, verb, number, thing, time, first, negated = (
            axis[int(place)] for axis, place in zip(self._axes, places, strict=True)
        )
        if not can_give(giver, recipient):  # type: ignore[arg-type]
            return None
        return Event(giver, recipient, verb, number, thing, time, first, negated)  # type: ignore[arg-type]


def can_give(giver: Person, recipient: Person) -> bool:
    """Say whether two people differ: not the same words, not both first or both second person.

    Example:
        >>> can_give(PEOPLE[0], PEOPLE[2]), can_give(PEOPLE[0], PEOPLE[4])
        (True, False)
    """
    return giver.zh != recipient.zh and (giver.rank == 3 or giver.rank != recipient.rank)
