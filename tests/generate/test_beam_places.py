"""The best slots of a row: against a stable sort, ties and missing candidates included."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from onesentence.generate.beam_places import best_slots


@given(
    scores=arrays(float, (3, 7), elements=st.sampled_from([-np.inf, -2.0, -1.0, 0.0])),
    width=st.integers(1, 7),
)
def test_best_slots_are_those_of_a_stable_sort(scores, width):
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :width]
    np.testing.assert_array_equal(best_slots(scores, width), expected)
