"""English sentences about a bank, of a river or of money, in which one word tells which.

    she found money at the bank .        she found mud at the bank .

A frame fits both senses, and the two sentences of a pair differ in the cue alone; so whoever does not read the cue gives
both the same answer. Frames differ in how far the cue stands from `bank` and on which side. Two more kinds of sentence,
`she deposited money at the bank .` and `she sat on the bank of the river .`, have a sense each; the course's own two are
such, and training never has them.

Generated from hand-written lists (identity `constructed`); section 4.2 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onesentence.checks import checked_integer, checked_sizes

SENSES = ("银行", "河岸")
"""What bank means, 0 and 1."""

COURSE_SENTENCES = (
    ("she", "deposited", "money", "at", "the", "bank", "."),
    ("she", "sat", "on", "the", "bank", "of", "the", "river", "."),
)
"""The course's two, in small letters: one of each sense, in the order of `SENSES`."""

_FRAMES = (
    "the bank had CUE .",
    "SUBJECT went to the bank for CUE .",
    "SUBJECT found CUE at the bank .",
    "SUBJECT left the bank today without CUE .",
    "with CUE SUBJECT came to the bank .",
    "the bank was quiet because there was CUE .",
    "SUBJECT asked for CUE and then came to the bank .",
    "SUBJECT saw the bank and told us about CUE .",
)
_SUBJECTS = ("she", "he", "they", "you")
_CUES = (
    ("money", "cash", "gold", "credit", "interest", "savings"),
    ("water", "mud", "fish", "reeds", "sand", "moss"),
)
_NEW_CUES = (("silver", "loans", "coins", "cheques"), ("pebbles", "frogs", "willows", "ducks"))
_SHORES = ("river", "stream", "lake")


@dataclass(frozen=True)
class BankSentence:
    """One sentence.

    Attributes:
        tokens: words and full stop; `bank` stands once.
        sense: place in `SENSES`.
        bank: place of `bank`.
        cue: place of the word that tells the sense.
    """

    tokens: tuple[str, ...]
    sense: int
    bank: int
    cue: int

    @property
    def distance(self) -> int:
        """How many tokens lie between the cue and `bank`, one of the two included."""
        return abs(self.bank - self.cue)


Pair = tuple[BankSentence, BankSentence]


@dataclass(frozen=True)
class BankCorpus:
    """A split.

    Attributes:
        train: sentences.
        test: pairs of which no sentence is in training, of words that are.
        new: pairs whose cue is a word that training never has.
    """

    train: tuple[BankSentence, ...]
    test: tuple[Pair, ...]
    new: tuple[Pair, ...]


def bank_sentence(tokens: tuple[str, ...], sense: int, cue: str) -> BankSentence:
    """Return a sentence with the places of `bank` and of its cue.

    Args:
        tokens: words and full stop.
        sense: place in `SENSES`.
        cue: the word that tells the sense.

    Raises:
        TypeError: if tokens are no tuple or the sense is no integer.
        ValueError: if `bank` or the cue does not stand exactly once, or there is no such sense.

    Example:
        >>> bank_sentence(COURSE_SENTENCES[0], 0, "money").distance
        3
    """
    if not isinstance(tokens, tuple):
        raise TypeError(f"tokens must be a tuple of words, got {tokens!r}")
    for name, word in (("bank", "bank"), ("cue", cue)):
        if tokens.count(word) != 1:
            raise ValueError(f"{name}: expected {word!r} once, got it {tokens.count(word)} times in {tokens}")
    if checked_integer("sense", sense, -1) not in range(len(SENSES)):
        raise ValueError(f"sense must be 0 or 1, got {sense!r}")
    return BankSentence(tokens, sense, tokens.index("bank"), tokens.index(cue))


def course_sentences() -> Pair:
    """Return the course's sentence of each sense, with `money` and `river` as cues."""
    money, river = COURSE_SENTENCES
    return bank_sentence(money, 0, "money"), bank_sentence(river, 1, "river")


def bank_corpus(rng: np.random.Generator, *, held_out: int = 60) -> BankCorpus:
    """Split all sentences that the lists give.

    Args:
        rng: draws which pairs are held out.
        held_out: number of test pairs, at least 1 and fewer than there are.

    Raises:
        TypeError: if `rng` is no generator or the number no integer.
        ValueError: if there are not so many pairs.

    Example:
        >>> corpus = bank_corpus(np.random.default_rng(0))
        >>> len(corpus.train), len(corpus.test), len(corpus.new)
        (226, 60, 32)
    """
    pairs = _pairs(_CUES, _SUBJECTS)
    checked_sizes(rng)
    if not 1 <= checked_integer("held_out", held_out, 0) < len(pairs):
        raise ValueError(f"held_out must lie in [1, {len(pairs)}), got {held_out}")
    order = rng.permutation(len(pairs))
    test = tuple(pairs[i] for i in order[:held_out])
    kept = [sentence for i in order[held_out:] for sentence in pairs[i]]
    known = set(COURSE_SENTENCES)
    train = (*kept, *(one for one in _of_one_sense() if one.tokens not in known))
    return BankCorpus(train, test, tuple(_pairs(_NEW_CUES, _SUBJECTS[:1])))


def _pairs(cues: tuple[tuple[str, ...], tuple[str, ...]], subjects: tuple[str, ...]) -> list[Pair]:
    pairs = []
    for frame in _FRAMES:
        for subject in subjects if "SUBJECT" in frame else subjects[:1]:
            for money, river in zip(*cues, strict=True):
                texts = (frame.replace("SUBJECT", subject).replace("CUE", cue) for cue in (money, river))
                first, second = (tuple(text.split()) for text in texts)
                pairs.append((bank_sentence(first, 0, money), bank_sentence(second, 1, river)))
    return pairs


def _of_one_sense() -> list[BankSentence]:
    sentences = []
    for subject in _SUBJECTS:
        for cue in _CUES[0]:
            sentences.append(bank_sentence((subject, "deposited", cue, "at", "the", "bank", "."), 0, cue))
        for cue in _SHORES:
            text = (subject, "sat", "on", "the", "bank", "of", "the", cue, ".")
            sentences.append(bank_sentence(text, 1, cue))
    return sentences
