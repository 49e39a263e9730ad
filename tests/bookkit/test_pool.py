"""The pool that runs pages: what an interruption ends."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bookkit import pool


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
        notebooks = dict.fromkeys("abcde")
        with pytest.raises(Stop):
            next(pool.run_pages(notebooks, root=Path(), timeout=1, workers=1, progress=progress))
        ended.append(True)

    monkeypatch.setattr(pool, "_execute", execute)
    monkeypatch.setattr(pool.psutil.Process, "children", lambda self, recursive: [])
    thread = threading.Thread(target=build, daemon=True)
    thread.start()
    thread.join(30)
    assert ended, "the pool waits for pages that it will not run"
    assert begun == ["a"]
