"""Byte-pair encoding of words: learning which neighbours to merge, and applying what was learned.

Every word begins as a row of smallest symbols. Learning counts adjacent pairs, each occurrence weighted with the
word's frequency, merges the most frequent pair everywhere, and repeats; it never looks across the end of a word.
Applying uses the fixed rules and counts nothing.

Source: Sennrich, Haddow and Birch 2016 (arXiv:1508.07909), sections 3.2 and 4, algorithm 1; section 1.12 of the
course. Decided here, where the paper leaves it open:

* Among pairs of equal count the lexicographically smallest is merged, by code points, first symbol first. (The
  paper's program takes what Python's `max` meets first.)
* Overlapping pairs all count: `a a a` has the pair (a, a) twice, though only one can be merged.
* Merging goes from left to right: `a a a` becomes `aa a`.

`learn_by_recounting` is the algorithm as it is told; it counts the whole corpus again for each merge. `learn`
gives the same rules: it keeps for each pair the words that hold it, touches only these, and takes the next pair
from a heap whose outdated entries are corrected when they come up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Generic

from onesentence.checks import checked_integer
from onesentence.text.bpe_corpus import Corpus, Merge, S, merge_pair, pair_counts
from onesentence.text.coding import BYTES, to_utf8

END_OF_WORD = "</w>"


def characters(word: str) -> tuple[str, ...]:
    """Spell a word as its characters and a mark for its end.

    Raises:
        ValueError: if the word contains the mark, which could then not be told from it.

    Example:
        >>> characters("low")
        ('l', 'o', 'w', '</w>')
    """
    if END_OF_WORD in word:
        raise ValueError(f"word: {word!r} contains the mark {END_OF_WORD}")
    return (*word, END_OF_WORD)


def utf8_bytes(word: str) -> tuple[bytes, ...]:
    r"""Spell a word as its bytes in UTF-8, without a mark.

    Raises:
        ValueError: if the word holds half of a surrogate pair, which is no character.

    Example:
        >>> utf8_bytes("岚")
        (b'\xe5', b'\xb2', b'\x9a')
    """
    return tuple(BYTES[value] for value in to_utf8(word))


@dataclass(frozen=True)
class Step(Generic[S]):
    """One merge and the corpus after it.

    Attributes:
        merge: the rule.
        words: the symbols of each word, in the order of the frequencies.
    """

    merge: Merge[S]
    words: tuple[tuple[S, ...], ...]


@dataclass(frozen=True)
class Learned(Generic[S]):
    """The rules of one training.

    Attributes:
        merges: the rules in the order of learning.
        asked: how many were asked for; where fewer are there, no pair was left that was frequent enough.
    """

    merges: tuple[Merge[S], ...]
    asked: int

    @property
    def rules(self) -> tuple[tuple[S, S], ...]:
        """The pairs in the order of learning."""
        return tuple(merge.pair for merge in self.merges)

    @property
    def exhausted(self) -> bool:
        """Whether learning stopped before the number asked for."""
        return len(self.merges) < self.asked


def learn_by_recounting(
    frequencies: Mapping[str, int], merges: int, *, spell: Callable[[str], tuple[S, ...]], least: int = 1
) -> Learned[S]:
    """Learn merges as the algorithm is told, counting all pairs again each time; for small corpora.

    Args:
        frequencies: how often each word occurs in the training text.
        merges: how many merges to learn at most.
        spell: turns a word into its smallest symbols, `characters` or `utf8_bytes`.
        least: the count below which no pair is merged.

    Raises:
        TypeError: if `merges`, `least` or a frequency is no integer.
        ValueError: if one of them is negative, or `least` or a frequency 0.

    Example:
        >>> learn_by_recounting({"low": 3, "lower": 2, "new": 1}, 4, spell=characters).rules
        (('l', 'o'), ('lo', 'w'), ('low', '</w>'), ('e', 'r'))
    """
    _check(frequencies, merges, least)
    words, weights = [spell(word) for word in frequencies], list(frequencies.values())
    learned: list[Merge[S]] = []
    while len(learned) < merges and (counts := pair_counts(words, weights)):
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[best] < least:
            break
        learned.append(Merge(best, counts[best]))
        words = [merge_pair(word, best) for word in words]
    return Learned(tuple(learned), merges)


def learn(
    frequencies: Mapping[str, int], merges: int, *, spell: Callable[[str], tuple[S, ...]], least: int = 1
) -> Learned[S]:
    """Learn merges, touching for each only the words that hold the pair; rules as `learn_by_recounting`.

    Args:
        frequencies: how often each word occurs in the training text.
        merges: how many merges to learn at most.
        spell: turns a word into its smallest symbols, `characters` or `utf8_bytes`.
        least: the count below which no pair is merged.

    Raises:
        TypeError: if `merges`, `least` or a frequency is no integer.
        ValueError: if one of them is negative, or `least` or a frequency 0.

    Example:
        >>> learned = learn({"low": 3}, 9, spell=characters)
        >>> [merge.piece for merge in learned.merges], learned.exhausted
        (['lo', 'low', 'low</w>'], True)
    """
    _check(frequencies, merges, least)
    corpus = Corpus([spell(word) for word in frequencies], list(frequencies.values()))
    return Learned(tuple(islice(corpus.merges(least), merges)), merges)


def learn_steps(
    frequencies: Mapping[str, int], *, spell: Callable[[str], tuple[S, ...]], least: int = 1
) -> Iterator[Step[S]]:
    """Yield the merges one by one, each with the whole corpus after it; for small corpora.

    Args:
        frequencies: how often each word occurs in the training text.
        spell: turns a word into its smallest symbols, `characters` or `utf8_bytes`.
        least: the count below which no pair is merged.

    Raises:
        TypeError: if `least` or a frequency is no integer.
        ValueError: if one of them is not positive.

    Example:
        >>> for step in learn_steps({"aab": 2, "ab": 1}, spell=characters):
        ...     print(step.merge.pair, step.merge.count, *map("_".join, step.words))
        ('a', 'b') 3 a_ab_</w> ab_</w>
        ('ab', '</w>') 3 a_ab</w> ab</w>
        ('a', 'ab</w>') 2 aab</w> ab</w>
    """
    _check(frequencies, 0, least)
    corpus = Corpus([spell(word) for word in frequencies], list(frequencies.values()))
    for merge in corpus.merges(least):
        yield Step(merge, tuple(corpus.words))


def apply_rules(
    word: tuple[S, ...], rules: Sequence[tuple[S, S]] | Mapping[tuple[S, S], int]
) -> tuple[tuple[S, ...], tuple[int, ...]]:
    """Merge a word by fixed rules: the earliest rule that fits anywhere, everywhere; until none fits.

    Args:
        word: smallest symbols of the word.
        rules: the pairs in the order of learning, or the rank of each pair (`ranks`).

    Returns:
        The pieces, and the ranks of the rules that fired, in the order in which they did.

    Example:
        >>> rules = [("l", "o"), ("lo", "w"), ("low", "</w>"), ("e", "r")]
        >>> apply_rules(characters("newer"), rules)
        (('n', 'e', 'w', 'er', '</w>'), (3,))
    """
    rank = rules if isinstance(rules, Mapping) else ranks(rules)
    fired: list[int] = []
    while fitting := [(rank[pair], pair) for pair in pairwise(word) if pair in rank]:
        number, pair = min(fitting)
        fired.append(number)
        word = merge_pair(word, pair)
    return word, tuple(fired)


def ranks(rules: Sequence[tuple[S, S]]) -> dict[tuple[S, S], int]:
    """Return the rank of each pair, from 0; of a pair learned twice the first one counts.

    Example:
        >>> ranks([("a", "b"), ("ab", "c")])
        {('a', 'b'): 0, ('ab', 'c'): 1}
    """
    found: dict[tuple[S, S], int] = {}
    for number, pair in enumerate(rules):
        found.setdefault(pair, number)
    return found


def _check(frequencies: Mapping[str, int], merges: int, least: int) -> None:
    checked_integer("merges", merges, 0)
    checked_integer("least", least, 1)
    for word, count in frequencies.items():
        checked_integer(f"frequencies[{word!r}]", count, 1)
