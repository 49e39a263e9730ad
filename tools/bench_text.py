"""Measure learning of byte-pair merges beside Hugging Face's `tokenizers`, a part of `make bench`.

Both learn MERGES merges from the same generated text of SIZE characters, in this process and in turn, RUNS times:
cutting the text into words, counting them, learning. Theirs is compiled Rust, ours is Python with an index of
pairs; what counts is the median of the ratios. Neither uses a mark at the end of words. `tokenizers` is left to
one thread.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bench import Row

SIZE = 1_000_000
MERGES = 1_000
RUNS = 5
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


def seconds(learner: Callable[[Sequence[str], int], int], lines: Sequence[str], merges: int) -> float:
    """Return how long a learner takes.

    Raises:
        RuntimeError: it learned another number of merges.
    """
    start = time.perf_counter()
    learned = learner(lines, merges)
    taken = time.perf_counter() - start
    if learned != merges:
        raise RuntimeError(f"{learner.__name__} learned {learned} merges, expected {merges}")
    return taken


def ratio_row(pairs: Sequence[tuple[float, float]]) -> Row:
    """Return the line for several runs.

    Args:
        pairs: seconds of ours and of theirs, run by run.

    Raises:
        ValueError: there is no run.
    """
    from bench import Row

    if not pairs:
        raise ValueError("pairs: expected at least one run, got none")
    ratios = [mine / other for mine, other in pairs]
    medians = [statistics.median(times) for times in zip(*pairs, strict=True)]
    note = f"{medians[0]:.2f} s beside {medians[1]:.2f} s; median of {len(pairs)}"
    return Row(WHAT, statistics.median(ratios), "", f"{note}, {min(ratios):.1f} to {max(ratios):.1f}")


def measure(size: int = SIZE, merges: int = MERGES, runs: int = RUNS) -> list[Row]:
    """Learn with both in turn; return the line of the table."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    lines = generate(size)
    return [ratio_row([(seconds(ours, lines, merges), seconds(theirs, lines, merges)) for _ in range(runs)])]
