"""Turned tensors equal the formula, at any position and in any dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onesentence.attention.rotary import rotated
from onesentence.transformer import rotary as module
from onesentence.transformer.rotary import LONGEST_TABLE, Rotary


def test_turns_equal_the_formula_for_rows_of_their_own(normal: Any) -> None:
    x, places = normal(2, 3, 4, 6), torch.tensor([[0, 1, 2, 900], [5, 5, 0, 3]])
    rotary = Rotary(6, base=500.0)
    expected = rotated(x.numpy(), places.numpy()[:, None], base=500.0)
    np.testing.assert_allclose(rotary(places, x)(x), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rotary(places[0], x)(x[:1]), expected[:1], rtol=0, atol=1e-12)
    assert not np.allclose(rotary(places[0], x)(x), expected)


def test_turns_far_away_are_as_exact_as_the_dtype(normal: Any) -> None:
    x, places = normal(1, 1, 1, 8), torch.tensor([100_003])
    expected = rotated(x.numpy(), places.numpy())
    rotary = Rotary(8)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):  # one table, asked for in turn
        turned = rotary(places, x.to(dtype))(x.to(dtype))
        assert turned.dtype == dtype
        np.testing.assert_allclose(turned.double(), expected, rtol=0, atol=10 * torch.finfo(dtype).eps)


def test_rotary_believes_whoever_knows_the_last_position(normal: Any) -> None:
    x, places, rotary = normal(2, 1, 1, 4), torch.tensor([[3], [9]]), Rotary(4)
    for last in (9, 12):  # the table grows as if it had looked
        np.testing.assert_allclose(
            rotary(places, x, last=last)(x), rotated(x.numpy(), places[:, None].numpy()), atol=1e-12
        )
    assert len(rotary.table) == 20


@pytest.mark.parametrize("shape", [(3,), (1, 3)])
def test_turns_past_the_table_equal_the_formula_and_enlarge_nothing(
    normal: Any, shape: tuple[int, ...]
) -> None:
    x, places = normal(1, 2, 3, 8), torch.tensor([LONGEST_TABLE - 1, LONGEST_TABLE, 10**9 + 1]).reshape(shape)
    rotary = Rotary(8)
    np.testing.assert_allclose(rotary(places, x)(x), rotated(x.numpy(), places.numpy()), rtol=0, atol=1e-12)
    turned = rotary(places, x.float())(x.float())
    np.testing.assert_allclose(turned, rotated(x.numpy(), places.numpy()), rtol=0, atol=1e-5)
    assert len(rotary.table) == 1


def test_turns_near_the_end_of_the_table(normal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_TABLE", 6)
    x, rotary = normal(1, 1, 1, 4), Rotary(4)
    for last in (5, 6):
        places = torch.tensor([last], dtype=torch.uint8)
        np.testing.assert_allclose(rotary(places, x)(x), rotated(x.numpy(), places.numpy()), atol=1e-12)
        assert len(rotary.table) == 6


def test_turns_take_heads_that_are_no_block_of_memory(normal: Any) -> None:
    x = normal(2, 4, 3, 6).transpose(1, 2)
    places = torch.arange(4)
    np.testing.assert_allclose(Rotary(6)(places, x)(x), rotated(x.numpy(), places.numpy()), atol=1e-12)


BAD: list[tuple[Any, type[Exception], str]] = [
    (torch.zeros(2), TypeError, r"positions must hold integers, got torch\.float32"),
    (torch.tensor([True]), TypeError, r"positions must hold integers, got torch\.bool"),
    (torch.zeros(1, 1, 1, dtype=torch.int64), ValueError, r"positions must have shape .* got \(1, 1, 1\)"),
    (torch.zeros(1, 0, dtype=torch.int64), ValueError, r"positions must have shape .* got \(1, 0\)"),
    (torch.tensor([-1]), ValueError, "positions must be at least 0, got -1"),
]


@pytest.mark.parametrize(("positions", "kind", "message"), BAD)
def test_rotary_refuses(positions: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Rotary(4)(positions, torch.zeros(()))


def test_rotary_refuses_an_odd_head() -> None:
    with pytest.raises(ValueError, match="D must be even, as components turn in pairs, got 5"):
        Rotary(5)
