"""The live preview: a save is a build, the page loads again, an error stands on it until a save mends it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import live

ROOT = Path(__file__).resolve().parents[2]
LIVE = ROOT / "tools" / "live.py"
PATIENCE = 60_000  # ms: whether it happens is tested here, how fast it happens is measured by `make bench`


class Preview:
    """A running live preview of a book and what it has printed."""

    def __init__(self, root: Path) -> None:
        env = os.environ | {"PYTHONPATH": str(root / "code")}
        command = [sys.executable, str(LIVE), "--port", "0", "--no-browser", str(root)]
        self.process = subprocess.Popen(
            command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=root
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        found = re.match(r"live: (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends it\)$", first)
        assert found, first
        self.address, self.lines = found[1], list[str]()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        self.lines += self.process.stdout

    def stop(self) -> None:
        """End it as Ctrl-C does, or hard where that does not help."""
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=30)
        finally:
            self.process.kill()
            self.process.wait(timeout=30)
            self.listener.join(timeout=30)
            assert self.process.stdout is not None
            self.process.stdout.close()

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def wait_for_builds(self, number: int) -> None:
        until = time.monotonic() + PATIENCE / 1000
        while self.builds < number and time.monotonic() < until:
            time.sleep(0.05)
        assert self.builds >= number, self.log

    @property
    def builds(self) -> int:
        return len(re.findall(r"^live: (?:built in|Build failed)", self.log, re.MULTILINE))


@pytest.fixture
def preview(built, tmp_path: Path) -> Iterator[tuple[Preview, Path]]:
    """The small book with a copy of the package, in a live preview that has built once."""
    root = tmp_path / "book"
    shutil.copytree(built.root, root)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "code" / "onesentence", root / "code" / "onesentence", ignore=ignore)
    (root / "assets" / "fonts").symlink_to(ROOT / "assets" / "fonts")
    preview = Preview(root)
    preview.wait_for_builds(1)
    yield preview, root
    preview.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_text_code_error_and_its_mending_reach_the_page(preview, page: Page) -> None:
    running, root = preview
    text = root / "book" / "beta.md"
    page.goto(running.address + "book/beta.html")
    expect(page.get_by_text("最大的权重是 0.881")).to_be_visible(timeout=PATIENCE)

    replaced(text, "最大的权重是", "保存之后，最大的是")
    expect(page.get_by_text("保存之后，最大的是 0.881")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#live-failure")).to_have_count(0)

    numerics = root / "code" / "onesentence" / "numerics.py"
    replaced(
        numerics,
        "return exponentials / np.where(total > 0, total, 1)",
        "return 0.5 * exponentials / np.where(total > 0, total, 1)",
    )
    expect(page.get_by_text(re.compile(r"最大的是 0\.44"))).to_be_visible(timeout=PATIENCE)

    replaced(text, "plotting.use_style()", "plotting.use_style(no_such_style)")
    failure = page.locator("#live-failure")
    expect(failure).to_contain_text(
        "book/beta.md:37: ERROR: cell failed: NameError: name 'no_such_style' is not defined",
        timeout=PATIENCE,
    )
    expect(page.get_by_role("alert")).to_be_visible()

    replaced(text, "plotting.use_style(no_such_style)", "plotting.use_style()")
    expect(failure).to_have_count(0, timeout=PATIENCE)
    expect(page.get_by_text(re.compile(r"最大的是 0\.44"))).to_be_visible(timeout=PATIENCE)
    # the first build and four saves; what the builds themselves write starts none
    assert running.builds == 5, running.log
    assert running.log.count("live: saved ") == 4, running.log


def test_backup_and_untouched_files_build_nothing_and_a_replaced_file_is_seen(preview, page: Page) -> None:
    running, root = preview
    page.goto(running.address + "book/alpha.html")
    for name in (".alpha.md.swp", "alpha.md~", "4913", "#alpha.md#"):
        (root / "book" / name).write_text("backup", encoding="utf-8")
    (root / "book" / "beta.md").touch()
    (root / "code" / "onesentence" / "__pycache__").mkdir()
    (root / "code" / "onesentence" / "__pycache__" / "numerics.cpython-311.pyc").write_bytes(b"compiled")
    staged = root / "book" / ".new"
    staged.write_text(
        (root / "book" / "alpha.md").read_text(encoding="utf-8") + "\n换上的一句。\n", encoding="utf-8"
    )
    staged.replace(root / "book" / "alpha.md")  # as most editors save
    expect(page.get_by_text("换上的一句。")).to_be_visible(timeout=PATIENCE)
    assert running.log.count("live: saved ") == 1, running.log
    replaced(root / "book" / "alpha.md", "换上的一句。", "又换上的一句。")
    expect(page.get_by_text("又换上的一句。")).to_be_visible(timeout=PATIENCE)
    assert "beta" not in running.log, running.log


def test_folder_put_back_is_watched_again(preview, page: Page) -> None:
    running, root = preview
    page.goto(running.address + "book/alpha.html")
    shutil.move(root / "book", root.parent / "away")
    running.wait_for_builds(2)
    shutil.copytree(root.parent / "away", root / "book")
    running.wait_for_builds(3)
    replaced(root / "book" / "alpha.md", "# 甲页", "# 改了名的甲页")
    expect(page.get_by_role("heading", name="改了名的甲页")).to_be_visible(timeout=PATIENCE)
    running.stop()
    assert running.process.returncode == 0
    assert "Traceback" not in running.log, running.log


def test_book_that_never_built_shows_why_and_then_itself(lay, page: Page, tmp_path: Path) -> None:
    book = lay(tmp_path / "book")
    toc = book.root / "_toc.yml"
    good = toc.read_text(encoding="utf-8")
    toc.write_text("root: [", encoding="utf-8")
    running = Preview(book.root)
    try:
        page.goto(running.address)
        expect(page.locator("#live-failure")).to_contain_text("_toc.yml", timeout=PATIENCE)
        toc.write_text(good, encoding="utf-8")
        expect(page.locator("#live-failure")).to_have_count(0, timeout=PATIENCE)
        page.goto(running.address + "book/alpha.html")
        expect(page.get_by_role("heading", name="甲页")).to_be_visible()
    finally:
        running.stop()
    assert running.process.returncode == 0
    assert "Traceback" not in running.log, running.log


def test_port_in_use_is_named_before_anything_is_built(built) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, str(LIVE), "--port", str(port), "--no-browser", str(built.root)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 1
    assert f"port {port} cannot be used" in run.stderr
    assert "PORT=8001 make live" in run.stderr
    assert run.stdout == ""


def test_folder_that_is_no_book_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        live.main(["--port", "0", str(tmp_path)])
    assert "no _config.yml there" in capsys.readouterr().err


def test_failure_without_a_list_of_faults_shows_the_last_lines() -> None:
    lines = [f"line {number}" for number in range(40)]
    shown = live.failure_text("\n\n".join(lines))
    assert shown.splitlines() == lines[-live.LAST_LINES :]


def test_failure_text_ends_where_the_faults_end() -> None:
    output = "x\n\x1b[31mBuild failed, 2 faults:\x1b[0m\n  a.md:1: one\n  b.md:2: two\nTraceback\n"
    assert live.failure_text(output) == "Build failed, 2 faults:\n  a.md:1: one\n  b.md:2: two"


def test_without_a_list_of_faults_the_exceptions_speak() -> None:
    output = """reading
Traceback (most recent call last):
  File "a.py", line 1, in a
    a()
yaml.parser.ParserError: expected the node content
  in "_toc.yml", line 2

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "b.py", line 1, in b
RuntimeError:
=====

There was an error in building your book. Look above for the cause.
"""
    shown = live.failure_text(output)
    assert shown.startswith('yaml.parser.ParserError: expected the node content\n  in "_toc.yml", line 2')
    assert "a.py" not in shown
    assert "RuntimeError" not in shown


def test_syntax_error_and_configuration_are_shown_with_their_place() -> None:
    output = """Traceback (most recent call last):
  File "click.py", line 9, in main
    run()
  File "code/bookkit/site.py", line 3
    def broken(
              ^
SyntaxError: '(' was never closed
"""
    assert (
        live.failure_text(output)
        == "File \"code/bookkit/site.py\", line 3\nSyntaxError: '(' was never closed"
    )
    output = 'Traceback (most recent call last):\n  File "y.py", line 1\nyaml.Error: bad\n  in "<unicode string>", line 75\n'
    assert "in _config.yml, line 75" in live.failure_text(output)
