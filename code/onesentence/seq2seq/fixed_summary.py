"""A translator whose decoder knows the source through one vector only, in PyTorch.

    c_src = h_n                                                 the encoder's state after the last unit
    initial:  s_0 = g(c_src),  s_i = f(E_y[y_{i-1}], s_{i-1})           the condition travels in the state
    inject:   s_0 = 0,         s_i = f([E_y[y_{i-1}]; c_src], s_{i-1})  the condition is read again at each step
    p(y_i | y_<i, x) = softmax(W_y s_i + b_y)

The two interfaces are two models and never one run. c_src is the condition, not an LSTM's cell; with an LSTM the
decoder's state s has a hidden and a cell part, both set by g. `g` is one affine map and a tanh.

Sections 2.3 to 2.5 of the course. An encoder's last state as the start of a decoder: Sutskever, Vinyals and Le 2014
(arXiv:1409.3215), section 2, who copy it and reverse the source; read again at each step: Cho et al. 2014
(arXiv:1406.1078), section 2.2, whose output sees c and y_{i-1} as well. Neither detail is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from onesentence.checks import checked_choice
from onesentence.seq2seq.encoders import Encoder
from onesentence.seq2seq.layers import (
    Output,
    RecurrentConfig,
    States,
    parts_of,
    recurrent_layer,
    run_layer,
)
from onesentence.seq2seq.translator import Translator

Interface = Literal["initial", "inject"]


@dataclass(frozen=True)
class FixedSummaryConfig(RecurrentConfig):
    """Sizes and design of a translator.

    Attributes:
        interface: how the decoder learns of the source.
    """

    interface: Interface = "initial"

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_choice("interface", self.interface, get_args(Interface))


@dataclass(frozen=True, eq=False)
class DecoderState:
    """What the decoder carries from step to step.

    Attributes:
        parts: s, one or two tensors (B, H).
        summary: c_src, (B, H), where it is read again at each step; None where it has gone into s_0.
    """

    parts: States
    summary: Tensor | None

    @property
    def rows(self) -> int:
        """B."""
        return len(self.parts[0])


class FixedSummary(Translator[FixedSummaryConfig, DecoderState]):
    """The translator; `initial` draws one.

    Args:
        config: sizes and design.

    Example:
        >>> model = FixedSummary.initial(FixedSummaryConfig(5, 6, embedding=4, hidden=4), seed=0)
        >>> logits = model(torch.tensor([[1, 2, 3]]), torch.tensor([[True, True, True]]), torch.tensor([[0, 4]]))
        >>> tuple(logits.shape)
        (1, 2, 6)
    """

    def __init__(self, config: FixedSummaryConfig) -> None:
        super().__init__(config)
        width, H = config.embedding, config.hidden
        self.encoder = Encoder(
            vocabulary=config.source_size,
            embedding=width,
            hidden=H,
            cell=config.cell,
            forget_bias=config.forget_bias,
        )
        self.embedding = nn.Embedding(config.target_size, width)
        injected = config.interface == "inject"
        self.bridge = None if injected else nn.Linear(H, parts_of(config.cell) * H)  # g, before its tanh
        inputs = width + H if injected else width
        self.decoder = recurrent_layer(config.cell, inputs=inputs, hidden=H, forget_bias=config.forget_bias)
        self.output = Output(hidden=H, vocabulary=config.target_size, barred=config.barred)

    def first_state(self, source: Tensor, mask: Tensor) -> DecoderState:
        """Read sources and return the state before BOS is read; see `Translator`."""
        return self.state_of(self.encoder(source, mask).summary)

    def state_of(self, summary: Tensor) -> DecoderState:
        """Return the state before BOS is read.

        Args:
            summary: c_src, (B, H).
        """
        if self.bridge is None:
            zero = torch.zeros_like(summary)
            return DecoderState((zero,) * parts_of(self.config.cell), summary)
        s0 = torch.tanh(self.bridge(summary))
        return DecoderState(torch.split(s0, self.config.hidden, dim=-1), None)

    def decode(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Read target tokens and say after each what may come next; see `Translator`."""
        x = self.embedding(inputs)  # (B, T, d)
        if state.summary is not None:
            again = state.summary[:, None].expand(-1, inputs.shape[1], -1)
            x = torch.cat([x, again], dim=-1)  # (B, T, d + H)
        s, parts = run_layer(self.decoder, x, state.parts)
        return self.output(s), DecoderState(parts, state.summary)
