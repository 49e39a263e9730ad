"""Equal texts of several seeds in one row; the rows by hand are the doctest's."""

from __future__ import annotations

import pytest

from onesentence.experiments.written_alike import written_alike


def test_written_alike_refuses():
    with pytest.raises(ValueError, match=r"written: expected 2 lists of 0 texts, got lengths \[1, 0\]"):
        written_alike([], [["I"], []], [0, 1])


def test_written_alike_has_no_row_without_a_sentence():
    assert written_alike([], [[], []], [0, 1]) == []
