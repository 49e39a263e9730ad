"""A small translator that reads its source anew for every word, made for looking at its weights.

    h_j = E_x[x_j] + P_j                              one annotation per source unit, of this unit and its position only
    s_i = GRU(E_y[y_{i-1}], s_{i-1}),  s_0 = 0        the decoder's state knows the target so far, and no source
    alpha_i = softmax_j((Q s_i) . (K h_j) / sqrt(d)),  c_i = sum_j alpha_ij (V h_j)
    p(y_i | y_<i, x) = softmax(W_y tanh(W_c [s_i; c_i] + b_c) + b_y)

The state comes first and the read after it, as in Luong et al. 2015 (arXiv:1508.04025), section 3; Bahdanau et al. 2015
read first, and both encode with recurrent layers. Without one an annotation holds its own word, so a weight on a
position is a read of that word; with one, a word's information may be read elsewhere. Section 3.7 of the course.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from onesentence.numerics import FloatArray
from onesentence.seq2seq.batches import Batch

LONGEST = 16
"""Source positions that the model has."""


class ReadingTranslator(nn.Module):
    """The translator; parameters come from torch's global generator.

    Args:
        source_size: number of source symbols.
        target_size: number of target symbols.
        width: d.
    """

    def __init__(self, source_size: int, target_size: int, width: int) -> None:
        super().__init__()
        self.source = nn.Embedding(source_size, width)
        self.positions = nn.Embedding(LONGEST, width)
        self.target = nn.Embedding(target_size, width)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.Q, self.K, self.V = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.combine = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, target_size)

    def annotations(self, source: Tensor) -> Tensor:
        """Return h, (B, S, d), for ids (B, S)."""
        h: Tensor = self.source(source) + self.positions(torch.arange(source.shape[1]))
        return h

    def read(self, s: Tensor, h_k: Tensor, h_v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return weights (B, T, S) and logits (B, T, V).

        Args:
            s: states, (B, T, d).
            h_k: annotations that the keys are made of, (B, S, d).
            h_v: annotations that the values are made of; the same, unless an intervention pulls them apart.
            mask: True where may be read, (B, S).
        """
        e = self.Q(s) @ self.K(h_k).mT / s.shape[-1] ** 0.5
        alpha = e.masked_fill(mask.logical_not()[:, None], -torch.inf).softmax(dim=-1)
        c = alpha @ self.V(h_v)
        return alpha, self.output(torch.tanh(self.combine(torch.cat([s, c], dim=-1))))

    def states(self, inputs: Tensor) -> Tensor:
        """Return s, (B, T, d), for the target so far, (B, T)."""
        s: Tensor = self.decoder(self.target(inputs))[0]
        return s

    def forward(self, source: Tensor, mask: Tensor, inputs: Tensor) -> Tensor:
        """Return logits (B, T, V) with the true history given."""
        h = self.annotations(source)
        return self.read(self.states(inputs), h, h, mask)[1]

    @torch.no_grad()
    def weights(self, data: Batch) -> FloatArray:
        """Return alpha, (B, T, S)."""
        h = self.annotations(torch.from_numpy(data.source))
        s = self.states(torch.from_numpy(data.inputs))
        return self.read(s, h, h, torch.from_numpy(data.source_mask))[0].numpy()
