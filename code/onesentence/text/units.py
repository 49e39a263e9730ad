"""Units of length, and what the same loss looks like in each of them.

The loss of a text is -log of the probability that a model gives to all of it, in nats. Divided by a number of
units it becomes a mean, and the exponential of the mean per token is the perplexity (PPL). The number of tokens
belongs to the tokenizer, the number of bytes to the text: only the latter is the same for two tokenizers.
Section 1.13 of the course.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import exp, inf, isnan, log

from onesentence.text.coding import to_utf8


def lengths(text: str) -> dict[str, int]:
    """Return the length of a text in characters and in bytes of UTF-8.

    Raises:
        ValueError: if the text holds half of a surrogate pair, which is no character.

    Example:
        >>> lengths("岚 ok")
        {'characters': 4, 'bytes': 6}
    """
    return {"characters": len(text), "bytes": len(to_utf8(text))}


def mean_loss(log_probability: float, units: int) -> float:
    """Return -log P / units: the mean loss in nats per unit.

    Args:
        log_probability: log P of the whole text, in nats; at most 0.
        units: number of predicted tokens, or of bytes or characters of the text.

    Raises:
        ValueError: if the logarithm is above 0 or no number, or there is no unit.

    Example:
        >>> mean_loss(-10.0, 10), mean_loss(-10.0, 20)
        (1.0, 0.5)
    """
    if isnan(log_probability) or log_probability > 0:
        raise ValueError(f"log_probability: expected at most 0, got {log_probability}")
    if units < 1:
        raise ValueError(f"units: expected at least 1, got {units}")
    return -log_probability / units + 0.0  # no minus zero


def perplexity(loss: float) -> float:
    """Return exp(loss) of a mean loss in nats per token; infinity where that is beyond a float.

    Raises:
        ValueError: if the loss is negative or no number.

    Example:
        >>> round(perplexity(1.0), 3), round(perplexity(0.5), 3)
        (2.718, 1.649)
    """
    if not loss >= 0:
        raise ValueError(f"loss: expected at least 0, got {loss}")
    try:
        return exp(loss)
    except OverflowError:
        return inf


def that_fit(
    items: Iterable[str], encode: Callable[[str], Sequence[int]], positions: int, *, joint: str = ""
) -> tuple[str, ...]:
    """Return the longest beginning of a series of texts whose ids fit into a number of positions.

    Args:
        items: texts that are sent in this order, words for example.
        encode: turns a text into its ids; called with one item at a time.
        positions: how many ids there is room for.
        joint: what stands between two items, counted with the second one.

    Raises:
        ValueError: if the number of positions is negative.

    Example:
        >>> that_fit(["low", "lower", "new"], lambda text: text.encode(), 9, joint=" ")
        ('low', 'lower')
    """
    if positions < 0:
        raise ValueError(f"positions: expected at least 0, got {positions}")
    fitting: list[str] = []
    for item in items:
        positions -= len(encode(joint + item if fitting else item))
        if positions < 0:
            break
        fitting.append(item)
    return tuple(fitting)


def unigram_log_probability(train: Sequence[Sequence[int]], test: Sequence[int], size: int) -> float:
    """Return the log probability of ids under the frequencies of training ids, one added to each count.

    The simplest model there is: it ignores order. For a text that several rows of ids could spell, this is the
    probability of the given row, less than that of the text.

    Args:
        train: training texts as ids.
        test: the ids to score; natural logarithm, in nats.
        size: how many ids there are.

    Raises:
        ValueError: if an id is not in 0 to size - 1, or there is none at all.

    Example:
        >>> round(exp(unigram_log_probability([[0, 0, 1]], [0, 1], size=2)), 3)
        0.24
    """
    if size < 1:
        raise ValueError(f"size: expected at least 1, got {size}")
    counts = Counter(number for row in train for number in row)
    for number in (*counts, *test):
        if not 0 <= number < size:
            raise ValueError(f"ids: expected 0 to {size - 1}, got {number}")
    total = counts.total() + size
    return sum(log((counts[number] + 1) / total) for number in test)
