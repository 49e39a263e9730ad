"""Measure learning from text beside other libraries, a part of `make bench`.

Byte-pair merges beside Hugging Face's `tokenizers`, and the counts of a trigram model beside nltk's: each pair learns
from the same generated text of SIZE characters, in this process and in turn, RUNS times, the text cut into words by
each; what counts is the median of the ratios. `tokenizers` is compiled Rust, left to one thread; ours is Python with an
index of pairs; neither uses a mark at the end of words. nltk is Python too; both pad sentences and count all orders.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench_rows import Row, ratio_row

SIZE = 1_000_000
MERGES = 1_000
ORDER = 3
RUNS = 5
COUNTS = f"{ORDER}-gram counts of 1 MB, ratio to nltk"
WHAT = f"BPE, {MERGES} merges of 1 MB, ratio to tokenizers"
_WORDS = 30_000
_LINE = 20


def generate(size: int, seed: int = 0) -> list[str]:
    """Return lines of invented words whose frequencies fall as 1/rank, as those of a language do.

    Args:
        size: number of characters, line ends not counted.
        seed: of the generator.

    Raises:
        ValueError: if the size is not positive.

    Example:
        >>> lines = generate(500)
        >>> sum(map(len, lines)), lines == generate(500), lines == generate(500, seed=1)
        (500, True, False)
    """
    if size < 1:
        raise ValueError(f"size: expected at least 1, got {size}")
    rng = np.random.default_rng(seed)
    syllables = [a + b for a in "bcdfghklmnprstvwz" for b in "aeiou"]
    lexicon = ["".join(rng.choice(syllables, length)) for length in rng.integers(1, 5, _WORDS)]
    chances = 1 / np.arange(1, _WORDS + 1)
    words = rng.choice(_WORDS, size // 3 + 1, p=chances / chances.sum())  # a word and its space: at least 3
    lines, left = [], size
    for start in range(0, len(words), _LINE):
        line = " ".join(lexicon[word] for word in words[start : start + _LINE])[:left]
        lines.append(line)
        left -= len(line)
        if not left:
            break
    return lines


def ours(lines: Sequence[str], merges: int) -> int:
    """Learn with the book's own function; return how many merges were learned."""
    from onesentence.text.bpe import learn

    counts = Counter(word for line in lines for word in line.split())
    return len(learn(counts, merges, spell=lambda word: tuple(word)).merges)


def theirs(lines: Sequence[str], merges: int) -> int:
    """Learn with `tokenizers`; return how many merges were learned."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    letters = len({letter for line in lines for letter in line} - {" "})
    trainer = trainers.BpeTrainer(vocab_size=letters + merges, show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return len(model["merges"])


def our_counts(lines: Sequence[str], order: int) -> int:
    """Count n-grams with the book's own class; return the order."""
    from onesentence.text.ngram_counts import NgramCounts

    return NgramCounts.of([line.split() for line in lines], order).order


def their_counts(lines: Sequence[str], order: int) -> int:
    """Count n-grams with nltk; return the order."""
    from nltk.lm import NgramCounter
    from nltk.lm.preprocessing import pad_both_ends
    from nltk.util import everygrams

    sentences = ([*pad_both_ends(line.split(), n=order)] for line in lines)
    counter = NgramCounter([*everygrams(sentence, max_len=order)] for sentence in sentences)
    return max(size for size in range(1, order + 1) if counter[size].N())


def seconds(learner: Callable[[Sequence[str], int], int], lines: Sequence[str], wanted: int) -> float:
    """Return how long a learner takes for so many merges, or for that order.

    Raises:
        RuntimeError: it learned another number of merges, or another order.
    """
    start = time.perf_counter()
    learned = learner(lines, wanted)
    taken = time.perf_counter() - start
    if learned != wanted:
        raise RuntimeError(f"{learner.__name__} learned {learned}, expected {wanted}")
    return taken


def measure(size: int = SIZE, merges: int = MERGES, runs: int = RUNS) -> list[Row]:
    """Learn with each pair in turn; return the lines of the table."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    lines = generate(size)
    return [
        ratio_row(what, [(seconds(mine, lines, n), seconds(other, lines, n)) for _ in range(runs)])
        for what, mine, other, n in ((WHAT, ours, theirs, merges), (COUNTS, our_counts, their_counts, ORDER))
    ]
