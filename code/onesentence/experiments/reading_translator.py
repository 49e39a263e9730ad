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

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from onesentence.checks import checked_integer
from onesentence.numerics import FloatArray
from onesentence.seq2seq.batches import Batch
from onesentence.seq2seq.translator import Translator

LONGEST = 16
"""Source positions that the model has."""


@dataclass(frozen=True)
class Sizes:
    """Sizes of the translator.

    Attributes:
        source_size: number of source symbols.
        target_size: number of target symbols.
        width: d.
    """

    source_size: int
    target_size: int
    width: int

    def __post_init__(self) -> None:
        for name in ("source_size", "target_size", "width"):
            checked_integer(name, getattr(self, name), 1)


@dataclass(frozen=True, eq=False)
class ReadingTranslatorState:
    """What the decoder carries from step to step; only `s` changes.

    Attributes:
        s: decoder state, (B, d).
        h: annotations, (B, S, d).
        may_read: True where reading is allowed, (B, S).
    """

    s: Tensor
    h: Tensor
    may_read: Tensor

    @property
    def rows(self) -> int:
        """B."""
        return len(self.s)


class ReadingTranslator(Translator[Sizes, ReadingTranslatorState]):
    """The translator; `initial` draws one.

    Args:
        config: sizes.
    """

    def __init__(self, config: Sizes) -> None:
        super().__init__(config)
        width = config.width
        self.source = nn.Embedding(config.source_size, width)
        self.positions = nn.Embedding(LONGEST, width)
        self.target = nn.Embedding(config.target_size, width)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.Q, self.K, self.V = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.combine = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, config.target_size)

    def annotations(self, source: Tensor, mask: Tensor) -> Tensor:
        """Return h, (B, S, d); positions are counted from the first real unit.

        Args:
            source: ids, (B, S).
            mask: True at real units, (B, S).

        Raises:
            ValueError: if a source is longer than the model has positions.
        """
        longest = int(mask.sum(dim=1).max())
        if longest > LONGEST:
            raise ValueError(f"source must have at most {LONGEST} real units, got {longest}")
        places = torch.arange(source.shape[1])  # one row for all, where every source begins at once
        if not bool(mask[:, 0].all()):
            places = (mask.cumsum(dim=1) - 1).clamp_min(0)
        h: Tensor = self.source(source) + self.positions(places.clamp_max(LONGEST - 1))
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

    def first_state(self, source: Tensor, mask: Tensor) -> ReadingTranslatorState:
        """Read sources and return the state before BOS is read; see `Translator`."""
        h = self.annotations(source, mask)
        return ReadingTranslatorState(h.new_zeros(len(h), self.config.width), h, mask)

    def decode(self, inputs: Tensor, state: ReadingTranslatorState) -> tuple[Tensor, ReadingTranslatorState]:
        """Read target tokens and say after each what may come next; see `Translator`."""
        s, last = self.decoder(self.target(inputs), state.s[None])
        return self.read(s, state.h, state.h, state.may_read)[1], replace(state, s=last[0])

    @torch.no_grad()
    def weights(self, data: Batch) -> FloatArray:
        """Return alpha, (B, T, S)."""
        mask = torch.from_numpy(data.source_mask)
        h = self.annotations(torch.from_numpy(data.source), mask)
        return self.read(self.states(torch.from_numpy(data.inputs)), h, h, mask)[0].numpy()
