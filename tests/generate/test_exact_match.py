"""Exact match: every sentence counts."""

from __future__ import annotations

import numpy as np
import pytest

from onesentence.generate.exact_match import ExactMatch, exact_match


def test_exact_match_counts_every_sentence():
    result = exact_match([[], [5, 2], [5, 7], [5, 7, 2]], [[5, 2]] * 3 + [[5, 7, 2]])
    assert (result.hits, result.total, result.share) == (2, 4, 0.5)
    assert exact_match([(5, 2, 7), (5,)], [(5, 2), (5, 2)]).hits == 0  # neither more nor less


def test_exact_match_does_not_ask_for_the_container():
    assert exact_match([(1, 2), np.array([1, 2])], [[1, 2], (1, 2)]).hits == 2
    assert exact_match(["I left ."], ["I left ."]).hits == 1


def test_exact_match_refuses():
    with pytest.raises(ValueError, match="references must be as many as hypotheses, got 2 for 1"):
        exact_match(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="total: expected at least 1 sentence, got 0"):
        exact_match([], [])
    with pytest.raises(TypeError, match=r"hypotheses\[0\] and references\[0\] must be of one kind"):
        exact_match(["I left"], [["I", "left"]])
    for given in ("ab", None):
        with pytest.raises(TypeError, match="hypotheses must be a sequence with an entry per sentence, got"):
            exact_match(given, ["a", "b"])
        with pytest.raises(TypeError, match="references must be a sequence with an entry per sentence, got"):
            exact_match(["a", "b"], given)
    for pair in (([1], [[1]]), ([[1]], [1])):
        with pytest.raises(
            TypeError, match=r"hypotheses\[0\] and references\[0\] must be sequences .* got 1"
        ):
            exact_match(*pair)
    for counts in ((0.5, 1), (True, 1), (0, 1.0)):
        with pytest.raises(TypeError, match="must be an integer"):
            ExactMatch(*counts)
    with pytest.raises(ValueError, match=r"hits must lie in \[0, 2\], got 3"):
        ExactMatch(3, 2)
