"""PyTorch's own layers with the weights of ours, for tests that compare outputs and every gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

ENCODER = {
    "attention.project.weight": "self_attn.in_proj_weight",
    "attention.project.bias": "self_attn.in_proj_bias",
    "attention.merge.weight": "self_attn.out_proj.weight",
    "attention.merge.bias": "self_attn.out_proj.bias",
    "ffn.widen.weight": "linear1.weight",
    "ffn.widen.bias": "linear1.bias",
    "ffn.narrow.weight": "linear2.weight",
    "ffn.narrow.bias": "linear2.bias",
    "around.0.norm.weight": "norm1.weight",
    "around.0.norm.bias": "norm1.bias",
    "around.1.norm.weight": "norm2.weight",
    "around.1.norm.bias": "norm2.bias",
}
DECODER = ENCODER | {
    "cross.project.weight": "multihead_attn.in_proj_weight",
    "cross.project.bias": "multihead_attn.in_proj_bias",
    "cross.merge.weight": "multihead_attn.out_proj.weight",
    "cross.merge.bias": "multihead_attn.out_proj.bias",
    "around.2.norm.weight": "norm3.weight",
    "around.2.norm.bias": "norm3.bias",
}
NAMES: Mapping[str, Mapping[str, str]] = {
    "encoder": ENCODER,
    "decoder": DECODER,
    "attention": {
        "project.weight": "in_proj_weight",
        "project.bias": "in_proj_bias",
        "merge.weight": "out_proj.weight",
        "merge.bias": "out_proj.bias",
    },
}


@pytest.fixture(scope="session")
def hostile() -> Callable[..., Any]:
    """Give every parameter a value of its own in float64, so that none can be left out without notice."""

    def draw(module: nn.Module, seed: int = 0) -> nn.Module:
        generator = torch.Generator().manual_seed(seed)
        module.double()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.5)
        return module

    return draw


@pytest.fixture(scope="session")
def copied() -> Callable[..., Any]:
    """Copy all weights of a module of ours into PyTorch's and return that."""

    def copy(kind: str, mine: nn.Module, theirs: nn.Module) -> nn.Module:
        theirs.double()
        ours, names = dict(mine.named_parameters()), NAMES[kind]
        assert set(ours) == set(names)
        theirs.load_state_dict({names[name]: value.detach().clone() for name, value in ours.items()})
        return theirs

    return copy


@pytest.fixture(scope="session")
def same_gradients() -> Callable[..., None]:
    """Compare the gradients of all parameters."""

    def compare(kind: str, mine: nn.Module, theirs: nn.Module, atol: float = 1e-10) -> None:
        other = dict(theirs.named_parameters())
        for name, parameter in mine.named_parameters():
            expected = other[NAMES[kind][name]].grad
            assert parameter.grad is not None, name
            assert expected is not None, name
            close(parameter.grad, expected, atol, name)

    return compare


def close(actual: Tensor, expected: Tensor, atol: float, name: str) -> None:
    np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=0, atol=atol, err_msg=name)


@pytest.fixture(scope="session")
def normal() -> Callable[..., Tensor]:
    """Draw float64 numbers of a shape."""

    def draw(*shape: int, seed: int = 1) -> Tensor:
        return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)

    return draw
