"""The same weights in three blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from onesentence.attention.masks import causal
from onesentence.attention.multi_head import MultiHead
from onesentence.transformer.teaching import TeachingBlock
from onesentence.transformer.twins import encoder_block, torch_layer


def hostile_block() -> TeachingBlock:
    draw = np.random.default_rng(0).normal
    heads = MultiHead(*draw(size=(3, 3, 6, 2)), draw(size=(6, 6)))
    return TeachingBlock(
        heads,
        draw(size=(6, 5)),
        draw(size=(5, 6)),
        b_1=draw(size=5),
        b_2=draw(size=6),
        gamma=draw(size=(2, 6)),
        beta=draw(size=(2, 6)),
        b_o=draw(size=6),
    )


@pytest.mark.parametrize("masked", [False, True])
def test_twins_equal_the_worked_block(masked: bool) -> None:
    block, x = hostile_block(), np.random.default_rng(1).normal(size=(2, 4, 6))
    may = causal(4) if masked else None
    expected = block(x, mask=may).z
    with torch.no_grad():
        ours = encoder_block(block)(torch.from_numpy(x), None if may is None else torch.from_numpy(may))
        theirs = torch_layer(block)(
            torch.from_numpy(x), src_mask=None if may is None else torch.from_numpy(~may)
        )
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(theirs, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("twin", [encoder_block, torch_layer])
def test_twins_are_copies(twin) -> None:
    block = hostile_block()
    before = block.w_1.copy()
    with torch.no_grad():
        for parameter in twin(block).parameters():
            parameter.add_(1)
    np.testing.assert_array_equal(block.w_1, before)


@pytest.mark.parametrize("twin", [encoder_block, torch_layer])
def test_twins_refuse_what_the_modules_cannot_hold(twin) -> None:
    block = hostile_block()
    draw = np.random.default_rng(2).normal
    wide = MultiHead(*draw(size=(3, 3, 6, 4)), draw(size=(12, 6)))
    with pytest.raises(ValueError, match=r"heads of D = Dv = 6 / 3.*got D = 4, Dv = 4"):
        twin(replace(block, heads=wide))
    with pytest.raises(ValueError, match=r"eps = 1e-5.*got 0.001"):
        twin(replace(block, eps=1e-3))
