"""Which position of a translator's output depends on which token of its input: change one, and look everywhere.

A mask is a promise about dependence, and this is how it is tested: not what the attention weights look like, but what
the logits do. Section 4.6 of the course asks for it; residuals, norms and the other blocks are all on the way.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from onesentence.numerics import FloatArray
from onesentence.transformer.translator import TransformerTranslator

Side = Literal["source", "target"]


@torch.no_grad()
def influence(model: TransformerTranslator, source: Tensor, inputs: Tensor, *, of: Side) -> FloatArray:
    """Replace each token by every other symbol, one at a time, and return how far any logit moves.

    Args:
        model: in evaluation mode; in float64, what does not depend moves by 0 or a rounding.
        source: ids of one sentence without padding, (S,).
        inputs: target inputs, (T,).
        of: whose tokens to replace.

    Returns:
        (T, S) or (T, T): the largest change of a logit of target position i, over all symbols in place of token j.

    Raises:
        TypeError: if ids are no tensor of integers.
        ValueError: if an argument is no vector, there is no such side, dropout would move the logits too, or a logit is
            NaN, whose change nobody can tell.

    Example:
        >>> from onesentence.transformer.config import TransformerConfig
        >>> model = TransformerTranslator.initial(TransformerConfig(3, 4, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> moved = influence(model.double(), torch.tensor([1, 2]), torch.tensor([0, 3, 1]), of="target")
        >>> (moved > 1e-9).astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    if of not in get_args(Side):
        raise ValueError(f"of: expected source or target, got {of!r}")
    for name, ids in (("source", source), ("inputs", inputs)):
        if not isinstance(ids, Tensor):
            raise TypeError(f"{name} must be a tensor of ids, got {type(ids).__name__}")
        if ids.ndim != 1 or not len(ids):
            raise ValueError(f"{name} must be a vector of at least one id, got shape {tuple(ids.shape)}")
    if model.training and model.config.dropout:
        raise ValueError(f"model must not train with dropout = {model.config.dropout}, call .eval() first")
    symbols = model.config.source_size if of == "source" else model.config.target_size
    ids = source if of == "source" else inputs
    places, rows = torch.arange(len(ids)), len(ids) * symbols
    read, written = source.repeat(rows, 1), inputs.repeat(rows, 1)
    changed = (read if of == "source" else written).view(len(ids), symbols, len(ids))
    changed[places, :, places] = torch.arange(symbols)  # [j, k] has symbol k in place j, for one k its own
    logits = model(read, torch.ones_like(read, dtype=torch.bool), written)
    logits = logits.view(len(ids), symbols, *logits.shape[1:])
    broken = logits.isnan().flatten(1).any(dim=1)
    if bool(broken.any()):
        j = int(broken.nonzero()[0])
        raise ValueError(f"model: a logit is NaN with other symbols in place of token {j} of {of}")
    moved = logits - logits[places, ids][:, None]
    moved = moved.nan_to_num(nan=0.0).abs()  # -inf of symbols that are never predicted
    largest: FloatArray = moved.amax(dim=(1, 3)).T.numpy().astype(float)
    return largest
