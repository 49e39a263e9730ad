"""Measure how long building the book takes, on this machine and in one run; `make bench`.

Everything is built in a scratch copy, by `jupyter-book build .`; of the checkout's own `_build` only
`bench.json` is written.

- cold: nothing built and nothing executed before. Its overhead is wall time times cores, divided by the time that
  the pages ran, each with the start of its kernel: 1 would be all cores doing nothing but running pages.
- nothing changed: the build again, beside bare Sphinx, the same pages and executed outputs without `bookkit`
  (`tools/bare.py` says how). Both are built in turn, RUNS times; medians count.
- text edited: a sentence more on one page. Module edited: a line more in one module of the package.
- live: from a save of a page's text until the browser shows it, in the live preview (`tools/live.py`), RUNS times.
- text: learning of byte-pair merges beside `tokenizers`, of n-gram counts beside nltk (`tools/bench_text.py`).
- recurrent: the hand-written RNN, forwards and back, beside `torch.nn.RNN` (`tools/bench_recurrent.py`).
- beam: the batched beam search beside the plain loop (`tools/bench_beam.py`).
- transformer: the encoder block beside `nn.TransformerEncoderLayer` (`tools/bench_transformer.py`).
- kernels: tiled attention beside the naive version and PyTorch's, time and memory; decoding with and without a cache
  (`tools/bench_kernels.py`).
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bare import make_bare
from bench_rows import Row

ROOT = Path(__file__).resolve().parents[1]
RUNS = 3
PAGE = Path("book", "03-reading", "the-read.md")
MODULE = Path("code", "onesentence", "attention", "read.py")
LEFT_OUT = ("_build", ".*", "*.egg-info", "__pycache__")
GOALS = {
    "cold, overhead": 1.5,
    "nothing changed, ratio to bare": 1.5,
    "text edited": 5.0,
    "live, text saved to page shown": 5.0,
}
PACKAGES = ("jupyter-book", "sphinx", "myst-nb", "torch", "numpy", "tokenizers")
_PAGE = re.compile(r"executed \[\d+/\d+\] (\S+) +(\d+\.\d+) s")
_TOTAL = re.compile(r"executed (\d+) pages in (\d+\.\d+) s, read and wrote in (\d+\.\d+) s")


@dataclass(frozen=True)
class Build:
    """One build.

    Attributes:
        wall: seconds from start to exit.
        pages: seconds that each executed page ran, its kernel's start included.
        execute: seconds in which pages were executed.
        rest: seconds for reading and writing.
        cpu: seconds of processor time, which other work on the machine changes less than `wall`.
    """

    wall: float
    pages: dict[str, float] = field(default_factory=dict)
    execute: float = 0.0
    rest: float = 0.0
    cpu: float = 0.0


def read_log(log: str, wall: float, cpu: float = 0.0) -> Build:
    r"""Read what a build printed.

    Args:
        log: its output.
        wall: seconds it took.
        cpu: seconds of processor time it took.

    Raises:
        ValueError: the closing line of a build of this book is not there, or it counts other pages than were named.

    Example:
        >>> log = "executed [1/1] book/a  2.5 s\n\nexecuted 1 pages in 3.0 s, read and wrote in 1.5 s\n"
        >>> read_log(log, 6.0)
        Build(wall=6.0, pages={'book/a': 2.5}, execute=3.0, rest=1.5, cpu=0.0)
    """
    total = _TOTAL.search(log)
    if total is None:
        raise ValueError("log: the line 'executed … pages in … s' of a finished build is missing")
    pages = {name: float(seconds) for name, seconds in _PAGE.findall(log)}
    if len(pages) != int(total.group(1)):
        raise ValueError(f"log: {total.group(1)} pages executed, but {len(pages)} are named")
    return Build(wall, pages, float(total.group(2)), float(total.group(3)), cpu)


def overhead(build: Build, cores: int) -> float:
    """Return wall time times cores, over the time that the pages ran.

    Raises:
        ValueError: no page was executed.

    Example:
        >>> overhead(Build(6.0, {"a": 5.0, "b": 3.0}), 2)
        1.5
    """
    seconds = sum(build.pages.values())
    if not seconds:
        raise ValueError("build: no page was executed, so there is nothing to compare with")
    return build.wall * cores / seconds


def build_rows(cold: Build, cores: int, nothing: Sequence[Build], bare: Sequence[Build]) -> list[Row]:
    """Return the lines for a cold build and for builds with nothing changed."""
    slowest = max(cold.pages.values())
    again, plain = (statistics.median(run.wall for run in runs) for runs in (nothing, bare))
    return [
        Row("cold", cold.wall, "s", f"cpu {cold.cpu:.1f} s; {len(cold.pages)} pages on {cores} cores"),
        Row("cold, pages ran", sum(cold.pages.values()), "s", f"slowest {slowest:.1f} s"),
        Row("cold, reading and writing", cold.rest, "s"),
        Row("cold, start and end", cold.wall - cold.execute - cold.rest, "s", "imports, configuration"),
        with_goal(Row("cold, overhead", overhead(cold, cores))),
        Row("nothing changed", again, "s", spread(nothing)),
        Row("nothing changed, bare Sphinx", plain, "s", spread(bare)),
        with_goal(Row("nothing changed, ratio to bare", again / plain)),
    ]


def edit_row(what: str, build: Build, executed: int) -> Row:
    """Return the line for a build after an edit.

    Args:
        what: the kind of edit.
        build: the build after it.
        executed: how many pages of the book are executed at all.
    """
    return with_goal(
        Row(what, build.wall, "s", f"cpu {build.cpu:.1f} s; {len(build.pages)} of {executed} pages ran")
    )


def with_goal(row: Row) -> Row:
    """Return the row with its goal, where there is one."""
    return Row(row.what, row.value, row.unit, row.note, GOALS.get(row.what))


def spread(runs: Sequence[Build]) -> str:
    """Return the median's processor time and the smallest and largest wall time of several runs.

    Example:
        >>> spread([Build(2.0, cpu=1.5), Build(3.25, cpu=2.0), Build(2.5, cpu=1.75)])
        'cpu 1.8 s; median of 3, 2.0 to 3.2 s'
    """
    walls, cpu = [run.wall for run in runs], statistics.median(run.cpu for run in runs)
    return f"cpu {cpu:.1f} s; median of {len(runs)}, {min(walls):.1f} to {max(walls):.1f} s"


def table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text; the last column says whether a goal is met.

    Example:
        >>> print(table([Row("cold", 12.345, "s", "2 pages"), Row("overhead", 1.2, goal=1.5)]))
        cold        12.3 s  2 pages
        overhead     1.2             goal <= 1.5: met
    """
    width = max(len(row.what) for row in rows)
    notes = max(len(row.note) for row in rows)
    lines = []
    for row in rows:
        goal = ""
        if row.goal is not None:
            goal = f"goal {'>=' if row.least else '<='} {row.goal:g}: {'met' if row.met else 'NOT MET'}"
        lines.append(
            f"{row.what:{width}}  {row.value:6.1f} {row.unit:1}  {row.note:{notes}}  {goal}".rstrip()
        )
    return "\n".join(lines)


def copy_book(target: Path) -> None:
    """Copy the book without what builds and tools leave in it."""
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT_OUT))


def build(book: Path) -> tuple[Build, str]:
    """Build a book; return its times and its output.

    Raises:
        RuntimeError: the build failed; the message holds its last lines.
    """
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", "."]
    env = os.environ | {"PYTHONPATH": str(book / "code"), "PYTHONDONTWRITEBYTECODE": ""}
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, cwd=book, env=env, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        lines = (run.stdout + run.stderr).splitlines()[-15:]
        raise RuntimeError(f"the build in {book} failed:\n" + "\n".join(lines))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Build(wall, cpu=cpu), run.stdout + run.stderr


def timed(book: Path) -> Build:
    """Build the book and read its output."""
    times, log = build(book)
    return read_log(log, times.wall, times.cpu)


def edit(path: Path, line: str) -> None:
    """Add a line at the end of a file."""
    path.write_text(path.read_text(encoding="utf-8") + line, encoding="utf-8")


def measure(folder: Path) -> list[Row]:
    """Build and edit in a scratch folder; return the lines of the table."""
    book, bare = folder / "book", folder / "bare"
    copy_book(book)
    print("bench: cold build", flush=True)
    cold = timed(book)
    print("bench: nothing changed, with bookkit and bare", flush=True)
    make_bare(book, bare)
    if "Executing notebook" in build(bare)[1]:
        raise RuntimeError("the bare copy ran pages again: the keys in its pages do not match the cache")
    nothing, plain = [], []
    for _ in range(RUNS):
        nothing.append(timed(book))
        plain.append(build(bare)[0])
    rows = build_rows(cold, cores(), nothing, plain)
    print("bench: text and module edited", flush=True)
    edit(book / PAGE, "\n这一句只为计时而写。\n")
    rows.append(edit_row("text edited", timed(book), len(cold.pages)))
    edit(book / MODULE, "\nBENCH = True\n")
    rows.append(edit_row("module edited", timed(book), len(cold.pages)))
    print("bench: live preview", flush=True)
    rows.append(measure_live(book))
    return rows


def measure_live(book: Path) -> Row:
    """Save a page's text in a running live preview; return the line for the time until a browser shows it."""
    from playwright.sync_api import sync_playwright

    from browser import ARGUMENTS, find_browser

    command = [sys.executable, str(ROOT / "tools" / "live.py"), "--port", "0", "--no-browser", str(book)]
    env = os.environ | {"PYTHONPATH": str(book / "code"), "PYTHONDONTWRITEBYTECODE": ""}
    seconds = []
    preview = subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert preview.stdout is not None
    try:
        address = preview.stdout.readline().split()[1]
        while not (line := preview.stdout.readline()).startswith("live: built"):
            if not line:
                raise RuntimeError("the live preview ended before it had built the book")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=list(ARGUMENTS))
            page = browser.new_page()
            page.goto(address + PAGE.with_suffix(".html").as_posix())
            for number in range(RUNS):
                sentence = f"第 {number} 次只为计时而写。"
                start = time.perf_counter()
                edit(book / PAGE, f"\n{sentence}\n")
                page.get_by_text(sentence).wait_for(timeout=120_000)
                seconds.append(time.perf_counter() - start)
                time.sleep(0.5)
            browser.close()
    finally:
        preview.terminate()
        preview.wait(timeout=30)
        preview.stdout.close()
    return live_row(seconds)


def live_row(seconds: Sequence[float]) -> Row:
    """Return the line for the times from a save until the browser shows it."""
    note = f"median of {len(seconds)}, {min(seconds):.1f} to {max(seconds):.1f} s"
    return with_goal(Row("live, text saved to page shown", statistics.median(seconds), "s", note))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """Describe the machine and how busy it was."""
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": cores(),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def main() -> int:
    """Measure, print the table, write `_build/bench.json`."""
    import bench_beam
    import bench_kernels
    import bench_recurrent
    import bench_text
    import bench_transformer
    import lighthouse

    about = machine()
    print(f"bench: {about['cores']} cores, load {about['load'][0]}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        rows = measure(Path(name))
        rows += lighthouse.measure(Path(name, "book", "_build", "html"), Path(name, "lighthouse"))
    print("bench: text", flush=True)
    rows += bench_text.measure()
    print("bench: recurrent", flush=True)
    rows += bench_recurrent.measure()
    print("bench: beam", flush=True)
    rows += bench_beam.measure()
    print("bench: transformer", flush=True)
    rows += bench_transformer.measure()
    print("bench: kernels", flush=True)
    rows += bench_kernels.measure()
    rows += bench_kernels.measure_decoding()
    print(table(rows))
    target = ROOT / "_build" / "bench.json"
    target.parent.mkdir(exist_ok=True)
    versions = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
    result: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": about,
        "versions": versions,
    }
    result["rows"] = [asdict(row) | {"met": row.met} for row in rows]
    target.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"bench: {target.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
