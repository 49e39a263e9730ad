"""Adam beside PyTorch's class: the same bits, with clipping and without."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from onesentence.seq2seq.adam import Adam


def model_of(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


@pytest.mark.parametrize("clip", [1e6, 0.05, 1.0])
def test_step_has_the_bits_of_the_class(clip):
    mine, theirs = model_of(0), model_of(0)
    optimiser, known = (
        Adam(mine.parameters(), 0.02),
        torch.optim.Adam(theirs.parameters(), lr=0.02, fused=True),
    )
    norms = []
    for seed in range(60):
        x = torch.randn(8, 5, generator=torch.Generator().manual_seed(seed))
        mine(x).square().mean().backward()
        optimiser.step(clip)
        known.zero_grad()
        theirs(x).square().mean().backward()
        norms.append(float(nn.utils.clip_grad_norm_(theirs.parameters(), clip)))
        known.step()
    for one, other in zip(mine.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, other)
        assert one.grad is None
    assert max(norms) < 1e6
    assert clip != 0.05 or min(norms) < clip < max(norms)  # both sides of the bound are met


def test_step_leaves_a_parameter_without_a_gradient():
    idle, used = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(4))
    optimiser = Adam([idle, used], 0.1)
    used.sum().backward()
    optimiser.step(0.5)
    assert torch.equal(idle, torch.ones(2, 3))
    torch.testing.assert_close(used.detach(), torch.full((4,), 0.9), rtol=0, atol=1e-5)


def test_step_imports_no_compiler():
    code = (
        "import sys, torch; from onesentence.seq2seq.adam import Adam\n"
        "w = torch.nn.Parameter(torch.ones(2)); w.sum().backward(); Adam([w], 0.1).step(1.0)\n"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
