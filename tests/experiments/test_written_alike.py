"""Equal texts of several seeds in one row; the rows by hand are the doctest's."""

from __future__ import annotations

import pytest

from onesentence.experiments.written_alike import written_alike
from onesentence.text.parallel import pair_of
from onesentence.text.translation_config import TranslationConfig, running_events
from onesentence.text.translation_corpus import Example


def test_written_alike_refuses():
    with pytest.raises(ValueError, match=r"written: expected 2 lists of 0 texts, got lengths \[1, 0\]"):
        written_alike([], [["I"], []], [0, 1])


def test_written_alike_has_no_row_without_a_sentence():
    assert written_alike([], [[], []], [0, 1]) == []


def test_written_alike_calls_a_beginning_of_the_reference_wrong():
    event = running_events(TranslationConfig())["running"]
    rows = written_alike([Example(event, pair_of(event))], [["I gave him a book yesterday"]], [7])
    assert [(right, who) for _, _, right, who in rows] == [(False, "7")]
