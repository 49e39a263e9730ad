"""A translator under other masks: equal under its own rules, and reading exactly what the other rule lets it read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.influence import influence
from onesentence.transformer.remasked import Retold, remasked
from onesentence.transformer.translator import TransformerTranslator

SOURCE = torch.tensor([[2, 4, 3, 1]])
ALL = torch.ones_like(SOURCE, dtype=torch.bool)
TARGET = torch.tensor([[0, 3, 1, 4]])


@pytest.fixture
def model(hostile: Any) -> TransformerTranslator:
    config = TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12)
    out: TransformerTranslator = hostile(TransformerTranslator(config)).eval()
    return out


FULL, LOWER = np.ones((4, 4), dtype=bool), np.tri(4, dtype=bool)


@pytest.mark.parametrize(
    ("rules", "source", "target"),
    [
        ({}, FULL, LOWER),
        ({"own": False}, FULL, FULL),
        ({"cross": True}, FULL, LOWER),  # the encoder has mixed the units before
        ({"encoder": True}, FULL, LOWER),  # the last unit is still read by every target position
        ({"encoder": True, "cross": True}, LOWER, LOWER),
    ],
)
def test_remasked_reads_what_its_rules_allow(
    model: TransformerTranslator, rules: dict[str, bool], source: Any, target: Any
) -> None:
    changed = remasked(model, **rules)
    for of, expected in (("source", source), ("target", target)):
        moved = influence(changed, SOURCE[0], TARGET[0], of=of)
        assert ((moved > 1e-9) == expected).all()


@torch.no_grad()
def test_remasked_with_the_rules_it_had_changes_nothing(model: TransformerTranslator) -> None:
    real = torch.tensor([[True, True, True, False]])
    same = remasked(model, encoder=False, own=True, cross=False)
    for mask in (ALL, real):
        torch.testing.assert_close(
            same(SOURCE, mask, TARGET), model(SOURCE, mask, TARGET), rtol=0, atol=1e-12
        )


@torch.no_grad()
@pytest.mark.parametrize("rules", [{"encoder": True}, {"cross": True}, {"encoder": True, "cross": True}])
def test_remasked_still_reads_no_padding(model: TransformerTranslator, rules: dict[str, bool]) -> None:
    real, changed = torch.tensor([[True, True, False, False]]), remasked(model, **rules)
    alone = changed(SOURCE[:, :2], real[:, :2], TARGET)
    torch.testing.assert_close(changed(SOURCE, real, TARGET), alone, rtol=0, atol=1e-12)


@torch.no_grad()
@pytest.mark.parametrize("own", [True, False])
def test_remasked_refuses_a_target_in_pieces(model: TransformerTranslator, own: bool) -> None:
    changed = remasked(model, own=own)
    _, state = changed.step([0], changed.start(SOURCE))
    with pytest.raises(
        ValueError, match="inputs must be given all at once under another rule, got 1 after 1"
    ):
        changed.step([3], state)
    crossed = remasked(model, cross=True)  # its triangle is over the source
    assert crossed(SOURCE[:, :1], ALL[:, :1], TARGET).isfinite().all()


def test_remasked_leaves_the_model_as_it_was(model: TransformerTranslator) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    changed = remasked(model, own=False)
    assert list(changed.state_dict()) == list(before)
    with torch.no_grad():
        for parameter in changed.parameters():
            parameter.zero_()
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
    assert not any(isinstance(module, Retold) for module in model.modules())


def test_remasked_refuses(model: TransformerTranslator) -> None:
    with pytest.raises(TypeError, match="own must be True, False or None, got 1"):
        remasked(model, own=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="model must be a TransformerTranslator, got Linear"):
        remasked(torch.nn.Linear(1, 1), own=True)  # type: ignore[arg-type]
    blind = TransformerTranslator(TransformerConfig(5, 6, d_model=8, n_head=2, d_ff=12, cross=False))
    with pytest.raises(ValueError, match="cross: this decoder has no cross-attention to change, got True"):
        remasked(blind, cross=True)
