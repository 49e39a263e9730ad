"""Two small generated corpora for fixed windows: giving something, and a key in a box.

`giving_sentences` draws English sentences around "I gave her a book" in which the verb sets how likely each noun is
and the recipient does not; pairs of verb and recipient can be held out. `key_story` puts the answer of its last words
a chosen distance back.
All probabilities are set by hand; nothing here is a figure of another example. Sections 1.6 and 1.8 of the course.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

Sentence = tuple[str, ...]

SUBJECTS: tuple[str, ...] = ("I", "you", "she", "he", "we", "they")
VERBS: tuple[str, ...] = ("gave", "sent", "lent", "showed")
RECIPIENTS: Mapping[str, float] = MappingProxyType(
    {"me": 0.1, "you": 0.1, "her": 0.4, "him": 0.2, "us": 0.1, "them": 0.1}
)
"""Probabilities of the recipients before anything is held out."""

_SELF: Mapping[str, str] = MappingProxyType({"I": "me", "you": "you", "we": "us"})
"""Recipients that a subject never has: I gave me is no sentence."""

NOUNS: tuple[str, ...] = ("book", "letter", "pen", "key")
FAVOURITE, OTHER = 0.7, 0.1
"""Probability of a verb's own noun, `NOUNS` in the order of `VERBS`, and of each of the others."""

TIMES: tuple[Sentence, ...] = ((), (), ("yesterday",), ("today",))
"""Equally probable ends."""

COLOURS: tuple[str, ...] = ("red", "blue")
FILLERS: tuple[Sentence, ...] = tuple(
    tuple(clause.split())
    for clause in ("the wind was cold .", "we ate some bread .", "she read a letter .", "it rained all day .")
)
"""Clauses of five tokens without a word on the box."""

_QUESTION: Sentence = ("the", "key", "is", "in", "the")


def noun_probabilities(verb: str) -> dict[str, float]:
    """Return how likely the grammar makes each noun after a verb, whoever receives.

    Raises:
        ValueError: for a verb that the grammar lacks.

    Example:
        >>> noun_probabilities("gave")
        {'book': 0.7, 'letter': 0.1, 'pen': 0.1, 'key': 0.1}
    """
    if verb not in VERBS:
        raise ValueError(f"verb must be one of {VERBS}, got {verb!r}")
    own = VERBS.index(verb)
    return {noun: FAVOURITE if i == own else OTHER for i, noun in enumerate(NOUNS)}


def giving_sentences(
    count: int,
    rng: np.random.Generator,
    *,
    held_out: Iterable[tuple[str, str]] = (),
    exceptions: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> tuple[Sentence, ...]:
    """Draw sentences of giving, such as: I gave her a book yesterday.

    Args:
        count: how many, at least 1.
        rng: source of all randomness.
        held_out: pairs of verb and recipient that never occur; the verb's other recipients take their share.
        exceptions: pairs of verb and recipient that take one noun only, whatever the verb prefers.

    Returns:
        Sentences of 6 or 7 tokens, without BOS and EOS.

    Raises:
        ValueError: for a count below 1, a pair that the grammar lacks, or a verb left with fewer than two
            recipients.

    Example:
        >>> [" ".join(s) for s in giving_sentences(2, np.random.default_rng(3))]
        ['I gave us a book .', 'she sent you a letter .']
    """
    _check_count(count)
    absent = set(held_out)
    for pair in (*absent, *exceptions):
        if pair[0] not in VERBS or pair[1] not in RECIPIENTS:
            raise ValueError(f"held_out, exceptions: {pair} is no pair of verb and recipient of the grammar")
    left = {verb: [r for r in RECIPIENTS if (verb, r) not in absent] for verb in VERBS}
    for verb, recipients in left.items():
        if len(recipients) < 2:  # one of them may be the subject's own
            raise ValueError(f"held_out: fewer than two recipients are left for {verb!r}")
    sentences = []
    for row in rng.random((count, 5)).tolist():  # one row per sentence: a shorter text is a beginning
        subject, verb = SUBJECTS[int(row[0] * len(SUBJECTS))], VERBS[int(row[1] * len(VERBS))]
        others = {r: RECIPIENTS[r] for r in left[verb] if r != _SELF.get(subject)}
        recipient = _pick(others, row[2])
        noun = exceptions.get((verb, recipient), _pick(noun_probabilities(verb), row[3]))
        end = TIMES[int(row[4] * len(TIMES))]
        sentences.append((subject, verb, recipient, "a", noun, *end, "."))
    return tuple(sentences)


def counts_after(sentences: Iterable[Sequence[str]], context: Sequence[str]) -> Counter[str]:
    """Count what follows a context inside the sentences, EOS behind the last token among it.

    Args:
        sentences: tokens without BOS and EOS.
        context: tokens that stand directly before, at least one.

    Returns:
        Token to count; empty where the context never occurs.

    Raises:
        ValueError: for an empty context.

    Example:
        >>> counts_after([("I", "gave", "her", "."), ("I", "gave", "him", ".")], ("I", "gave"))
        Counter({'her': 1, 'him': 1})
    """
    wanted = tuple(context)
    if not wanted:
        raise ValueError("context must hold at least one token")
    found: Counter[str] = Counter()
    for sentence in sentences:
        tokens = (*sentence, "EOS")
        for end in range(len(wanted), len(tokens)):
            if tokens[end - len(wanted) : end] == wanted:
                found[tokens[end]] += 1
    return found


def key_story(colour: str, fillers: Sequence[Sentence]) -> Sentence:
    """Return a story that says where the key is, wanders off, and asks again; the last word is not written.

    The colour stands 7 tokens and the fillers' before the end, so a window of 8 and them just reaches it.

    Args:
        colour: `red` or `blue`.
        fillers: clauses between the fact and the question; may be empty.

    Raises:
        ValueError: for another colour.

    Example:
        >>> " ".join(key_story("red", FILLERS[:1]))
        'the key is in the red box . the wind was cold . the key is in the'
    """
    if colour not in COLOURS:
        raise ValueError(f"colour must be one of {COLOURS}, got {colour!r}")
    middle = [token for clause in fillers for token in clause]
    return (*_QUESTION, colour, "box", ".", *middle, *_QUESTION)


def _pick(weights: Mapping[str, float], u: float) -> str:
    """Return the word in whose share of the total weight u, in [0, 1), falls."""
    left = u * sum(weights.values())
    for word, weight in weights.items():
        left -= weight
        if left < 0:
            return word
    return word  # rounding can leave the last share a hair short


def _check_count(count: int) -> None:
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
