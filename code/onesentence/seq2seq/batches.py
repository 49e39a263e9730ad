"""Sentence pairs as padded arrays, the target shifted by one: what is read and what has to be predicted.

    inputs  BOS I    gave him a    book      yesterday .
    labels  I   gave him  a   book yesterday .         EOS

At each position the label is the next input, so it is never among what the model has read. Sections 2.5 and 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onesentence.checks import Ids
from onesentence.generate.shift import shifted_batch
from onesentence.text.batches import padded
from onesentence.text.vocabulary import BOS, EOS, PAD, Vocabulary

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Batch:
    """N pairs, padded on the right.

    Attributes:
        source: ids, (N, S).
        source_mask: True at real units, (N, S).
        inputs: BOS and the target, (N, T).
        labels: the target and EOS, (N, T).
        mask: True at real labels, (N, T).
    """

    source: Ids
    source_mask: Mask
    inputs: Ids
    labels: Ids
    mask: Mask

    def __len__(self) -> int:
        return len(self.source)

    def rows(self, index: ArrayLike) -> Batch:
        """Return some of the pairs, cut to the longest of them.

        Args:
            index: integers or booleans, as NumPy indexes; at least one.

        Raises:
            ValueError: if it chooses no pair.
        """
        asked = np.asarray(index)
        chosen = np.arange(len(self))[asked] if asked.size else np.empty(0, dtype=np.int64)
        if chosen.ndim != 1 or not chosen.size:
            raise ValueError(f"index must choose at least one pair, in a row, got {index!r}")
        source_mask, mask = self.source_mask[chosen], self.mask[chosen]
        S, T = int(source_mask.sum(axis=1).max()), int(mask.sum(axis=1).max())
        return Batch(
            self.source[chosen, :S],
            source_mask[:, :S],
            self.inputs[chosen, :T],
            self.labels[chosen, :T],
            mask[:, :T],
        )


def batch_of(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]], source: Vocabulary, target: Vocabulary
) -> Batch:
    """Return pairs as one batch.

    Args:
        pairs: at least one pair of units and target tokens, without BOS and EOS.
        source: vocabulary with PAD.
        target: vocabulary with PAD, BOS and EOS.

    Raises:
        ValueError: if there is no pair, a side is empty, or a word or special symbol is in no vocabulary.

    Example:
        >>> zh = Vocabulary.from_words(["我", "走"], specials=[PAD])
        >>> en = Vocabulary.from_words(["I", "go"], specials=[PAD, BOS, EOS])
        >>> batch = batch_of([(("我", "走"), ("I", "go"))], zh, en)
        >>> en.decode(batch.inputs[0]), en.decode(batch.labels[0])
        (('BOS', 'I', 'go'), ('I', 'go', 'EOS'))
    """
    if not pairs:
        raise ValueError("pairs: expected at least one, got none")
    if any(not units or not words for units, words in pairs):
        raise ValueError("pairs: expected at least one word on each side, got an empty side")
    read = padded([source.encode(units) for units, _ in pairs], source.id(PAD))
    ids = [target.encode(words) for _, words in pairs]
    written = shifted_batch(ids, pad=target.id(PAD), bos=target.id(BOS), eos=target.id(EOS))
    return Batch(read.ids, read.mask, *written)
