"""The whole translator of 2017: an encoder, and a decoder that reads what the encoder has made.

    memory = Encoder(x),    p(y_i | y_<i, x) = softmax(Decoder(y_<i, memory)_i E^T)

Sections 4.7, 4.11 and 4.12 of the course; Vaswani et al. 2017 (arXiv:1706.03762), section 3.
"""

from __future__ import annotations

from torch import Tensor

from onesentence.seq2seq.translator import Translator
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.decoder import TargetState, TranslatorDecoder
from onesentence.transformer.encoder import Encoder


class TransformerTranslator(Translator[TransformerConfig, TargetState]):
    """The translator; `initial` draws one.

    Args:
        config: sizes and design.

    Example:
        >>> import torch
        >>> model = TransformerTranslator.initial(TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> logits = model(torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, True]]), torch.tensor([[0, 4]]))
        >>> tuple(logits.shape)
        (1, 2, 6)
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config)
        self.decoder = TranslatorDecoder(config)

    def first_state(self, source: Tensor, mask: Tensor) -> TargetState:
        """Read sources (B, S), mask True at real units, and return the state before BOS is read."""
        return self.decoder.first_state(self.encoder(source, mask))

    def decode(self, inputs: Tensor, state: TargetState) -> tuple[Tensor, TargetState]:
        """Read target tokens (B, T); return logits (B, T, V) and the state after the last."""
        logits, state = self.decoder(inputs, state)
        return logits, state
