"""What a decoder was asked to do: counted while it runs, not derived.

Section 4.12 of the course: training computes all positions of a target in one pass, generation one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import nn

from onesentence.transformer.decoder import TranslatorDecoder


@dataclass
class DecoderWork:
    """Counts that grow while a decoder runs.

    Attributes:
        passes: how often it was called.
        positions: target positions that its blocks computed, one position of one sentence counting once per call.
        scores: cells of the score tables of one head of one block's self-attention, those behind the mask too.
    """

    passes: int = 0
    positions: int = 0
    scores: int = 0


@contextmanager
def counted(decoder: TranslatorDecoder) -> Iterator[DecoderWork]:
    """Count what a decoder does inside a `with`.

    Args:
        decoder: of a translator; works as ever.

    Yields:
        The counts so far.

    Raises:
        TypeError: if it is no such decoder.

    Example:
        >>> import torch
        >>> from onesentence.transformer.config import TransformerConfig
        >>> from onesentence.transformer.translator import TransformerTranslator
        >>> model = TransformerTranslator.initial(TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> with counted(model.decoder) as work:
        ...     _ = model(torch.tensor([[1, 2]]), torch.tensor([[True, True]]), torch.tensor([[0, 4, 3]]))
        >>> work
        DecoderWork(passes=1, positions=3, scores=9)
    """
    if not isinstance(decoder, TranslatorDecoder):
        raise TypeError(f"decoder must be a TranslatorDecoder, got {type(decoder).__name__}")
    work = DecoderWork()

    def count(_: nn.Module, arguments: tuple[Any, ...]) -> None:
        inputs, state = arguments
        B, T = inputs.shape
        before = 0 if state.past is None else state.past[0][0].shape[2]
        work.passes += 1
        work.positions += B * T
        work.scores += B * T * (before + T)

    hook = decoder.register_forward_pre_hook(count)
    try:
        yield work
    finally:
        hook.remove()
