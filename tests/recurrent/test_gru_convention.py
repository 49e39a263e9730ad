"""The two formulas in which GRUs differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesentence.recurrent.gru_convention import mixed, recalled

shares = st.floats(0, 1)
values = st.floats(-5, 5)


def test_mixed_and_recalled_values_of_the_course():
    assert mixed(2, 6, 0.25, "writes") == mixed(2, 6, 0.75, "keeps") == 3
    U, h, r = [[1, 1], [1, -1]], [1, 2], [1, 0]
    np.testing.assert_array_equal(recalled(h, r, U, 0, "before"), [1, 1])
    np.testing.assert_array_equal(recalled(h, r, U, 0, "after"), [3, 0])
    np.testing.assert_array_equal(recalled(h, r, U, [10, 10], "before"), [11, 11])
    np.testing.assert_array_equal(recalled(h, r, U, [10, 10], "after"), [13, 0])


@given(values, values, shares)
def test_mixed_conventions_exchange_the_shares(old, candidate, z):
    keeps = mixed(old, candidate, 1 - z, "keeps")
    np.testing.assert_allclose(mixed(old, candidate, z, "writes"), keeps, rtol=0, atol=1e-14)


@given(values, values, shares)
def test_mixed_lies_between_old_and_candidate(old, candidate, z):
    new = mixed(old, candidate, z, "writes")
    assert min(old, candidate) - 1e-12 <= new <= max(old, candidate) + 1e-12


@given(st.lists(values, min_size=3, max_size=3), st.lists(shares, min_size=3, max_size=3))
def test_recalled_agree_for_a_diagonal_matrix(diagonal, r):
    U, h = np.diag(diagonal), np.array([1.0, -2.0, 0.5])
    before, after = (recalled(h, r, U, 0, reset) for reset in ("before", "after"))
    np.testing.assert_allclose(before, after, rtol=0, atol=1e-12)


def test_conventions_refuse_others():
    with pytest.raises(ValueError, match="update must be 'writes' or 'keeps', got 'z'"):
        mixed(0.0, 0.0, 0.0, "z")
    with pytest.raises(ValueError, match="reset must be 'before' or 'after', got None"):
        recalled([0.0], [0.0], [[0.0]], 0, None)
    with pytest.raises(TypeError, match="z must hold real numbers"):
        mixed(0.0, 0.0, "much", "writes")
