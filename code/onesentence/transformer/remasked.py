"""A translator with one rule of its masks changed and every parameter kept, to see what that rule prevents.

The translator as built has three attentions and two rules. The encoder's and the cross-attention read every real source
unit; the decoder's own reads no later target position. `remasked` copies it and lays a triangle over an attention that
has none, or takes away the one that is there. Only for a whole target at once: while generating there is no later
position to hide, and kept keys were made under another rule. Sections 4.6 and 4.13 of the course.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from onesentence.transformer.attention_layer import KeysValues, MultiHeadAttention
from onesentence.transformer.translator import TransformerTranslator


class Retold(MultiHeadAttention):
    """An attention that is told otherwise about later positions than whoever calls it says.

    Args:
        layer: whose parameters to take; they are shared, not copied.
        triangle: whether query i reads keys 0 to i only; the caller's `causal` is not looked at, its mask still holds.
        square: whether there must be as many keys as queries, as in self-attention over a whole target.
    """

    def __init__(self, layer: MultiHeadAttention, *, triangle: bool, square: bool = False) -> None:
        super().__init__(layer.C, layer.H)
        self.project, self.merge = layer.project, layer.merge
        self.triangle, self.square = triangle, square

    def attend(
        self, q: Tensor, kv: KeysValues, *, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """As `MultiHeadAttention.attend`, under the other rule.

        Raises:
            ValueError: also if there are kept keys besides those of this call where none may be.
        """
        T, S = q.shape[2], kv[0].shape[2]
        if self.square and T != S:
            raise ValueError(f"inputs must be given all at once under another rule, got {T} after {S - T}")
        if self.triangle:
            below = torch.ones(T, S, dtype=torch.bool, device=q.device).tril()
            mask = below if mask is None else mask & below
        return super().attend(q, kv, mask=mask)


def remasked(
    model: TransformerTranslator,
    *,
    encoder: bool | None = None,
    own: bool | None = None,
    cross: bool | None = None,
) -> TransformerTranslator:
    """Return a copy in which some attentions have a triangle, or have none.

    Args:
        model: left as it is.
        encoder: of the encoder's blocks; True lays a triangle over them, None leaves them as they are.
        own: of the decoder's self-attention; False takes its triangle away.
        cross: of the decoder's cross-attention; True lays a triangle over it.

    Returns:
        A translator with equal parameters; call it with all target inputs at once.

    Raises:
        TypeError: if a rule is neither boolean nor None, or `model` no such translator.
        ValueError: if `cross` is given and the decoder does not read the source.

    Example:
        >>> from onesentence.transformer.config import TransformerConfig
        >>> model = TransformerTranslator.initial(TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=16), seed=0)
        >>> source = torch.tensor([[1, 2, 3]])
        >>> inputs, changed = torch.tensor([[0, 4, 5]]), torch.tensor([[0, 4, 2]])
        >>> for rule in (True, False):
        ...     one = remasked(model, own=rule)
        ...     a, b = (one(source, source > 0, x)[0, 0] for x in (inputs, changed))
        ...     torch.equal(a, b)
        True
        False
    """
    if not isinstance(model, TransformerTranslator):
        raise TypeError(f"model must be a TransformerTranslator, got {type(model).__name__}")
    for name, rule in (("encoder", encoder), ("own", own), ("cross", cross)):
        if rule is not None and not isinstance(rule, bool):
            raise TypeError(f"{name} must be True, False or None, got {rule!r}")
    if cross is not None and not model.config.cross:
        raise ValueError(f"cross: this decoder has no cross-attention to change, got {cross}")
    out = copy.deepcopy(model)
    named = [(block, "attention", encoder) for block in out.encoder.blocks]
    for block in out.decoder.blocks:
        named += [(block, "attention", own), (block, "cross", cross)]
    for block, name, rule in named:
        if rule is not None:
            setattr(block, name, Retold(getattr(block, name), triangle=rule, square=name == "attention"))
    return out
