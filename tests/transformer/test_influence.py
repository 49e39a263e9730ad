"""Dependence of logits on tokens: of a causal translator, and of one that looks ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.influence import influence
from onesentence.transformer.remasked import remasked
from onesentence.transformer.translator import TransformerTranslator

SOURCE, TARGET = torch.tensor([2, 4, 3]), torch.tensor([0, 3, 1, 4])


def drawn(hostile: Any, **settings: Any) -> TransformerTranslator:
    config = TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12, **settings)
    out: TransformerTranslator = hostile(TransformerTranslator(config)).eval()
    return out


@pytest.mark.parametrize("barred", [(), (0,)])
def test_influence_is_causal_and_sees_the_whole_source(hostile: Any, barred: tuple[int, ...]) -> None:
    model = drawn(hostile, barred=barred)
    target = influence(model, SOURCE, TARGET, of="target")
    assert np.isfinite(target).all()
    assert ((target > 1e-9) == np.tri(4, dtype=bool)).all()
    assert target[~np.tri(4, dtype=bool)].max() < 1e-12
    assert (influence(model, SOURCE, TARGET, of="source") > 1e-9).all()


def test_influence_sees_a_mask_that_is_missing_and_a_source_that_is_not_read(hostile: Any) -> None:
    assert (influence(remasked(drawn(hostile), own=False), SOURCE, TARGET, of="target") > 1e-9).all()
    assert not influence(drawn(hostile, cross=False), SOURCE, TARGET, of="source").any()


@torch.no_grad()
def test_influence_is_the_largest_change(hostile: Any) -> None:
    model = drawn(hostile)
    real, changes = torch.ones(1, 3, dtype=torch.bool), []
    before = model(SOURCE[None], real, TARGET[None])[0]
    for symbol in range(6):
        other = TARGET.clone()
        other[1] = symbol
        changes.append((model(SOURCE[None], real, other[None])[0] - before).abs().amax(dim=-1).numpy())
    found = influence(model, SOURCE, TARGET, of="target")
    np.testing.assert_allclose(found[:, 1], np.max(changes, axis=0), rtol=0, atol=1e-10)


def test_influence_refuses(hostile: Any) -> None:
    with pytest.raises(ValueError, match="of: expected source or target, got 'both'"):
        influence(drawn(hostile), SOURCE, TARGET, of="both")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="source must be a tensor of ids, got list"):
        influence(drawn(hostile), [2, 4], TARGET, of="source")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"model must not train with dropout = 0\.5"):
        influence(drawn(hostile, dropout=0.5).train(), SOURCE, TARGET, of="target")
    broken = drawn(hostile)
    with torch.no_grad():
        broken.encoder.embedding.tokens.weight[1] = torch.nan
    with pytest.raises(ValueError, match="a logit is NaN with other symbols in place of token 0 of source"):
        influence(broken, SOURCE, TARGET, of="source")
    with pytest.raises(ValueError, match=r"inputs must be a vector of at least one id, got shape \(1, 4\)"):
        influence(drawn(hostile), SOURCE, TARGET[None], of="target")
