"""RoPE: the worked numbers, the law of distances, the other order of pairs, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention.positions import frequencies
from onesentence.attention.rotary import halves_order, rotated

RNG = np.random.default_rng(3)
Q, K = RNG.normal(size=(2, 6))


def test_rotated_equals_a_turn_worked_by_hand() -> None:
    # base 4 gives the second pair of D = 4 the frequency 1/2, so position 2 turns it by one radian
    out = rotated([0.0, 0.0, 3.0, 0.0], 2, base=4.0)
    np.testing.assert_allclose(out, [0, 0, 3 * np.cos(1), 3 * np.sin(1)], atol=1e-12)


def test_rotated_equals_matrices_of_complex_numbers() -> None:
    x, places = RNG.normal(size=(2, 5, 6)), np.array([[0, 1, 2, 7, 100], [5, 4, 3, 2, -1]])
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * places[..., None] * frequencies(6))
    out = rotated(x, places)
    np.testing.assert_allclose(out[..., 0::2], turned.real, atol=1e-12)
    np.testing.assert_allclose(out[..., 1::2], turned.imag, atol=1e-12)


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-1000, 1000))
def test_rotated_scores_depend_on_the_distance(m: int, n: int, shift: int) -> None:
    score = rotated(Q, m) @ rotated(K, n)
    np.testing.assert_allclose(rotated(Q, m + shift) @ rotated(K, n + shift), score, atol=1e-10)
    np.testing.assert_allclose(Q @ rotated(K, n - m), score, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(rotated(Q, m)), np.linalg.norm(Q), rtol=1e-12)


def test_rotated_scores_do_change_with_the_distance() -> None:
    assert len({round(float(Q @ rotated(K, n)), 9) for n in range(50)}) == 50


def test_halves_order_is_the_rotation_of_programs_that_pair_halves() -> None:
    def by_halves(x: Any, position: int) -> Any:
        angles = np.tile(position * frequencies(6), 2)
        half = np.concatenate([-x[3:], x[:3]])
        return x * np.cos(angles) + half * np.sin(angles)

    order = halves_order(6)
    np.testing.assert_allclose(by_halves(Q[order], 7), rotated(Q, 7)[order], atol=1e-12)
    np.testing.assert_allclose(
        by_halves(Q[order], 7) @ by_halves(K[order], 3), rotated(Q, 7) @ rotated(K, 3), atol=1e-12
    )


BAD: list[tuple[Any, Any, type[Exception], str]] = [
    (np.zeros(3), 0, ValueError, "D must be even, as components turn in pairs, got 3"),
    (np.zeros((2, 0)), 0, ValueError, "D must be at least 2, got 0"),
    (1.0, 0, ValueError, r"x must have shape \(\.\.\., D\), got a single number"),
    (np.zeros(2), 0.5, TypeError, "positions must hold integers, got dtype float64"),
    (np.zeros((3, 2)), [1, 2], ValueError, r"positions must broadcast to \(3,\), got \(2,\)"),
]


@pytest.mark.parametrize(("x", "positions", "kind", "message"), BAD)
def test_rotated_refuses(x: Any, positions: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        rotated(x, positions)


def test_rotated_refuses_a_base_of_one() -> None:
    with pytest.raises(ValueError, match=r"base must be larger than 1, got 1\.0"):
        rotated(np.zeros(2), 0, base=1)
