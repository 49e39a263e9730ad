"""Two readers of one source that differ in one line: the mean of all encoder states, or a read for each step.

    s_j = [f_j; b_j]                          encoder states of a bidirectional LSTM
    fixed:    c_i = mean_j s_j                                       the same at every step
    dynamic:  c_i = sum_j alpha_ij s_j,  alpha_i = softmax_j(q_i . s_j),  q_i = W_q h_{i-1} (+ b_q)
    h_i, m_i = LSTM([E[y_{i-1}]; c_i], (h_{i-1}, m_{i-1}))           m is the LSTM's cell
    p(y_i | y_<i, x) = softmax(W_y [h_i; c_i] + b_y)

Both inject the source at every step, have one embedding for both sides and begin with h_0 = m_0 = 0. `first` changes
what the dynamic reader's first query is made of: `zero`, nothing, so that without b_q its weights are even; `encoder`,
h_0 = [f_S; b_1], which adds no parameter; `bias`, a learned b_q and still nothing of the source.

Sections 3.10, 3.12 and 3.13 of the course, which names the parts and the two parameter counts; the sizes here
reproduce them, the rest of the design is this book's own. Bahdanau, Cho and Bengio 2014 (arXiv:1409.0473, section 3.1)
score with a small tanh network and set the first state from the encoder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from onesentence.checks import checked_choice, checked_integer
from onesentence.seq2seq.encoders import SourceLayers
from onesentence.seq2seq.translator import Translator

Source = Literal["fixed", "dynamic"]
First = Literal["zero", "encoder", "bias"]


@dataclass(frozen=True)
class ReaderConfig:
    """Sizes and design.

    Attributes:
        source: how the decoder learns of the source.
        first: what the first query of a dynamic reader is made of.
        vocabulary: V, of both sides.
        embedding: width of an embedding.
        encoder: width of each of the encoder's two directions; a state s is twice as wide.
        hidden: H of the decoder.
    """

    source: Source
    first: First = "zero"
    vocabulary: int = 9
    embedding: int = 16
    encoder: int = 16
    hidden: int = 32

    def __post_init__(self) -> None:
        checked_choice("source", self.source, get_args(Source))
        checked_choice("first", self.first, get_args(First))
        for name in ("vocabulary", "embedding", "encoder", "hidden"):
            checked_integer(name, getattr(self, name), 1)
        if self.first != "zero" and self.source != "dynamic":
            raise ValueError(f"first: a fixed reader asks no query, expected 'zero', got {self.first!r}")
        if self.first == "encoder" and self.hidden != 2 * self.encoder:
            wanted = 2 * self.encoder
            raise ValueError(f"hidden must be {wanted} to start as a state of the encoder, got {self.hidden}")

    @property
    def source_size(self) -> int:
        """V."""
        return self.vocabulary

    @property
    def target_size(self) -> int:
        """V."""
        return self.vocabulary


@dataclass(frozen=True, eq=False)
class ReaderState:
    """What the decoder carries from step to step.

    Attributes:
        h, m: hidden state and cell, (B, H).
        states: s, (B, S, 2E), 0 at padded positions.
        mask: True at real units, (B, S).
        weights: alpha of the read just done, (B, S); for the mean, and before the first read, 1/n at real units.
    """

    h: Tensor
    m: Tensor
    states: Tensor
    mask: Tensor
    weights: Tensor

    @property
    def rows(self) -> int:
        """B."""
        return len(self.h)


class SourceReader(Translator[ReaderConfig, ReaderState]):
    """The translator; `initial` draws one.

    Everything but the query is drawn first, so the two readers of one seed begin with the same numbers there.

    Args:
        config: sizes and design.

    Example:
        >>> [parameter_count(ReaderConfig(source)) for source in ("fixed", "dynamic")]
        [15577, 16601]
    """

    def __init__(self, config: ReaderConfig) -> None:
        super().__init__(config)
        state = 2 * config.encoder
        self.embedding = nn.Embedding(config.vocabulary, config.embedding)
        self.encoder = SourceLayers(inputs=config.embedding, hidden=config.encoder, cell="lstm", two_way=True)
        self.decoder = nn.LSTM(config.embedding + state, config.hidden, batch_first=True)
        self.output = nn.Linear(config.hidden + state, config.vocabulary)
        dynamic = config.source == "dynamic"
        self.query = nn.Linear(config.hidden, state, bias=config.first == "bias") if dynamic else None

    def first_state(self, source: Tensor, mask: Tensor) -> ReaderState:
        """Read sources and return the state before BOS is read; see `Translator`."""
        encoded = self.encoder(self.embedding(source), mask)
        states, ends = encoded.states, encoded.summary
        zero = states.new_zeros(len(states), self.config.hidden)
        even = mask.to(states) / mask.sum(dim=1, keepdim=True)
        return ReaderState(ends if self.config.first == "encoder" else zero, zero, states, mask, even)

    def decode(self, inputs: Tensor, state: ReaderState) -> tuple[Tensor, ReaderState]:
        """Read target tokens, and before each of them the source; see `Translator`."""
        x = self.embedding(inputs)
        run = self._run_fixed if self.query is None else self._run_dynamic
        h, c, state = run(x, state)
        return self.output(torch.cat([h, c], dim=-1)), state

    def _run_fixed(self, x: Tensor, state: ReaderState) -> tuple[Tensor, Tensor, ReaderState]:
        """Run all steps at once: the mean does not wait for the decoder."""
        c = torch.bmm(state.weights[:, None], state.states).expand(-1, x.shape[1], -1)
        h, (last, m) = self.decoder(torch.cat([x, c], dim=-1), (state.h[None], state.m[None]))
        return h, c, replace(state, h=last[0], m=m[0])

    def _run_dynamic(self, x: Tensor, state: ReaderState) -> tuple[Tensor, Tensor, ReaderState]:
        """Step by step; what no step changes is computed before: W_q^T s, b_q . s, the gates' share of E[y]."""
        query, d, H = self.query, x.shape[-1], self.config.hidden
        assert query is not None
        keys = state.states @ query.weight  # q . s = h . (W_q^T s)
        offset = x.new_zeros(keys.shape[:2]) if query.bias is None else state.states @ query.bias
        offset = offset.masked_fill(~state.mask, -torch.inf)[:, :, None]
        W_x, W_h, b_x, b_h = self.decoder.all_weights[0]
        gates = nn.functional.linear(x, W_x[:, :d], b_x + b_h)
        W = torch.cat([W_x[:, d:], W_h], dim=1).T
        h, m, hs, cs = state.h, state.m, [], []
        for gate in gates.unbind(dim=1):
            weights = torch.baddbmm(offset, keys, h[:, :, None]).softmax(dim=1)  # (B, S, 1)
            c = torch.bmm(weights.mT, state.states)[:, 0]
            a = torch.addmm(gate, torch.cat([c, h], dim=1), W)
            i, f, _, o = a.sigmoid().chunk(4, dim=1)
            m = f * m + i * a[:, 2 * H : 3 * H].tanh()
            h = o * m.tanh()
            hs.append(h)
            cs.append(c)
        state = replace(state, h=h, m=m, weights=weights[:, :, 0])
        return torch.stack(hs, dim=1), torch.stack(cs, dim=1), state


def parameter_count(config: ReaderConfig) -> int:
    """Return how many numbers a reader learns; each of PyTorch's LSTMs has two biases."""
    return sum(weights.numel() for weights in SourceReader.initial(config, seed=0).parameters())
