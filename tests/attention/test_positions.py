"""Sines and cosines of positions against complex numbers, values by hand, and the law of rotation."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.attention.positions import frequencies, sinusoidal


def by_complex_numbers(p: int, C: int, base: float) -> list[float]:
    """Return position p as sine and cosine of powers of one complex number."""
    out: list[float] = []
    for pair in range((C + 1) // 2):
        turned = cmath.exp(1j / math.pow(base, 2 * pair / C)) ** p
        out += [turned.imag, turned.real]
    return out[:C]


@given(st.integers(0, 300), st.integers(1, 9), st.sampled_from([10000.0, 50.0, 1.5]))
def test_sinusoidal_equals_complex_powers(p: int, C: int, base: float) -> None:
    np.testing.assert_allclose(
        sinusoidal(p, C, base=base), by_complex_numbers(p, C, base), rtol=0, atol=1e-11
    )


def test_sinusoidal_by_hand() -> None:
    expected = [
        [0, 1, 0, 1],
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)],
    ]
    np.testing.assert_allclose(sinusoidal([0, 1, 2], 4), expected, rtol=0, atol=1e-15)
    assert sinusoidal(1, 1).tolist() == [math.sin(1)]  # an odd width ends in a sine
    third = 10000 ** (-4 / 5)  # the exponent has the width itself, not the next even one
    np.testing.assert_allclose(sinusoidal(3, 5)[4], math.sin(3 * third), rtol=0, atol=1e-15)


def test_sinusoidal_keeps_the_axes_of_positions() -> None:
    several = sinusoidal([[3, 1], [0, 2]], 6)
    assert several.shape == (2, 2, 6)
    np.testing.assert_array_equal(several[0, 1], sinusoidal(1, 6))
    assert sinusoidal(np.zeros((0,), dtype=int), 6).shape == (0, 6)


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50))
def test_sinusoidal_products_know_the_distance_only(p: int, q: int, shift: int) -> None:
    here, there = (sinusoidal(a, 8) @ sinusoidal(b, 8) for a, b in ((p, q), (p + shift, q + shift)))
    assert here == pytest.approx(there, abs=1e-10)
    assert sinusoidal(p, 8) @ sinusoidal(p, 8) == pytest.approx(4, abs=1e-12)


@given(st.integers(0, 100), st.integers(0, 100))
def test_sinusoidal_a_step_is_the_same_rotation_everywhere(p: int, step: int) -> None:
    sines, cosines = np.sin(step * frequencies(6)), np.cos(step * frequencies(6))
    before, after = sinusoidal(p, 6), sinusoidal(p + step, 6)
    np.testing.assert_allclose(after[0::2], cosines * before[0::2] + sines * before[1::2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(after[1::2], cosines * before[1::2] - sines * before[0::2], rtol=0, atol=1e-12)


def test_frequencies_fall_by_one_factor() -> None:
    w = frequencies(10)
    np.testing.assert_allclose(w[1:] / w[:-1], 10000 ** (-2 / 10), rtol=1e-12)
    assert w[0] == 1
    assert len(frequencies(9)) == 5


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: sinusoidal([-1, 2], 4), ValueError, "positions must be at least 0, got -1"),
    (lambda: sinusoidal([0.5], 4), TypeError, "positions must hold integers, got dtype float64"),
    (lambda: sinusoidal([[0], [1, 2]], 4), ValueError, "positions must be a regular array"),  # type: ignore[list-item]
    (lambda: sinusoidal(0, 0), ValueError, "C must be at least 1, got 0"),
    (lambda: sinusoidal(0, 4.0), TypeError, r"C must be an integer, got 4\.0"),  # type: ignore[arg-type]
    (lambda: frequencies(4, base=1), ValueError, r"base must be larger than 1, got 1\.0"),
    (lambda: frequencies(4, base=math.inf), ValueError, "base must be finite, got inf"),
    (lambda: frequencies(4, base=math.nan), ValueError, "base must be finite, got nan"),
    (lambda: frequencies(4, base="e"), TypeError, "base must be a number, got 'e'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_positions_refuse(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
