"""How large the translation corpus is, what it holds out, and which sentences belong to the running one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from onesentence.sentence.example import NAMED
from onesentence.text.giving import Event, Number, Person, Thing, Time, Verb
from onesentence.text.translation_words import CAST, GOODS, NUMBERS, OCCASIONS, TRANSFERS

VARIANTS: tuple[str, ...] = ("running", "time_first", "negated", "question", "swapped", "named")
"""The sentence of the book, the day moved to the front, denied, asked, giver and recipient exchanged, with names."""

_NEEDED = {"people": ("我", "他", *(name for _, name in NAMED.assignment)), "verbs": ("给",)}
_NEEDED |= {"numbers": ("一",), "things": ("书",), "times": ("昨天",)}


@dataclass(frozen=True)
class TranslationConfig:
    """What to draw.

    Attributes:
        train: training sentences; those of a smaller number are the beginning of those of a larger.
        dev: sentences for choosing, of triples that training may have too.
        test: sentences of held-out triples only.
        probe: sentences of each of the two probes.
        held_out: share of the (giver, recipient, thing) triples that training and dev never have.
        negated: share that deny among the sentences with one thing; those with several never do.
        question: share of sentences that ask.
        coordinated: share of sentences with two things; 0 leaves out 和 and the probe with three things.
        giver_only: the person who gives, but receives in the probe only.
        seed: of everything that is drawn.
        people, verbs, numbers, things, times: the words; those of the running sentence must be among them.
    """

    train: int = 2000
    dev: int = 200
    test: int = 200
    probe: int = 100
    held_out: float = 0.1
    negated: float = 0.2
    question: float = 0.2
    coordinated: float = 0.25
    giver_only: str = "玛丽"
    seed: int = 0
    people: tuple[Person, ...] = CAST
    verbs: tuple[Verb, ...] = TRANSFERS
    numbers: tuple[Number, ...] = NUMBERS
    things: tuple[Thing, ...] = GOODS
    times: tuple[Time, ...] = OCCASIONS

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int" and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"{field.name}: expected an integer, got {value!r}")
            if field.type == "int" and value < (0 if field.name == "seed" else 1):
                least = 0 if field.name == "seed" else 1
                raise ValueError(f"{field.name}: expected at least {least}, got {value}")
            if field.type == "float" and not 0 <= value < 1:
                raise ValueError(f"{field.name}: expected a share from 0 to below 1, got {value}")
        if self.held_out == 0:
            raise ValueError("held_out: expected a share above 0, got 0.0")
        if self.negated + self.question >= 1:
            total = self.negated + self.question
            raise ValueError(f"question: expected a share below 1 together with negated, got {total}")
        self._check_words()

    def _check_words(self) -> None:
        for axis, needed in _NEEDED.items():
            words = [entry.zh for entry in getattr(self, axis)]
            if len(set(words)) < len(words):
                raise ValueError(f"{axis}: expected different words, got {'、'.join(words)}")
            if missing := [word for word in needed if word not in words]:
                raise ValueError(f"{axis}: the running sentence needs {'、'.join(missing)}")
        if self.giver_only not in [person.zh for person in self.people]:
            raise ValueError(f"giver_only: expected one of the people, got {self.giver_only!r}")
        if self.giver_only in _NEEDED["people"]:
            raise ValueError(f"giver_only: {self.giver_only} receives in a variant of the running sentence")


def running_events(config: TranslationConfig) -> dict[str, Event]:
    """Return the events of the running sentence and its variants, by the names in `VARIANTS`.

    Args:
        config: whose words to use.

    Example:
        >>> event = running_events(TranslationConfig())["named"]
        >>> event.giver.zh, event.recipient.zh
        ('张明', '李华')
    """
    people = {person.zh: person for person in config.people}
    number = next(entry for entry in config.numbers if entry.zh == "一")
    thing = next(entry for entry in config.things if entry.zh == "书")
    verb = next(entry for entry in config.verbs if entry.zh == "给")
    time = next(entry for entry in config.times if entry.zh == "昨天")
    plain = Event(people["我"], people["他"], verb, number, thing, time)
    names = dict(NAMED.assignment)
    return {
        "running": plain,
        "time_first": replace(plain, time_first=True),
        "negated": replace(plain, negated=True),
        "question": replace(plain, question=True),
        "swapped": replace(plain, giver=people["他"], recipient=people["我"]),
        "named": replace(plain, giver=people[names["我"]], recipient=people[names["他"]]),
    }
