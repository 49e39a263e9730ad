"""What a translator writes by itself, and where it first departs from the reference.

The first difference of two sequences stands behind prefixes that are equal, by definition. So a greedy generation is
the reference if and only if the label was the likeliest symbol at every position when the true history was given:
what the model fed itself can move only what comes after the first error. Section 2.5 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onesentence.checks import Ids
from onesentence.generate.exact_match import ExactMatch, exact_match
from onesentence.generate.loop import Generated, generate
from onesentence.generate.sampling import greedy
from onesentence.numerics import FloatArray
from onesentence.seq2seq.batches import Batch


class Generative(Protocol):
    """A model that generates, such as a `translator.Translator`."""

    def start(self, source: Ids, mask: NDArray[np.bool_]) -> Any:
        """Read sources (B, S) and return a state."""
        ...

    def step(self, ids: Ids, state: Any) -> tuple[FloatArray, Any]:
        """Read ids (B,), return logits (B, V) and a state."""
        ...


def translate(model: Generative, data: Batch, *, eos: int, limit: int) -> tuple[Generated, ...]:
    """Generate greedily from the sources of a batch; its labels are not looked at.

    Args:
        model: a translator.
        data: pairs; each row of `inputs` begins with BOS.
        eos: id of EOS.
        limit: largest number of choices per sentence.
    """
    state = model.start(data.source, data.source_mask)
    return generate(model.step, state, bos=data.inputs[:, 0], eos=eos, limit=limit, choose=greedy)


def labels_of(data: Batch) -> list[tuple[int, ...]]:
    """Return what should have been written, EOS included, one tuple a sentence."""
    return [tuple(row[real].tolist()) for row, real in zip(data.labels, data.mask, strict=True)]


def exact_of(written: Sequence[Generated], data: Batch) -> ExactMatch:
    """Count the sentences that were written as their labels are, EOS included.

    Args:
        written: of `translate`, one a pair.
        data: the pairs.
    """
    return exact_match([row.ids for row in written], labels_of(data))


def first_difference(written: Sequence[int], reference: Sequence[int]) -> int | None:
    """Return the first position at which two sequences differ, None if they are equal.

    Where one is the beginning of the other, that is the length of the shorter one.

    Example:
        >>> first_difference([5, 7, 2], [5, 6, 2]), first_difference([5], [5, 2]), first_difference([5, 2], [5, 2])
        (1, 1, None)
    """
    for position, (one, other) in enumerate(zip(written, reference, strict=False)):
        if one != other:
            return position
    return None if len(written) == len(reference) else min(len(written), len(reference))


def counts_behind(percent: float, of: int, *, digits: int = 2) -> tuple[int, ...]:
    """Return the whole counts that print as this percentage.

    Args:
        percent: as printed.
        of: how many there are, at least 1.
        digits: decimals that were printed.

    Raises:
        ValueError: if there are none to count.

    Example:
        >>> counts_behind(66.67, 3), counts_behind(66.6, 3, digits=1)
        ((2,), ())
    """
    if of < 1:
        raise ValueError(f"of must be at least 1, got {of}")
    return tuple(n for n in range(of + 1) if round(100 * n / of, digits) == round(percent, digits))
