"""Who depends on whom, with the masks as they are and with one of them broken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.scopes import scopes
from onesentence.transformer.translator import TransformerTranslator

SOURCE, INPUTS, OTHER = [2, 4, 3, 1], [0, 3, 1], (0, 5)


def drawn(hostile: Any, **settings: Any) -> TransformerTranslator:
    config = TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12, **settings)
    out: TransformerTranslator = hostile(TransformerTranslator(config)).eval()
    return out


@pytest.mark.parametrize("order", ["post", "pre"])
def test_scopes_of_the_translator(hostile: Any, order: str) -> None:
    seen = scopes(drawn(hostile, order=order, barred=(0,)), SOURCE, INPUTS, other=OTHER)
    assert seen.memory.shape == (4, 4)
    assert seen.memory.all()
    np.testing.assert_array_equal(seen.target, np.tri(3, dtype=bool))
    assert seen.cross.shape == (3, 4)
    assert seen.cross.all()


def test_scopes_without_cross_no_source_reaches_the_logits(hostile: Any) -> None:
    seen = scopes(drawn(hostile, cross=False), SOURCE, INPUTS, other=OTHER)
    assert seen.memory.all()
    assert not seen.cross.any()
    np.testing.assert_array_equal(seen.target, np.tri(3, dtype=bool))


def test_scopes_show_a_missing_causal_mask(hostile: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = drawn(hostile)
    for block in model.decoder.blocks:
        attend = block.attention.attend
        monkeypatch.setattr(
            block.attention, "attend", lambda q, kv, mask=None, causal=False, f=attend: f(q, kv, mask=mask)
        )
    assert scopes(model, SOURCE, INPUTS, other=OTHER).target.all()


def test_scopes_show_a_source_unit_that_is_not_read(hostile: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = drawn(hostile)
    forward = model.encoder.forward

    def blind(ids: torch.Tensor, mask: torch.Tensor) -> Any:
        return forward(ids, mask & (torch.arange(ids.shape[1]) != 2))

    monkeypatch.setattr(model.encoder, "forward", blind)
    seen = scopes(model, SOURCE, INPUTS, other=OTHER)
    assert seen.cross.all(axis=0).tolist() == [True, True, False, True]
    assert not seen.cross[:, 2].any()


def test_scopes_refuses(hostile: Any) -> None:
    model = drawn(hostile)
    with pytest.raises(ValueError, match="other: 3 occurs in source, so one position would not change"):
        scopes(model, SOURCE, INPUTS, other=(3, 5))
    with pytest.raises(ValueError, match="other: 1 occurs in inputs"):
        scopes(model, SOURCE, INPUTS, other=(0, 1))
    with pytest.raises(ValueError, match=r"source must be the ids of one sentence, got shape \(1, 4\)"):
        scopes(model, [SOURCE], INPUTS, other=OTHER)
    with pytest.raises(ValueError, match=r"model must not be training, call \.eval\(\) first"):
        scopes(drawn(hostile).train(), SOURCE, INPUTS, other=OTHER)
    with pytest.raises(TypeError, match=r"model must be in float64, call \.double\(\) first"):
        scopes(drawn(hostile).float(), SOURCE, INPUTS, other=OTHER)
    for pair, error, message in (
        ((5, 5), ValueError, r"other: the id put into source must lie in \[0, 5\), got 5"),
        ((0, 6), ValueError, r"other: the id put into inputs must lie in \[0, 6\), got 6"),
        ((0,), TypeError, "other must be two ids"),
        (3, TypeError, "other must be two ids"),
    ):
        with pytest.raises(error, match=message):
            scopes(model, SOURCE, INPUTS, other=pair)  # type: ignore[arg-type]
    for tolerance in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="tolerance must be"):
            scopes(model, SOURCE, INPUTS, other=OTHER, tolerance=tolerance)
    broken = drawn(hostile)
    with torch.no_grad():
        broken.encoder.embedding.tokens.weight[0] = torch.nan
    with pytest.raises(ValueError, match="model computes NaN with 0 in place of token 0"):
        scopes(broken, SOURCE, INPUTS, other=OTHER)
    with pytest.raises(TypeError, match="source"):
        scopes(model, [0.5], INPUTS, other=OTHER)
