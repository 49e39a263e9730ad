"""Inputs and labels out of a text: BOS in front of the inputs, EOS behind the labels, so that labels run one ahead.

    ids     x_1 x_2 ... x_T
    inputs  BOS x_1 x_2 ... x_T        (T + 1)
    labels  x_1 x_2 ... x_T EOS        (T + 1)

At position t a model has read inputs up to t and is asked for labels[t], which is not among them. Fed with the text
itself instead of its own words, it is trained by teacher forcing. Sections 2.5 and 2.6 of the course.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import Ids, checked_integer
from onesentence.text.batches import id_vector, padded


class Shifted(NamedTuple):
    """Inputs and labels of one text, int64, (T + 1,) each."""

    inputs: Ids
    labels: Ids


class ShiftedBatch(NamedTuple):
    """Inputs and labels of B texts, filled up with PAD at the right.

    Attributes:
        inputs: int64, (B, T + 1); PAD behind the last word.
        labels: int64, (B, T + 1); PAD behind EOS.
        mask: bool, (B, T + 1), True where a label counts, EOS among them.
    """

    inputs: Ids
    labels: Ids
    mask: NDArray[np.bool_]


def shifted(ids: ArrayLike, bos: int, eos: int) -> Shifted:
    """Return what a model reads and what it is asked for, position by position.

    Args:
        ids: a text, (T,), without BOS and EOS; may be empty.
        bos: the id of BOS.
        eos: the id of EOS.

    Raises:
        TypeError: if the ids, `bos` or `eos` are not integers.
        ValueError: if the ids are no vector or hold BOS or EOS, or the two are the same or negative.

    Example:
        >>> inputs, labels = shifted([5, 6, 7], bos=1, eos=2)
        >>> inputs.tolist(), labels.tolist()
        ([1, 5, 6, 7], [5, 6, 7, 2])
    """
    text = id_vector("ids", ids)
    checked_integer("bos", bos, 0)
    checked_integer("eos", eos, 0)
    if bos == eos:
        raise ValueError(f"eos: expected another id than that of BOS, got {eos} for both")
    for name, special in (("BOS", bos), ("EOS", eos)):
        if (text == special).any():
            raise ValueError(f"ids: expected a text without {name}, found its id {special}")
    return Shifted(np.concatenate([[bos], text]), np.concatenate([text, [eos]]))


def shifted_batch(
    sequences: Sequence[ArrayLike], *, pad: int, bos: int, eos: int, length: int | None = None
) -> ShiftedBatch:
    """Shift several texts and put them into arrays.

    Args:
        sequences: B texts without BOS, EOS and PAD.
        pad: the id of PAD, which no text holds, like the next two.
        bos: the id of BOS.
        eos: the id of EOS.
        length: columns of the arrays; None takes as many as the longest text needs.

    Raises:
        TypeError: if ids are not integers.
        ValueError: as `shifted` and `padded`.

    Example:
        >>> batch = shifted_batch([[5, 6], [7]], pad=0, bos=1, eos=2)
        >>> batch.inputs.tolist(), batch.labels.tolist()
        ([[1, 5, 6], [1, 7, 0]], [[5, 6, 2], [7, 2, 0]])
        >>> batch.mask.tolist()
        [[True, True, True], [True, True, False]]
    """
    if pad in (bos, eos):
        raise ValueError(f"pad: expected another id than those of BOS and EOS, got {pad}")
    pairs = [shifted(ids, bos, eos) for ids in sequences]
    inputs = padded([pair.inputs for pair in pairs], pad, length=length)
    labels = padded([pair.labels for pair in pairs], pad, length=length)
    return ShiftedBatch(inputs.ids, labels.ids, labels.mask)
