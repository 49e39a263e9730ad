"""Every explanation, observation and status has a name of its own on the pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from onesentence.seq2seq import verdict_words
from onesentence.seq2seq.diagnosis import Explanation, Observation, Status, diagnose
from onesentence.seq2seq.observed import Observations


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (verdict_words.EXPLANATIONS, get_args(Explanation)),
        (verdict_words.SHORT, get_args(Explanation)),
        (verdict_words.OBSERVATIONS, get_args(Observation)),
        (verdict_words.STATUSES, get_args(Status)),
    ],
)
def test_names_are_complete_and_different(names: Mapping[Any, str], kinds: tuple[str, ...]) -> None:
    assert set(names) == set(kinds)
    assert len(set(names.values())) == len(names)


def test_missing_says_when_no_known_observation_is_left() -> None:
    seen = Observations(("s",), ("x", "."), ("y", "."), log_p=(-1.0, -1.0), beam=("pruned",))
    assert verdict_words.missing(diagnose(seen)).startswith("搜索错误还缺别的观察；模型错误还缺别的观察")


def test_contrary_is_empty_where_nothing_is_settled_or_nothing_points_the_other_way() -> None:
    only = Observations(("s", "t"), ("x", "."), ("y", "."), wanted=(1,), weights=(0.1, 0.9))
    assert verdict_words.contrary(diagnose(only)) == ""
