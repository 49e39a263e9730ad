"""The cache of a source: what it holds and how large it is, rows of beams, and whom it refuses."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from onesentence.cache.source import SourceCache

REAL = torch.tensor([[True, True, True], [False, True, False]])


def drawn(layers: int = 2, real: Tensor = REAL, owner: str | None = "mine", **how: Any) -> SourceCache:
    generator = torch.Generator().manual_seed(0)
    shape = (len(real), 2, real.shape[1], 4)
    k, v = torch.randn((2, layers, *shape), generator=generator, **how)
    return SourceCache(tuple(zip(k, v, strict=True)), real, owner)


def test_source_cache_gives_each_layer_its_own_keys_and_values() -> None:
    k = [torch.full((1, 1, 2, 3), float(i)) for i in range(4)]
    source = SourceCache(((k[0], k[1]), (k[2], k[3])), torch.ones(1, 2, dtype=torch.bool))
    assert [part.unique().tolist() for i in (0, 1) for part in source.layer(i)] == [[0], [1], [2], [3]]
    assert source.rows == 1


def test_may_read_is_a_mask_of_scores_or_none_without_padding() -> None:
    mask = drawn().may_read
    assert mask is not None
    assert mask.shape == (2, 1, 1, 3)
    assert torch.equal(mask[:, 0, 0], REAL)
    assert drawn(real=torch.ones(2, 3, dtype=torch.bool)).may_read is None


@pytest.mark.parametrize(("dtype", "size"), [(torch.float32, 4), (torch.float16, 2), (torch.float64, 8)])
def test_nbytes_counts_keys_and_values_by_hand(dtype: torch.dtype, size: int) -> None:
    assert drawn(layers=3, dtype=dtype).nbytes == 2 * 3 * 2 * 2 * 3 * 4 * size
    assert drawn(layers=0).nbytes == 0


def test_select_gives_rows_in_order_as_often_as_asked_and_leaves_the_cache() -> None:
    source = drawn()
    kept = [part.clone() for pair in source.layers for part in pair]
    beams = source.select(torch.tensor([1, 0, 1]))
    assert (beams.rows, beams.owner, beams.nbytes) == (3, "mine", source.nbytes * 3 // 2)
    assert torch.equal(beams.real, REAL[[1, 0, 1]])
    for i in range(2):
        for mine, whole in zip(beams.layer(i), source.layer(i), strict=True):
            assert torch.equal(mine, whole[[1, 0, 1]])
            mine.zero_()
    assert all(map(torch.equal, kept, [part for pair in source.layers for part in pair]))
    alone = source.select(torch.tensor([0], dtype=torch.int32))
    assert alone.may_read is None  # the row without padding
    assert source.select(torch.tensor([], dtype=torch.int64)).rows == 0


def test_check_lets_the_owner_and_its_batch_in() -> None:
    drawn().check("mine", 2)


BAD: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: drawn().check("other", 2),
        ValueError,
        "owner must be 'mine', which computed .*, got 'other'",
    ),
    (lambda: drawn(owner=None).check("mine", 2), ValueError, "owner: the source cache names none, .* 'mine'"),
    (lambda: drawn().check("mine", 3), ValueError, "rows must be 2, as the source cache has, got 3"),
    (
        lambda: drawn().layer(2),
        ValueError,
        "layer must be less than 2, the number of layers, got 2",
    ),
    (lambda: drawn(layers=0).layer(0), ValueError, "layer must be less than 0, the number of layers, got 0"),
    (lambda: drawn().layer(-1), ValueError, "layer must be at least 0, got -1"),
    (lambda: drawn().layer(True), TypeError, "layer must be an integer, got True"),
    (lambda: drawn().select(torch.tensor([0, 2])), ValueError, r"rows must lie in \[0, 2\), got 2"),
    (lambda: drawn().select(torch.tensor([-1])), ValueError, r"rows must lie in \[0, 2\), got -1"),
    (lambda: drawn().select(torch.tensor([True, False])), TypeError, "rows must hold integers .* torch.bool"),
    (lambda: drawn().select(torch.tensor([[0]])), ValueError, r"rows must have shape \(N,\), got \(1, 1\)"),
    (lambda: SourceCache((), REAL.long()), TypeError, "real must be boolean .* got torch.int64"),
    (lambda: SourceCache((), REAL[0]), ValueError, r"real must have shape \(B, S\), got \(3,\)"),
    (
        lambda: SourceCache(drawn().layers, REAL[:, :2]),
        ValueError,
        r"layers\[0\] must hold keys and values of shape \(2, G, 2, D\), got \(2, 2, 3, 4\) and \(2, 2, 3, 4\)",
    ),
    (
        lambda: SourceCache(drawn().layers, REAL[:1]),
        ValueError,
        r"layers\[0\] must hold .* shape \(1, G, 3, D\)",
    ),
    (
        lambda: SourceCache((drawn().layer(0), (drawn().layer(0)[0], torch.zeros(2, 2, 3, 5))), REAL),
        ValueError,
        r"layers\[1\] must hold .* and \(2, 2, 3, 5\)",
    ),
    (
        lambda: SourceCache(((drawn().layer(0)[0], drawn().layer(0)[1].double()),), REAL),
        TypeError,
        r"layers\[0\] must hold keys and values of one dtype, got torch.float32 and torch.float64",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_source_cache_refuses(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
