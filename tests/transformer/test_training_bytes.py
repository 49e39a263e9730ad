"""Memory of training: parameters of models that are there, what PyTorch is seen to keep of a block, and refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from onesentence.cache.base import Seen
from onesentence.kernels.costs.traffic import Widths
from onesentence.transformer.causal_config import CausalConfig
from onesentence.transformer.causal_lm import CausalBlock, CausalLM
from onesentence.transformer.stage_costs import DecoderSizes
from onesentence.transformer.training_bytes import block_kept_bytes, parameter_count, state_bytes

CONFIG = CausalConfig(11, d_model=24, n_head=6, n_kv_head=2, d_ff=20, layers=3)


@pytest.mark.parametrize(
    "changed", [{}, {"tied": False}, {"order": "post"}, {"n_kv_head": None, "layers": 1}]
)
def test_parameter_count_is_the_models(changed: dict[str, object]) -> None:
    config = replace(CONFIG, **changed)
    model = CausalLM.initial(config, seed=0)
    assert parameter_count(config) == sum(one.numel() for one in model.parameters())


def test_state_is_sixteen_bytes_for_each_weight_of_two_and_of_four() -> None:
    assert sum(state_bytes(10, s=2).values()) == sum(state_bytes(10, s=4).values()) == 160
    assert state_bytes(10, s=8) == {"weights": 80, "gradients": 80, "means": 160, "wide copy": 0}


def naive(q: Tensor, seen: Seen) -> Tensor:
    """Read without a mask, the table kept once."""
    return (q @ seen.k.mT * q.shape[-1] ** -0.5).softmax(dim=-1) @ seen.v


@pytest.mark.parametrize("B", [1, 2])
@pytest.mark.parametrize("order", ["pre", "post"])
def test_block_keeps_what_pytorch_saves(order: str, B: int) -> None:
    config = replace(CONFIG, n_kv_head=6, order=order)
    block = CausalBlock(config).eval()
    own = {one.untyped_storage().data_ptr() for one in block.parameters()}
    saved: dict[int, Tensor] = {}

    def keep(one: Tensor) -> Tensor:
        if one.untyped_storage().data_ptr() not in own:
            saved[one.untyped_storage().data_ptr()] = one.detach()
        return one

    with saved_tensors_hooks(keep, lambda one: one):
        out = block(torch.ones(B, 5, 24, requires_grad=True), None, Seen, naive)
    assert out.shape == (B, 5, 24)
    found = sum(one.untyped_storage().nbytes() for one in saved.values())
    kept = block_kept_bytes(DecoderSizes.of(config), n=5, B=B, widths=Widths(4, 4), way="naive")
    assert found == sum(kept.values())


def test_block_kept_bytes_by_hand() -> None:
    sizes = DecoderSizes(d=6, f=5, H=3, G=1, L=4, V=7)
    common = {"around sublayers": 4 * 8 * 6 * 2, "norm statistics": 8 * 4 * 4, "ffn": 8 * 5 * 2}
    queries, keys = 8 * 6 * 2, 8 * 2 * 2
    attention = {"Q": queries, "K": keys, "V": keys, "O": queries}
    for way, rest in (("naive", {"P": 2 * 3 * 4 * 4 * 2}), ("recomputed", {"L": 2 * 3 * 4 * 4})):
        assert block_kept_bytes(sizes, n=4, B=2, widths=Widths(2, 4), way=way) == common | attention | rest


def test_training_bytes_refuse() -> None:
    sizes = DecoderSizes.of(CONFIG)
    with pytest.raises(ValueError, match="B must be at least 1, got 0"):
        block_kept_bytes(sizes, n=4, B=0, widths=Widths(), way="naive")
    with pytest.raises(ValueError, match="way: expected one of naive, recomputed, got 'flash'"):
        block_kept_bytes(sizes, n=4, B=1, widths=Widths(), way="flash")
    with pytest.raises(ValueError, match="sizes must have an FFN of 2 matrices, got 3"):
        block_kept_bytes(replace(sizes, ffn_matrices=3), n=4, B=1, widths=Widths(), way="naive")
    with pytest.raises(ValueError, match="parameters must be at least 1, got 0"):
        state_bytes(0, s=2)
    with pytest.raises(TypeError, match=r"s must be an integer, got 0\.5"):
        state_bytes(1, s=0.5)
