"""Who depends on whom in a translator, found by changing one token at a time.

    memory[i, j]   source unit j moves the encoder's row i     all of them, where attention is not masked
    target[i, j]   target input j moves the logits of row i    j <= i only
    cross[i, j]    source unit j moves the logits of row i     all of them, or none without cross-attention

True proves that there is a dependence; False says that this change did not move the row. Section 4.11 of the course;
`recurrent.visibility` asks the same of networks whose inputs are vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from onesentence.checks import as_ids, checked_integer, checked_number
from onesentence.transformer.translator import TransformerTranslator


@dataclass(frozen=True, eq=False)
class Scopes:
    """Three boolean matrices, rows move and columns are changed; S source units, T target inputs.

    Attributes:
        memory: (S, S).
        target: (T, T).
        cross: (T, S).
    """

    memory: NDArray[np.bool_]
    target: NDArray[np.bool_]
    cross: NDArray[np.bool_]


@torch.no_grad()
def scopes(
    model: TransformerTranslator,
    source: ArrayLike,
    inputs: ArrayLike,
    *,
    other: tuple[int, int],
    tolerance: float = 1e-9,
) -> Scopes:
    """Change each token of a sentence pair in turn.

    Args:
        model: in float64 and without dropout (`eval`), so that nothing but the change can move a row.
        source: ids of one sentence, (S,).
        inputs: BOS and target ids, (T,).
        other: what tokens are changed to, an id of the source and one of the target that do not occur there.
        tolerance: a row has moved if one of its numbers changed by more.

    Raises:
        TypeError: if ids are not integers, `other` is no pair, or the model is not in float64.
        ValueError: if there is more than one sentence, the model is training, an id lies outside its vocabulary, a
            changed id occurs in the sentence, the tolerance is negative or infinite, or the model computes NaN.
    """
    if next(model.parameters()).dtype != torch.float64:
        raise TypeError("model must be in float64, call .double() first")
    if model.training:
        raise ValueError("model must not be training, call .eval() first")
    if checked_number("tolerance", tolerance) < 0:
        raise ValueError(f"tolerance must be at least 0, got {tolerance}")
    if not isinstance(other, tuple) or len(other) != 2:
        raise TypeError(f"other must be two ids, one of the source and one of the target, got {other!r}")
    x, y = (torch.from_numpy(as_ids(name, ids)) for name, ids in (("source", source), ("inputs", inputs)))
    sizes = model.config.source_size, model.config.target_size
    for name, ids, new, size in zip(("source", "inputs"), (x, y), other, sizes, strict=True):
        if ids.ndim != 1:
            raise ValueError(f"{name} must be the ids of one sentence, got shape {tuple(ids.shape)}")
        if checked_integer("other", new, 0) >= size:
            raise ValueError(f"other: the id put into {name} must lie in [0, {size}), got {new}")
        if new in ids.tolist():
            raise ValueError(f"other: {new} occurs in {name}, so one position would not change")

    def logits(a: Tensor, b: Tensor) -> Tensor:
        out: Tensor = model(a[None], torch.ones_like(a[None], dtype=torch.bool), b[None])[0]
        return out.masked_fill(out.isneginf(), 0.0)  # what is barred does not move

    def memory(a: Tensor) -> Tensor:
        states: Tensor = model.encoder(a[None], torch.ones_like(a[None], dtype=torch.bool)).states[0]
        return states

    return Scopes(
        memory=_moved(memory, x, other[0], tolerance),
        target=_moved(lambda ids: logits(x, ids), y, other[1], tolerance),
        cross=_moved(lambda ids: logits(ids, y), x, other[0], tolerance),
    )


def _moved(rows: Callable[[Tensor], Tensor], ids: Tensor, new: int, tolerance: float) -> NDArray[np.bool_]:
    """Return at [i, j] whether `new` in the place of id j moves row i."""
    base = rows(ids)
    columns = []
    for j in range(len(ids)):
        changed = ids.clone()
        changed[j] = new
        moved = (rows(changed) - base).abs().amax(dim=1)
        if bool(moved.isnan().any()):
            raise ValueError(f"model computes NaN with {new} in place of token {j}")
        columns.append(moved > tolerance)
    return torch.stack(columns, dim=1).numpy()
