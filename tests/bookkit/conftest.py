"""A small book of three pages, built once per worker; tests copy it, plant a fault and build again.

Most builds are forked from a process that has the libraries loaded (`forked.py`), which saves a second of each;
`plainly=True` starts `jupyter-book build .` as a reader does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = Path(__file__).parent / "book"
LIMIT = 90
"""Seconds after which a build is killed."""


class Forker:
    """The process that forks builds, one at a time; started with the first, ended with the tests."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.folder = tempfile.mkdtemp(prefix="forked-")

    def fork(self, folder: Path, environment: dict[str, str]) -> Forked:
        """Start a build."""
        if self.process is None:
            paths = (ROOT / "tools", ROOT / "code")
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("forked.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
                start_new_session=True,
            )
        pipe = Path(self.folder, "output")
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        request = {"folder": str(folder), "environment": environment, "output": str(pipe)}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return Forked(int(self.process.stdout.readline()), pipe.open(encoding="utf-8"), self.process.stdout)

    def end(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.communicate(timeout=LIMIT)
        shutil.rmtree(self.folder, ignore_errors=True)


class Forked:
    """A running build: its process id, what it prints, its exit status."""

    def __init__(self, pid: int, stdout: TextIO, answers: TextIO) -> None:
        self.pid, self.stdout, self.answers = pid, stdout, answers
        self.timer = threading.Timer(LIMIT, self.kill)
        self.timer.start()

    def kill(self) -> None:
        """Kill the build; its kernels have sessions of their own."""
        os.killpg(self.pid, signal.SIGKILL)

    def wait(self) -> tuple[int, str]:
        """Return the exit status and what had not been read of the output."""
        with self.stdout:
            output = self.stdout.read()
        status = int(self.answers.readline())
        self.timer.cancel()
        return status, output


FORKER = Forker()


@pytest.fixture(scope="session", autouse=True)
def _forker_ends() -> Iterator[None]:
    yield
    FORKER.end()


@dataclass
class Book:
    """A checkout of the small book."""

    root: Path
    own_code: bool = False  # whether it has a copy of the package under code/, as the real checkout does

    @property
    def html(self) -> Path:
        return self.root / "_build" / "html"

    def page(self, name: str) -> Path:
        return self.root / "book" / f"{name}.md"

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.page(name)
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    @property
    def command(self) -> dict[str, Any]:
        """What to hand to `subprocess`: plain `jupyter-book build .` in the book's folder."""
        env = dict(os.environ)
        if self.own_code:
            env["PYTHONPATH"] = str(self.root / "code")
        jupyter_book = str(Path(sys.executable).with_name("jupyter-book"))
        return {"args": [jupyter_book, "build", "."], "cwd": self.root, "env": env, "text": True}

    def start(self) -> Forked:
        """Start a build in a process of its own; what it prints on both streams comes through one pipe."""
        return FORKER.fork(self.root, self.command["env"])

    def build(self, *, plainly: bool = False) -> tuple[int, str]:
        if not plainly:
            return self.start().wait()
        run = subprocess.run(**self.command, capture_output=True, check=False, timeout=LIMIT)
        return run.returncode, run.stdout + run.stderr

    def executed(self) -> set[str]:
        """Build, and return the pages that were run."""
        status, output = self.build()
        assert status == 0, output
        return set(re.findall(r"^executed \[\d+/\d+\] book/(\S+)", output, re.MULTILINE))


def lay_book(folder: Path) -> Book:
    """Put an unbuilt small book into a folder: its own pages, the real configuration and style."""
    shutil.copytree(PAGES, folder)
    shutil.copy(ROOT / "_config.yml", folder)
    for part in ("css", "js", "vendor"):
        shutil.copytree(ROOT / "assets" / part, folder / "assets" / part)
    return Book(folder)


@pytest.fixture
def lay() -> Callable[[Path], Book]:
    """Lay an unbuilt small book."""
    return lay_book


@pytest.fixture(scope="session")
def lay_once() -> Callable[[Path], Book]:
    """Lay an unbuilt small book for several tests."""
    return lay_book


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The small book, built without a fault. Do not change it."""
    book = lay_book(tmp_path_factory.mktemp("small") / "book")
    status, output = book.build(plainly=True)
    assert status == 0, output
    return book


@pytest.fixture
def book(built: Book, tmp_path: Path) -> Book:
    """A copy of the built book, to plant a fault in."""
    shutil.copytree(built.root, tmp_path / "book")
    return Book(tmp_path / "book")
