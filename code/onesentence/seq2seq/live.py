"""Translations of every prefix of a source: what a translator writes while its source arrives, each time from scratch.

The translator is told nothing of what it wrote for a shorter prefix, nor that more will come. One trained on whole
sentences has never read a prefix. Section 4.16 of the course.
"""

from __future__ import annotations

import numpy as np

from onesentence.generate.loop import generate
from onesentence.generate.sampling import greedy
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.evaluation import Generative


def prefix_translations(
    model: Generative, data: Batch, *, eos: int, limit: int
) -> list[list[tuple[int, ...]]]:
    """Translate every prefix of every source greedily; the labels are not looked at.

    Args:
        model: a translator.
        data: pairs, padded on the right.
        eos: id of EOS.
        limit: largest number of choices per translation.

    Returns:
        For each source a translation per prefix, of one unit, of two and so on, ids without EOS.
    """
    lengths = data.source_mask.sum(axis=1)
    rows = np.repeat(np.arange(len(data)), lengths)
    units = np.concatenate([np.arange(1, n + 1) for n in lengths])
    mask = np.arange(data.source.shape[1]) < units[:, None]
    state = model.start(data.source[rows], mask)
    written = generate(model.step, state, bos=data.inputs[rows, 0], eos=eos, limit=limit, choose=greedy)
    texts = [text.ids[:-1] if text.ended else text.ids for text in written]
    ends = np.cumsum(lengths)
    return [texts[end - n : end] for n, end in zip(lengths, ends, strict=True)]
