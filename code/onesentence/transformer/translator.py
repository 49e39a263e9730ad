"""The whole translator of 2017: an encoder, and a decoder that reads what the encoder has made.

    memory = Encoder(x),    p(y_i | y_<i, x) = softmax(Decoder(y_<i, memory)_i E^T)

Sections 4.7, 4.11 and 4.12 of the course; Vaswani et al. 2017 (arXiv:1706.03762), section 3.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from onesentence.numerics import FloatArray
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.decoder import TargetState, TranslatorDecoder
from onesentence.transformer.encoder import Encoder


class TransformerTranslator(nn.Module):
    """The translator; `initial` draws one.

    Args:
        config: sizes and design.

    Example:
        >>> model = TransformerTranslator.initial(TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> logits = model(torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, True]]), torch.tensor([[0, 4]]))
        >>> tuple(logits.shape)
        (1, 2, 6)
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = TranslatorDecoder(config)

    @classmethod
    def initial(cls, config: TransformerConfig, *, seed: int) -> TransformerTranslator:
        """Draw the parameters; the global generator is left as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return cls(config)

    def first_state(self, source: Tensor, mask: Tensor) -> TargetState:
        """Read sources (B, S), mask True at real units, and return the state before BOS is read."""
        return self.decoder.first_state(self.encoder(source, mask))

    def decode(self, inputs: Tensor, state: TargetState) -> tuple[Tensor, TargetState]:
        """Read target tokens (B, T); return logits (B, T, V) and the state after the last."""
        logits, state = self.decoder(inputs, state)
        return logits, state

    def forward(self, source: Tensor, source_mask: Tensor, inputs: Tensor) -> Tensor:
        """Return logits (B, T, V) with the true history given."""
        return self.decode(inputs, self.first_state(source, source_mask))[0]

    @torch.no_grad()
    def start(self, source: ArrayLike, mask: ArrayLike | None = None) -> TargetState:
        """Read sources (B, S) and return the state that generation starts with."""
        ids = torch.from_numpy(np.asarray(source))
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else torch.from_numpy(np.array(mask))
        return self.first_state(ids, real)

    @torch.no_grad()
    def step(self, ids: ArrayLike, state: TargetState) -> tuple[FloatArray, TargetState]:
        """Read one token of each sentence, (B,); return logits (B, V) and the state."""
        logits, state = self.decode(torch.from_numpy(np.asarray(ids))[:, None], state)
        return logits[:, 0].numpy(), state
