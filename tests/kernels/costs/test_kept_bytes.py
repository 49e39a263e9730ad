"""What attention keeps for its gradients, against what PyTorch is seen to keep."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from onesentence.kernels.costs.kept_bytes import kept_bytes
from onesentence.kernels.costs.traffic import Widths
from onesentence.kernels.sizes import Sizes

SIZES = Sizes(B=2, H=4, G=4, T=5, S=7, D=3)


def test_naive_keeps_what_pytorch_saves() -> None:
    q = torch.zeros(2, 4, 5, 3, requires_grad=True)
    k, v = (torch.zeros(2, 4, 7, 3, requires_grad=True) for _ in range(2))
    saved: dict[int, int] = {}

    def keep(one: Tensor) -> Tensor:
        saved[one.untyped_storage().data_ptr()] = one.untyped_storage().nbytes()
        return one

    with saved_tensors_hooks(keep, lambda one: one):
        output = (q @ k.mT).softmax(dim=-1) @ v
    assert output.shape == q.shape
    assert sum(saved.values()) == sum(kept_bytes(SIZES, Widths(4, 4), way="naive").values())


def test_kept_by_hand() -> None:
    sizes = Sizes(B=1, H=4, G=2, T=2, S=3, D=5)
    assert kept_bytes(sizes, Widths(2, 4), way="naive") == {"Q": 80, "K": 60, "V": 60, "P": 48}
    assert kept_bytes(sizes, Widths(2, 4), way="recomputed") == {"Q": 80, "K": 60, "V": 60, "O": 80, "L": 32}


def test_recomputed_grows_with_the_length_and_naive_with_its_square() -> None:
    short, long = (Sizes(1, 8, 8, n, n, 64) for n in (1024, 2048))
    assert kept_bytes(long, Widths(), way="naive")["P"] == 4 * kept_bytes(short, Widths(), way="naive")["P"]
    totals = [sum(kept_bytes(sizes, Widths(), way="recomputed").values()) for sizes in (short, long)]
    assert totals[1] == 2 * totals[0]


def test_kept_bytes_refuses() -> None:
    with pytest.raises(ValueError, match="way: expected one of naive, recomputed, got 'kept'"):
        kept_bytes(SIZES, Widths(), way="kept")
    with pytest.raises(ValueError, match="H must be a multiple of G = 3, got 4"):
        kept_bytes(Sizes(1, 4, 3, 1, 1, 1), Widths(), way="naive")
