"""The block in NumPy with every intermediate value, beside the one that trains and PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.masks import causal
from onesentence.attention.multi_head import MultiHead
from onesentence.transformer.block import EncoderBlock
from onesentence.transformer.config import TransformerConfig
from onesentence.transformer.teaching import TeachingBlock

C, H, F, D = 8, 2, 12, 4


def twins(hostile: Any, copied: Any) -> tuple[TeachingBlock, EncoderBlock, torch.nn.TransformerEncoderLayer]:
    mine = hostile(EncoderBlock(TransformerConfig(5, 5, d_model=C, n_head=H, d_ff=F)))
    with torch.no_grad():
        mine.attention.project.bias.zero_()  # the heads of the formula have none
    p = {name: value.detach().numpy() for name, value in mine.named_parameters()}
    heads = MultiHead(
        *p["attention.project.weight"].reshape(3, H, D, C).transpose(0, 1, 3, 2),
        p["attention.merge.weight"].T,
    )
    block = TeachingBlock(
        heads,
        p["ffn.widen.weight"].T,
        p["ffn.narrow.weight"].T,
        p["ffn.widen.bias"],
        p["ffn.narrow.bias"],
        np.stack([p["around.0.norm.weight"], p["around.1.norm.weight"]]),
        np.stack([p["around.0.norm.bias"], p["around.1.norm.bias"]]),
        p["attention.merge.bias"],
    )
    theirs = copied("encoder", mine, torch.nn.TransformerEncoderLayer(C, H, F, 0.0, batch_first=True))
    return block, mine, theirs


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual, np.asarray(expected), rtol=0, atol=atol)


@pytest.mark.parametrize("masked", [False, True])
def test_teaching_block_equals_both_torch_modules(
    hostile: Any, copied: Any, normal: Any, masked: bool
) -> None:
    block, mine, theirs = twins(hostile, copied)
    x, may = normal(2, 5, C), causal(5) if masked else None
    trace = block(x.numpy(), mask=may)
    with torch.no_grad():
        close(trace.z, mine(x, None if may is None else torch.from_numpy(may)))
        close(trace.z, theirs(x, src_mask=None if may is None else torch.from_numpy(~may)))


def test_teaching_block_intermediate_values_are_those_of_the_module(
    hostile: Any, copied: Any, normal: Any
) -> None:
    block, mine, _ = twins(hostile, copied)
    x, shown = normal(2, 5, C), {}
    parts = {
        "A": mine.attention,
        "u": mine.around[0].norm,
        "hidden": mine.ffn.widen,
        "ffn": mine.ffn,
        "z": mine.around[1].norm,
    }
    for name, part in parts.items():
        part.register_forward_hook(lambda *a, name=name: shown.update({name: a[2].detach().numpy()}))
    mine(x)
    trace = block(x.numpy())
    close(trace.attention.output + block.b_o, shown["A"])
    close(trace.residual, x.numpy() + shown["A"])
    close(trace.u, shown["u"])
    close(trace.hidden, np.maximum(shown["hidden"], 0))
    close(trace.ffn, shown["ffn"])
    close(trace.residual_2, shown["u"] + shown["ffn"])
    close(trace.z, shown["z"])


def test_teaching_block_without_biases_has_zeros_and_ones() -> None:
    w = np.ones((2, 4, 2))
    block = TeachingBlock(MultiHead(w, w, w, np.ones((4, 4))), np.ones((4, 3)), np.ones((3, 4)))
    assert not any(part.any() for part in (block.b_1, block.b_2, block.b_o, block.beta))
    assert (block.gamma == 1).all()
    assert block.eps == 1e-5


W = np.ones((2, 4, 2))
GOOD = {"heads": MultiHead(W, W, W, np.ones((4, 4))), "w_1": np.ones((4, 3)), "w_2": np.ones((3, 4))}
BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"w_1": np.ones((3, 4))}, ValueError, r"w_1 must have shape \(4, F\), got \(3, 4\)"),
    ({"w_1": np.ones((4, 0))}, ValueError, r"w_1 must have shape \(4, F\), got \(4, 0\)"),
    ({"w_2": np.ones((4, 3))}, ValueError, r"w_2 must have shape \(3, 4\), got \(4, 3\)"),
    ({"b_1": np.ones(4)}, ValueError, r"b_1 must have shape \(3,\), got \(4,\)"),
    ({"gamma": np.ones(4)}, ValueError, r"gamma must have shape \(2, 4\), got \(4,\)"),
    ({"b_o": np.full(4, np.nan)}, ValueError, "b_o must be finite"),
    ({"beta": [["a"]]}, TypeError, "beta must hold real numbers"),
    ({"eps": 0.0}, ValueError, r"eps must be positive, got 0\.0"),
    ({"eps": None}, TypeError, "eps must be a number, got None"),
]


@pytest.mark.parametrize(("change", "kind", "message"), BAD)
def test_teaching_block_refuses(change: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        TeachingBlock(**GOOD | change)


def test_teaching_block_refuses_inputs() -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(\.\.\., T, 4\), got \(2, 3\)"):
        TeachingBlock(**GOOD)(np.ones((2, 3)))


def test_named_holds_the_whole_pass_in_order() -> None:
    block = TeachingBlock(**GOOD)
    x = np.random.default_rng(0).normal(size=(3, block.heads.w_o.shape[1]))
    trace = block(x)
    named = trace.named()
    assert list(named)[0::14] == ["X", "Z"]
    close(named["X"], x)
    close(named["X"] + named["joined W_O"], named["R"])
    close(named["U"] + named["F"], named["U + F"])
    close(named["Z"], trace.z)
