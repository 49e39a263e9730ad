"""The translator's decoder: what has been written so far, and the whole source, say what may come next.

Training gives all target inputs at once, under a causal mask; generation gives one token at a time and keeps the keys
and values of those before it, so no position is computed twice. Both are `TranslatorDecoder.forward`, and give the same
logits. Symbols: `B` batch, `T` target tokens of this call, `S` source length, `V` target vocabulary. Sections 4.11 and
4.12 of the course.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from onesentence.cache.source import SourceCache
from onesentence.transformer.attention_layer import KeysValues
from onesentence.transformer.block import DecoderBlock
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.embedding import InputEmbedding, checked_tokens
from onesentence.transformer.encoder import Memory
from onesentence.transformer.norms import LayerNorm


@dataclass(frozen=True, eq=False)
class TargetState:
    """What the decoder carries from call to call; only `past` changes.

    Attributes:
        source: of the blocks' cross-attention; no layers without any, no owner: parameters stay while a text is written.
        past: per block keys and values of the target tokens read so far, (B, H, P, D); None before the first.
    """

    source: SourceCache
    past: tuple[KeysValues, ...] | None = None

    @property
    def rows(self) -> int:
        """B."""
        return self.source.rows


class TranslatorDecoder(nn.Module):
    """Embeddings, positions, blocks of three sublayers, and logits from the embeddings' own rows.

    The output matrix is the embedding table, as in Vaswani et al. 2017 (arXiv:1706.03762), section 3.4, who share it
    with the source too; here each side has its vocabulary.

    Args:
        config: sizes and design.
    """

    may_come: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.embedding = InputEmbedding(config.target_size, config)
        self.blocks = nn.ModuleList(DecoderBlock(config) for _ in range(config.decoder_layers))
        self.last = LayerNorm(config.d_model) if config.order == "pre" else nn.Identity()
        may_come = torch.ones(config.target_size, dtype=torch.bool)
        may_come[list(config.barred)] = False
        self.register_buffer("may_come", may_come)

    def first_state(self, memory: Memory) -> TargetState:
        """Return the state before BOS is read."""
        layers = [block.cross for block in self.blocks if isinstance(block, DecoderBlock)]
        source = tuple(cross.keys_values(memory.states) for cross in layers if cross is not None)
        return TargetState(SourceCache(source, memory.mask))

    def forward(self, inputs: Tensor, state: TargetState) -> tuple[Tensor, TargetState]:
        """Read target tokens and say after each what may come next.

        Args:
            inputs: ids, (B, T); in training all of a target at once, padding on the right: no real position reads it.
            state: of `first_state`, or what an earlier call returned.

        Returns:
            Logits, (B, T, V), -inf for symbols that are never predicted, and the state after the last token.

        Raises:
            TypeError: if `inputs` are not integers.
            ValueError: if they have another shape, an id lies outside the vocabulary, or positions are learned and
                there are not so many.
        """
        B = state.rows
        if inputs.ndim != 2 or len(inputs) != B:
            raise ValueError(
                f"inputs must have shape ({B}, T), as the state has {B} rows, got {tuple(inputs.shape)}"
            )
        checked_tokens("inputs", inputs, self.embedding.tokens.num_embeddings)
        T = inputs.shape[1]
        before = 0 if state.past is None else state.past[0][0].shape[2]
        x = self.embedding(inputs, torch.arange(before, before + T, device=inputs.device))
        past = []
        for i, block in enumerate(self.blocks):
            x, kept = block(
                x,
                state.source.layer(i) if state.source.layers else None,
                state.source.may_read,
                None if state.past is None else state.past[i],
            )
            past.append(kept)
        logits = self.last(x) @ self.embedding.tokens.weight.T
        logits = logits.masked_fill(~self.may_come, -torch.inf)
        return logits, TargetState(state.source, tuple(past))
