"""A small book of three pages, built once per worker; tests copy it, plant a fault and build again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = Path(__file__).parent / "book"


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

    def build(self) -> tuple[int, str]:
        run = subprocess.run(**self.command, capture_output=True, check=False, timeout=90)
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
    status, output = book.build()
    assert status == 0, output
    return book


@pytest.fixture
def book(built: Book, tmp_path: Path) -> Book:
    """A copy of the built book, to plant a fault in."""
    shutil.copytree(built.root, tmp_path / "book")
    return Book(tmp_path / "book")
