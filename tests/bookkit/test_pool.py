"""The pool that runs pages: in which order, and what an interruption ends."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bookkit import pool
from bookkit.schedule import Work


class Stop(BaseException):
    """What Ctrl-C is to the pool."""


class Interrupted:
    """A progress display in whose first line the interruption comes."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def __setattr__(self, name: str, value: object) -> None:
        if name == "stopped" and value:
            self.event.set()
        super().__setattr__(name, value)

    def show(self) -> None:
        raise Stop


def test_interruption_ends_the_page_that_runs_and_begins_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    progress, begun, ended = Interrupted(), [], []

    def execute(docname: str, *_: object) -> None:
        begun.append(docname)
        assert progress.event.wait(60)

    def build() -> None:
        works = dict.fromkeys("abcde", Work(1.0))
        runs = pool.run_pages(
            dict.fromkeys(works), works, root=Path(), timeout=1, workers=1, progress=progress
        )
        with pytest.raises(Stop):
            next(runs)
        ended.append(True)

    monkeypatch.setattr(pool, "_execute", execute)
    monkeypatch.setattr(pool.psutil.Process, "children", lambda self, recursive: [])
    thread = threading.Thread(target=build, daemon=True)
    thread.start()
    thread.join(30)
    assert ended, "the pool waits for pages that it will not run"
    assert begun == ["a"]


class Silent:
    """A progress display that shows nothing."""

    stopped = False

    def show(self) -> None:
        pass


def run(works: dict[str, Work], workers: int, monkeypatch: pytest.MonkeyPatch, until: dict[str, str]) -> str:
    """Return the pages in the order in which they begin; a page ends when that in `until`, if any, has begun."""
    order: list[str] = []
    begun = {page: threading.Event() for page in works}

    def execute(docname: str, *_: object) -> str:
        order.append(docname)
        begun[docname].set()
        assert begun[until.get(docname, docname)].wait(30), f"{until[docname]} did not begin beside {docname}"
        return docname

    monkeypatch.setattr(pool, "_execute", execute)
    runs = pool.run_pages(
        dict.fromkeys(works), works, root=Path(), timeout=1, workers=workers, progress=Silent()
    )
    assert sorted(runs) == sorted(works)
    return "".join(order)


def test_run_pages_begins_with_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    works = {"a": Work(1.0), "b": Work(5.0), "c": Work(3.0), "d": Work(5.0)}
    assert run(works, 1, monkeypatch, {}) == "bdca"


def test_run_pages_keeps_pages_apart_that_share_an_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = frozenset({"x"})
    works = {"a": Work(9.0, shared), "b": Work(8.0, shared), "c": Work(2.0), "d": Work(1.0)}
    assert run(works, 2, monkeypatch, {"a": "d"}) == "acdb"


def test_run_pages_idles_for_no_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = frozenset({"x"})
    works = {page: Work(1.0, shared) for page in "abc"}
    assert run(works, 3, monkeypatch, {"a": "c", "b": "c"})[2] == "c"


def test_run_pages_fills_a_free_worker_before_it_hands_on_what_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def execute(docname: str, *_: object) -> str:
        if docname == "b":
            begun.set()
        return docname

    monkeypatch.setattr(pool, "_execute", execute)
    works = {"a": Work(2.0), "b": Work(1.0)}
    runs = pool.run_pages(dict.fromkeys(works), works, root=Path(), timeout=1, workers=1, progress=Silent())
    assert next(runs) == "a"
    assert begun.wait(30), "b waits until the caller has kept a"
    assert list(runs) == ["b"]
