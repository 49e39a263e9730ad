"""English sentences of the generated corpus rewritten: one way keeps what is said, two do not.

`time_in_front` moves the phrase of time to the front, where English may have it too: another order, the same event.
`without_recipient` leaves out to whom, `roles_exchanged` turns giver and recipient round; both are grammatical and say
something else. Each is made from the event, so which of them are faithful is known by construction. Section 3.19 of
the course.
"""

from __future__ import annotations

from dataclasses import replace

from onesentence.text.giving import Event
from onesentence.text.parallel import pair_of

Words = tuple[str, ...]


def time_in_front(event: Event) -> Words:
    """Return the sentence with its phrase of time first; what happened stays the same.

    Args:
        event: a statement, not a question.

    Raises:
        ValueError: for a question, which does not take it there.

    Example:
        >>> from onesentence.text.translation_config import TranslationConfig, running_events
        >>> " ".join(time_in_front(running_events(TranslationConfig())["swapped"]))
        'Yesterday he gave me a book .'
    """
    if event.question:
        raise ValueError("event: expected a statement, got a question")
    words, time = pair_of(event).target, event.time.en.split()
    subject = event.giver.subject.split()
    rest = words[len(subject) : -1 - len(time)]
    return (time[0].capitalize(), *time[1:], *event.giver.inside.split(), *rest, words[-1])


def without_recipient(event: Event) -> Words:
    """Return the sentence without the words for the recipient.

    Args:
        event: any event.

    Example:
        >>> from onesentence.text.translation_config import TranslationConfig, running_events
        >>> " ".join(without_recipient(running_events(TranslationConfig())["named"]))
        'Zhang Ming gave a book yesterday .'
    """
    words = pair_of(event).target
    verb = event.verb.past if event.verb.past in words else event.verb.base
    at = words.index(verb) + 1
    return (*words[:at], *words[at + len(event.recipient.object.split()) :])


def roles_exchanged(event: Event) -> Words:
    """Return the sentence that says the opposite of who gave and who received.

    Args:
        event: any event.

    Example:
        >>> from onesentence.text.translation_config import TranslationConfig, running_events
        >>> " ".join(roles_exchanged(running_events(TranslationConfig())["running"]))
        'He gave me a book yesterday .'
    """
    return pair_of(replace(event, giver=event.recipient, recipient=event.giver)).target
