"""The worked block's weights in the module that trains and in PyTorch's own layer, so that all three can be compared.

Dropout is 0 and everything float64. `teaching.TeachingBlock` writes rows times matrix, `nn.Linear` keeps the transposed
matrix; W^Q, W^K and W^V of all heads stand in one matrix there, in this order and head by head inside. The heads of the
formula have no biases, so those are 0. Section 4.10 of the course.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from onesentence.numerics import FloatArray
from onesentence.transformer.block import EncoderBlock
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.teaching import TeachingBlock

_OURS_AND_THEIRS = {
    "attention.project": "self_attn.in_proj_",
    "attention.merge": "self_attn.out_proj.",
    "ffn.widen": "linear1.",
    "ffn.narrow": "linear2.",
    "around.0.norm": "norm1.",
    "around.1.norm": "norm2.",
}


def encoder_block(block: TeachingBlock) -> EncoderBlock:
    """Return the trainable block with the weights of a worked one.

    Args:
        block: post-norm, H * D = H * Dv = C, eps 1e-5.

    Raises:
        ValueError: if its heads do not split the width, or its eps is another.

    Example:
        >>> from onesentence.transformer.block_example import block, inputs
        >>> z = encoder_block(block())(torch.from_numpy(inputs())[None])
        >>> bool(np.allclose(z.detach().numpy()[0], block()(inputs()).z))
        True
    """
    _check_sizes(block)
    H, C, _ = block.heads.w_q.shape
    twin = EncoderBlock(TransformerConfig(1, 1, d_model=C, n_head=H, d_ff=block.w_1.shape[1])).double()
    twin.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in _parameters(block).items()})
    return twin


def torch_layer(block: TeachingBlock) -> nn.TransformerEncoderLayer:
    """Return PyTorch's layer with the weights of a worked block.

    Args:
        block: as for `encoder_block`.

    Raises:
        ValueError: as `encoder_block`.

    Example:
        >>> from onesentence.transformer.block_example import block, inputs
        >>> z = torch_layer(block())(torch.from_numpy(inputs())[None])
        >>> bool(np.allclose(z.detach().numpy()[0], block()(inputs()).z))
        True
    """
    _check_sizes(block)
    H, C, _ = block.heads.w_q.shape
    F = block.w_1.shape[1]
    layer = nn.TransformerEncoderLayer(C, H, F, dropout=0.0, batch_first=True, dtype=torch.float64)
    state = {}
    for name, value in _parameters(block).items():
        part, kind = name.rsplit(".", 1)
        state[_OURS_AND_THEIRS[part] + kind] = torch.from_numpy(value.copy())
    layer.load_state_dict(state)
    return layer


def _parameters(block: TeachingBlock) -> dict[str, FloatArray]:
    """Return every parameter under the name that `EncoderBlock` gives it."""
    heads, C = block.heads, block.heads.w_o.shape[1]
    projections = np.concatenate([_side_by_side(w).T for w in (heads.w_q, heads.w_k, heads.w_v)])
    return {
        "attention.project.weight": projections,
        "attention.project.bias": np.zeros(3 * C),
        "attention.merge.weight": heads.w_o.T,
        "attention.merge.bias": block.b_o,
        "ffn.widen.weight": block.w_1.T,
        "ffn.widen.bias": block.b_1,
        "ffn.narrow.weight": block.w_2.T,
        "ffn.narrow.bias": block.b_2,
        "around.0.norm.weight": block.gamma[0],
        "around.0.norm.bias": block.beta[0],
        "around.1.norm.weight": block.gamma[1],
        "around.1.norm.bias": block.beta[1],
    }


def _side_by_side(w: FloatArray) -> FloatArray:
    """Return (H, C, D) as (C, H * D)."""
    return np.concatenate(list(w), axis=1)


def _check_sizes(block: TeachingBlock) -> None:
    H, C, D = block.heads.w_q.shape
    Dv = block.heads.w_v.shape[2]
    if H * D != C or H * Dv != C:
        raise ValueError(
            f"block must have heads of D = Dv = {C} / {H}, which the modules need; got D = {D}, Dv = {Dv}"
        )
    if block.eps != 1e-5:
        raise ValueError(f"block must have eps = 1e-5, which the modules have, got {block.eps}")
