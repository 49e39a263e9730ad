"""Training of a decoder-only model and its losses: `seq2seq.training`, without a source.

The loss of an update is the mean of -ln p(label) over the labels that count, as for translators; `generate.shift` makes
inputs and labels. Section 2.5 of the course.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor, nn

from onesentence.generate.shift import ShiftedBatch
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.training import LabelScores, Training, label_scores, train
from onesentence.transformer.causal_lm import CausalLM


class _WithoutSource(nn.Module):
    """A causal model called as translators are; padding stands on the right, where causal order hides it."""

    def __init__(self, model: CausalLM) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        logits: Tensor = self.model(inputs)
        return logits


def train_causal(
    model: CausalLM, data: ShiftedBatch, plan: Training, rng: np.random.Generator
) -> list[float]:
    """Train a model in place; its fingerprint changes with each update.

    Args:
        model: in training or evaluation mode, as it is to be.
        data: texts.
        plan: how; its batches are of texts.
        rng: shuffles the texts.

    Returns:
        The loss of each update, before it, in nats per label.

    Raises:
        ValueError: if a loss is not finite.

    Example:
        >>> from onesentence.generate.shift import shifted_batch
        >>> from onesentence.transformer.causal_config import CausalConfig
        >>> model = CausalLM.initial(CausalConfig(6, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> data = shifted_batch([[3, 4, 5], [4, 5]], pad=0, bos=1, eos=2)
        >>> losses = train_causal(model, data, Training(updates=20, batch=2), np.random.default_rng(0))
        >>> len(losses), losses[-1] < losses[0]
        (20, True)
    """
    return train(_WithoutSource(model), _batch(data), plan, rng)


def causal_scores(model: CausalLM, data: ShiftedBatch) -> LabelScores:
    """Return each label's loss and whether it was the likeliest symbol, the true histories given.

    Args:
        model: in evaluation mode.
        data: texts.
    """
    return label_scores(_WithoutSource(model), _batch(data))


def _batch(data: ShiftedBatch) -> Batch:
    """Return texts as pairs with a source of one symbol, which nobody reads."""
    nothing = np.zeros((len(data.inputs), 1), dtype=np.int64)
    return Batch(nothing, nothing == 0, data.inputs, data.labels, data.mask)
