"""One layer against `nn.MultiheadAttention`, and against itself with key heads written out; readers by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.masks import causal
from onesentence.cache.base import Seen
from onesentence.transformer.grouped_attention import GroupedAttention
from onesentence.transformer.readers import by_sdpa, reader_of
from onesentence.transformer.rotary import Rotary

EXACT = ("sdpa", "reference", "tiled")
"""Readers that take float64."""


def close(actual: Any, expected: Any, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), expected.detach().numpy(), rtol=0, atol=atol)


def test_layer_equals_torch_with_gradients(hostile: Any, normal: Any) -> None:
    mine = hostile(GroupedAttention(8, 2, 2))
    theirs = torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict({"in_proj_weight": mine.project.weight, "out_proj.weight": mine.merge.weight})
    x, y = normal(2, 5, 8).requires_grad_(), normal(2, 5, 8).requires_grad_()
    ours, (other, _) = mine(x), theirs(y, y, y, attn_mask=torch.from_numpy(~causal(5)))
    close(ours, other)
    upstream = normal(2, 5, 8, seed=2)
    ours.backward(upstream)
    other.backward(upstream)
    close(x.grad, y.grad)
    close(mine.project.weight.grad, theirs.in_proj_weight.grad)
    close(mine.merge.weight.grad, theirs.out_proj.weight.grad)


@pytest.mark.parametrize("G", [1, 2])
def test_layer_equals_the_one_with_key_heads_repeated(G: int, hostile: Any, normal: Any) -> None:
    grouped, full = hostile(GroupedAttention(8, 4, G)), GroupedAttention(8, 4, 4).double()
    q, k, v = grouped.project.weight.detach().split([8, 2 * G, 2 * G])
    repeated = [part.view(G, 2, 8).repeat_interleave(4 // G, dim=0).reshape(8, 8) for part in (k, v)]
    full.load_state_dict({"project.weight": torch.cat([q, *repeated]), "merge.weight": grouped.merge.weight})
    x, turns = normal(2, 5, 8), Rotary(2)(torch.arange(5), normal(1))
    close(grouped(x, turns), full(x, turns))
    assert (grouped(x, turns) - grouped(x)).abs().max() > 1e-3


@pytest.mark.parametrize("G", [1, 2, 4])
def test_readers_agree(G: int, normal: Any) -> None:
    q, k, v = normal(2, 4, 3, 8), normal(2, G, 5, 8, seed=2), normal(2, G, 5, 8, seed=3)
    counts = torch.tensor([[True, True, False, True, True], [False, True, True, True, True]])[:, None, None]
    for queries, seen in (
        (q, Seen(k, v)),
        (q, Seen(k, v, causal=True)),
        (q[:, :, :1], Seen(k, v, causal=True)),
        (q, Seen(k, v, counts)),
    ):
        reads = {name: reader_of(name)(queries, seen) for name in EXACT}
        for name, read in reads.items():
            np.testing.assert_allclose(read, reads["reference"], rtol=0, atol=1e-12, err_msg=name)


def test_by_sdpa_stands_queries_at_the_end_of_the_keys(normal: Any) -> None:
    q, k, v = normal(1, 2, 2, 4), normal(1, 2, 5, 4, seed=2), normal(1, 2, 5, 4, seed=3)
    read = by_sdpa(q, Seen(k, v, causal=True))
    close(read[:, :, :1], by_sdpa(q[:, :, :1], Seen(k[:, :, :4], v[:, :, :4])))
    close(read[:, :, 1:], by_sdpa(q[:, :, 1:], Seen(k, v)))


@pytest.mark.parametrize("name", ["reference", "tiled"])
def test_readers_refuse_a_mask_per_query(name: str, normal: Any) -> None:
    x = normal(1, 2, 3, 4)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    with pytest.raises(
        ValueError, match=rf"reader '{name}' needs one mask for all queries, got shape \(3, 3\)"
    ):
        reader_of(name)(x, Seen(x, x, mask))


def test_by_triton_reads_what_the_reference_reads(normal: Any) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"  # there under the interpreter
    q, k, v = (
        normal(2, H, n, 16, seed=seed).float().to(device)
        for seed, (H, n) in enumerate(((2, 3), (1, 5), (1, 5)))
    )
    for queries, seen in (
        (q, Seen(k, v, causal=True)),
        (q, Seen(k, v)),
        (q[:, :, :1], Seen(k, v, causal=True)),
    ):
        read = reader_of("triton")(queries, seen).cpu()
        np.testing.assert_allclose(read, by_sdpa(queries, seen).cpu(), rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match=r"reader 'triton' takes no mask, got one of shape \(2, 1, 1, 5\)"):
        reader_of("triton")(q, Seen(k, v, torch.ones(2, 1, 1, 5, dtype=torch.bool, device=device)))


BAD: list[tuple[tuple[Any, Any, Any], type[Exception], str]] = [
    ((8, 3, 1), ValueError, "C must be a multiple of H = 3, got 8"),
    ((8, 4, 3), ValueError, "H must be a multiple of G = 3, got 4"),
    ((8, 4, 0), ValueError, "G must be at least 1, got 0"),
    ((8.0, 4, 2), TypeError, r"C must be an integer, got 8\.0"),
]


@pytest.mark.parametrize(("sizes", "kind", "message"), BAD)
def test_layer_refuses(sizes: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        GroupedAttention(*sizes)


def test_layer_refuses_another_width() -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(B, T, 8\), got \(1, 2, 4\)"):
        GroupedAttention(8, 2, 2)(torch.zeros(1, 2, 4))
