"""A translator of two kinds of parts: an attention encoder, and a recurrent decoder that reads what it has made.

    h_1 ... h_S = Encoder(x)                      blocks of self-attention, as in `translator`
    c_src = mean of the h_j                       what s_0 is made of
    s_i, alpha_ij, c_i, p(y_i | y_<i, x)          as in `seq2seq.reading`

The decoder is that of `seq2seq.reading` itself: it reads rows (B, S, E) and does not ask what made them. Chen et al.
2018 (arXiv:1804.09849) compare such hybrids; section 4.16 of the course names one that a product chose in 2020, with
other sizes and parts than here.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from onesentence.seq2seq.encoders import Encoded
from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.encoder import Encoder


@dataclass(frozen=True)
class HybridConfig(ReadingConfig):
    """Sizes and design; `hidden` is the width of the encoder too.

    Attributes:
        n_head, d_ff: as `TransformerConfig`, of the encoder.
        layers: blocks of the encoder.
    """

    n_head: int = 4
    d_ff: int = 256
    layers: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.two_way:
            raise ValueError("two_way: an attention encoder reads in no direction, got True")
        self.encoder_sizes()

    def encoder_sizes(self) -> TransformerConfig:
        """Return the encoder's sizes; what says of a decoder there is not used."""
        return TransformerConfig(
            self.source_size,
            self.target_size,
            d_model=self.hidden,
            n_head=self.n_head,
            d_ff=self.d_ff,
            encoder_layers=self.layers,
        )


class SourceStates(nn.Module):
    """An attention encoder under the face of a recurrent one.

    Args:
        config: sizes and design.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.encoder = Encoder(config)

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        """Read a batch.

        Args:
            source: ids, (B, S).
            mask: True at real units, (B, S).

        Returns:
            States (B, S, C), 0 at padded positions, and their mean over the real ones as summary.
        """
        states = self.encoder(source, mask).states.masked_fill(~mask[..., None], 0)
        return Encoded(states, mask, states.sum(dim=1) / mask.sum(dim=1, keepdim=True))


class Hybrid(Reading):
    """The translator; `initial` draws one.

    Args:
        config: sizes and design.

    Example:
        >>> import torch
        >>> model = Hybrid.initial(HybridConfig(5, 6, embedding=8, hidden=8, n_head=2, d_ff=16), seed=0)
        >>> logits = model(torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, True]]), torch.tensor([[0, 4]]))
        >>> tuple(logits.shape)
        (1, 2, 6)
    """

    def __init__(self, config: HybridConfig) -> None:
        super().__init__(config, SourceStates(config.encoder_sizes()))
