"""What a translator writes for a part of the generated corpus, scored, and what kind of error a sentence has.

Kinds are decided by comparing with sentences that the grammar lays out from a changed event, never by looking at single
words. Section 3.19 of the course for the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from onesentence.generate.bleu import bleu
from onesentence.generate.exact_match import exact_match
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.evaluation import Generative, labels_of, translate
from onesentence.text.giving import Event, Person
from onesentence.text.parallel import pair_of
from onesentence.text.rewrites import roles_exchanged, without_recipient
from onesentence.text.translation_corpus import Example
from onesentence.text.vocabulary import EOS, Vocabulary

Kind = Callable[[Event, str], str]


@dataclass(frozen=True)
class Written:
    """What was written for a part.

    Attributes:
        texts: one a sentence, without EOS; an ellipsis at the end where the limit cut it off.
        right: whether each is its reference, EOS included.
        exact: share of right ones.
        bleu: of the corpus, 0 to 100, order 4, not smoothed.
    """

    texts: tuple[str, ...]
    right: tuple[bool, ...]
    exact: float
    bleu: float


def written(model: Generative, part: Batch, words: Vocabulary, *, limit: int) -> Written:
    """Generate greedily and compare with the references.

    Args:
        model: a translator.
        part: pairs.
        words: the target vocabulary.
        limit: largest number of choices per sentence.
    """
    rows, labels = translate(model, part, eos=words.id(EOS), limit=limit), labels_of(part)
    texts = tuple(
        " ".join(words.decode(row.ids)[:-1] if row.ended else (*words.decode(row.ids), "…")) for row in rows
    )
    references = [[" ".join(words.decode(ids)[:-1])] for ids in labels]
    return Written(
        texts,
        tuple(row.ids == ids for row, ids in zip(rows, labels, strict=True)),
        exact_match([row.ids for row in rows], labels).share,
        bleu(texts, references, tokenisation="none").score,
    )


def failures(examples: Sequence[Example], of: Written, count: int) -> list[tuple[str, str, str]]:
    """Return the first sentences that are wrong, as (source, reference, written).

    Args:
        examples: the part.
        of: what was written for it.
        count: at most so many.
    """
    wrong = [
        ("".join(e.source), " ".join(e.target), text)
        for e, text, right in zip(examples, of.texts, of.right, strict=True)
        if not right
    ]
    return wrong[:count]


def kinds(examples: Sequence[Example], of: Written, kind: Kind, names: Sequence[str]) -> dict[str, int]:
    """Count the sentences of a part by kind.

    Args:
        examples: the part.
        of: what was written for it.
        kind: names the kind of one text, given its event.
        names: all kinds, so that one that does not occur counts 0.
    """
    counts = dict.fromkeys(names, 0)
    for e, text in zip(examples, of.texts, strict=True):
        counts[kind(e.event, text)] += 1
    return counts


RECIPIENT_KINDS = ("right", "exchanged", "person", "after", "other")


def recipient_kind(people: Sequence[Person]) -> Kind:
    """Return a function that says what a text did with who gave whom.

    Its kinds are `right`; `exchanged`, giver and recipient exchanged and the rest right; `person`, right but for another
    person as recipient; `after`, right as far as the recipient, who is named, and wrong behind; `other`.

    Args:
        people: who may stand there.

    Example:
        >>> from onesentence.text.translation_config import TranslationConfig, running_events
        >>> config = TranslationConfig()
        >>> kind, event = recipient_kind(config.people), running_events(config)["running"]
        >>> kind(event, "He gave me a book yesterday ."), kind(event, "I gave her a book yesterday .")
        ('exchanged', 'person')
        >>> kind(event, "I gave him a book yesterday ."), kind(event, "I gave a book yesterday .")
        ('right', 'other')
        >>> kind(event, "I gave him gave him a book yesterday .")
        'after'
    """

    def kind(event: Event, text: str) -> str:
        if text == _text(event):
            return "right"
        if text.split()[: _behind(event)] == _text(event).split()[: _behind(event)]:
            return "after"
        if text == " ".join(roles_exchanged(event)):
            return "exchanged"
        return "person" if any(text == _text(replace(event, recipient=p)) for p in people) else "other"

    return kind


THINGS_KINDS = ("right", "order", "two", "one", "other")


def things_kind(event: Event, text: str) -> str:
    """Say what a text did with three things.

    Returns:
        `right`; `order`, all three in another order; `two` or `one`, so many of the three in order, the rest of the
        sentence right; `other`.

    Example:
        >>> from onesentence.text.translation_corpus import TranslationConfig, translation_corpus
        >>> config = TranslationConfig(train=200, dev=5, test=5, probe=5)
        >>> event = translation_corpus(config).three_things[0].event
        >>> three = " ".join(pair_of(event).target)
        >>> three
        'Wang Fang will give Li Hua two cups and two guitars and two dictionaries tonight .'
        >>> things_kind(event, three), things_kind(event, three.replace(" and two guitars", ""))
        ('right', 'two')
    """
    if text == _text(event):
        return "right"
    choices = [("order", tuple(permutations(event.items)))]
    choices += [(name, tuple(combinations(event.items, size))) for name, size in (("two", 2), ("one", 1))]
    for name, some in choices:
        for items in some:
            head, *others = items
            changed = replace(event, number=head.number, thing=head.thing, others=tuple(others))
            if text == _text(changed):
                return name
    return "other"


def _behind(event: Event) -> int:
    """Return the position behind the recipient in the translation."""
    whole, without = pair_of(event).target, without_recipient(event)
    start = next(i for i, (word, other) in enumerate(zip(whole, without, strict=False)) if word != other)
    return start + len(whole) - len(without)


def _text(event: Event) -> str:
    return " ".join(pair_of(event).target)
