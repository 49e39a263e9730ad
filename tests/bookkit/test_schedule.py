"""The order of pages: what a page is expected to take, and which of those waiting goes next."""

from __future__ import annotations

from pathlib import Path

import pytest
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbformat.v4 import new_code_cell, new_notebook

from bookkit.schedule import EXPERIMENT_SECONDS, PAGE_SECONDS, Work, known_seconds, next_page, work_of

EXPERIMENTS = "onesentence.experiments"


def page(*imports: str) -> str:
    return "# 页\n\n```{code-cell} ipython3\n" + "\n".join(imports) + "\n```\n"


def test_work_of_counts_the_experiments_behind_the_imports() -> None:
    assert work_of(page("import numpy"), None) == Work(PAGE_SECONDS)
    one = work_of(page(f"from {EXPERIMENTS} import reversal"), None)
    assert one == Work(PAGE_SECONDS + EXPERIMENT_SECONDS, frozenset({f"{EXPERIMENTS}.reversal"}))
    through = work_of(page(f"from {EXPERIMENTS}.paths import failure"), None)
    assert through.experiments == {f"{EXPERIMENTS}.paths", f"{EXPERIMENTS}.reversal"}
    assert through.seconds > one.seconds
    assert work_of(page(f"from {EXPERIMENTS} import seeds, intervals"), None) == Work(PAGE_SECONDS)


def test_work_of_believes_what_was_measured() -> None:
    text = page(f"from {EXPERIMENTS} import reversal")
    assert work_of(text, 2.5) == Work(2.5, frozenset({f"{EXPERIMENTS}.reversal"}))
    assert work_of(text, 0.0).seconds == 0.0


def test_known_seconds_are_the_longest_of_a_page(tmp_path: Path) -> None:
    cache = get_cache(tmp_path)
    assert known_seconds(cache) == {}
    for code, name, data in (
        ("1", "a.md", {"execution_seconds": 40.0}),
        ("2", "a.md", {"execution_seconds": 3}),
        ("3", "b.md", {"execution_seconds": 0.5}),
        ("4", "c.md", {}),
        ("5", "d.md", {"execution_seconds": "long"}),
    ):
        bundle = CacheBundleIn(new_notebook(cells=[new_code_cell(code)]), name, data=data)
        cache.cache_notebook_bundle(bundle, check_validity=False)
    assert known_seconds(cache) == {"a.md": 40.0, "b.md": 0.5}


@pytest.mark.parametrize(
    ("waiting", "running", "expected"),
    [
        ("abcd", "", "b"),  # the longest
        ("acd", "b", "d"),  # c is longer, but b runs what it would wait for
        ("ac", "b", "a"),
        ("c", "b", "c"),  # no worker idles
        ("ac", "bd", "a"),
        ("cd", "a", "c"),
    ],
)
def test_next_page_is_the_longest_that_need_not_wait(waiting: str, running: str, expected: str) -> None:
    works = {
        "a": Work(1.0),
        "b": Work(9.0, frozenset({"x", "y"})),
        "c": Work(8.0, frozenset({"y"})),
        "d": Work(2.0, frozenset({"z"})),
    }
    assert next_page(waiting, running, works) == expected
