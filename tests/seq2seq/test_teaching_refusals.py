"""The NumPy readers refuse ids that are none, instead of counting from the end or failing inside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onesentence.seq2seq.reading import Reading, ReadingConfig
from onesentence.seq2seq.reading_teaching import teaching_run
from onesentence.seq2seq.reversal_model import ReaderConfig, SourceReader
from onesentence.seq2seq.reversal_teaching import TeachingReader

READER = TeachingReader.from_torch(
    SourceReader.initial(ReaderConfig("dynamic", embedding=4, encoder=2, hidden=4), seed=0)
)
MODEL = Reading.initial(ReadingConfig(7, 9, embedding=4, hidden=4), seed=0)
WRONG = [
    ([3, -1], ValueError, r"must lie in \[0, {size}\), got -1"),
    ([3, 99], ValueError, r"must lie in \[0, {size}\), got 99"),
    ([0.5], TypeError, "must hold integers, got dtype float64"),
    ([True, False], TypeError, "must hold integers, got dtype bool"),
    ([[3], [4, 5]], ValueError, "must be a regular array"),
    (np.array([2**63 + 1], np.uint64), ValueError, r"must lie in \[0, {size}\)"),
]


@pytest.mark.parametrize(("ids", "error", "message"), WRONG)
def test_teaching_reader_refuses_ids(ids: Any, error: type[Exception], message: str) -> None:
    expected = message.replace("{size}", "9")
    with pytest.raises(error, match=f"source {expected}"):
        READER.start(ids)
    with pytest.raises(error, match=f"inputs {expected}"):
        READER.follow([3, 4], ids)


@pytest.mark.parametrize(
    ("token", "error", "message"),
    [
        (-1, ValueError, "token must be at least 0, got -1"),
        (9, ValueError, r"token must lie in \[0, 9\), got 9"),
        (True, TypeError, "token must be an integer, got True"),
        (1.0, TypeError, "token must be an integer, got 1.0"),
    ],
)
def test_teaching_reader_step_refuses(token: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        READER.step(token, READER.start([3, 4]))


@pytest.mark.parametrize("limit", [1.5, True, "3"])
def test_teaching_reader_write_refuses_a_limit_that_is_no_integer(limit: Any) -> None:
    with pytest.raises(TypeError, match="limit must be an integer"):
        READER.write([3, 4], bos=1, eos=2, limit=limit)


def test_teaching_reader_takes_any_integers_and_leaves_them() -> None:
    source = np.array([5, 4, 3], np.uint8)[::-1]
    source.flags.writeable = False
    expected = READER.follow([3, 4, 5], [1, 5])
    for one, other in zip(READER.follow(source, np.array([1, 5], np.uint64)), expected, strict=True):
        np.testing.assert_array_equal(one.log_p, other.log_p)


@pytest.mark.parametrize(("ids", "error", "message"), WRONG)
def test_teaching_run_refuses_ids(ids: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match="source " + message.replace("{size}", "7")):
        teaching_run(MODEL, ids, [1])
    with pytest.raises(error, match="inputs " + message.replace("{size}", "9")):
        teaching_run(MODEL, [3], ids)


@pytest.mark.parametrize("ids", [[], [[1, 2]]])
def test_teaching_run_refuses_another_shape(ids: Any) -> None:
    with pytest.raises(ValueError, match="source must be one sentence of at least one id, got shape"):
        teaching_run(MODEL, ids, [1])
    with pytest.raises(ValueError, match="inputs must be one sentence of at least one id, got shape"):
        teaching_run(MODEL, [3], ids)
