"""Running pages: several kernels at once, their failures collected, ended with the build that started them.

A kernel is a process of its own, so threads serve. The cores are shared between the pages that run at one time.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from jupyter_cache.executors.utils import single_nb_execution
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from bookkit.outputs import output_faults
from bookkit.schedule import Work, next_page

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
WORKERS_VARIABLE = "ONESENTENCE_WORKERS"
"""How many processes an experiment of a page may use for its seeds: the cores divided by the pages running."""


@dataclass(frozen=True)
class Failure:
    """Why a page's outputs cannot be published.

    Attributes:
        fence: line of the cell's fence in the page, from 1.
        source: code of the cell.
        within: line of the cell's code that it points to, from 1, or None.
        reason: what went wrong.
    """

    fence: int
    source: str
    within: int | None
    reason: str


@dataclass(frozen=True)
class Run:
    """The result of executing one page.

    Attributes:
        docname: the page.
        notebook: the executed notebook.
        seconds: wall time, the kernel's start included.
        failures: everything that keeps its outputs from being published.
    """

    docname: str
    notebook: NotebookNode
    seconds: float
    failures: list[Failure]


def run_pages(
    notebooks: Mapping[str, NotebookNode],
    works: Mapping[str, Work],
    *,
    root: Path,
    timeout: int,
    workers: int,
    progress: Progress,
) -> Iterator[Run]:
    """Run pages, several at once; yield each as it ends.

    Args:
        notebooks: the pages as notebooks, by name; their outputs are filled in.
        works: what is known of each page, which decides their order.
        root: the book's folder, which no output may name.
        timeout: seconds that one cell may run.
        workers: how many run at one time.
        progress: told what begins and ends.
    """
    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting = dict(notebooks)
        running: dict[Future[Run], str] = {}
        ended: set[Future[Run]] = set()
        try:
            while waiting or running or ended:
                while waiting and len(running) < workers:
                    docname = next_page(waiting, running.values(), works)
                    notebook = waiting.pop(docname)
                    running[pool.submit(_execute, docname, notebook, root, timeout, progress)] = docname
                for future in ended:  # kept by the caller while the next pages run
                    yield future.result()
                ended = wait(running, timeout=1.0, return_when=FIRST_COMPLETED).done
                progress.show()
                for future in ended:
                    del running[future]
        except BaseException:  # Ctrl-C: no further page, and those that run end with their kernels
            progress.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            while True:  # a kernel may be starting right now: end kernels until no page runs
                for child in psutil.Process().children(recursive=True):
                    with suppress(psutil.NoSuchProcess):
                        child.kill()
                if not wait([f for f in running if not f.cancelled()], timeout=0.2).not_done:
                    break
            raise


def _execute(docname: str, notebook: NotebookNode, root: Path, timeout: int, progress: Progress) -> Run:
    current = {"cell": 0}

    def on_cell_start(cell: NotebookNode, cell_index: int) -> None:
        current["cell"] = cell_index
        if progress.stopped:
            raise RuntimeError("the build was interrupted")

    progress.begin(docname)
    started = time.perf_counter()
    stopped = ""
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = single_nb_execution(
                notebook,
                cwd=folder,
                timeout=timeout,
                allow_errors=False,
                meta_override=False,
                on_cell_start=on_cell_start,
                extra_arguments=["--log-level=ERROR"],
            )
        if isinstance(result.err, CellTimeoutError):
            stopped = f"cell ran longer than the limit of {timeout} s and was stopped"
    except DeadKernelError:
        stopped = "the kernel died in this cell (out of memory?)"
    seconds = time.perf_counter() - started
    progress.end(docname, seconds)
    lines = notebook.metadata["source_map"]  # line of each cell's fence, from 1
    failures = [
        Failure(line, cell.source, line_in_cell(output), reason)
        for cell, line in zip(notebook.cells, lines, strict=True)
        for output in cell.get("outputs", [])
        for reason in output_faults(output, root)
    ]
    if stopped:
        failures.append(Failure(lines[current["cell"]], "", None, stopped))
    return Run(docname, notebook, seconds, failures)


def line_in_cell(output: Any) -> int | None:
    r"""Return the line of its cell that an error points to, counted from 1; None where it points nowhere.

    Example:
        >>> line_in_cell({"traceback": ["NameError", "\x1b[36mCell In[3], line 2\x1b[39m", "..."]})
        2
    """
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.get("traceback", [])))
    found = re.search(r"Cell In\s?\[\d+\], line (\d+)", trace)
    return int(found.group(1)) if found else None


@contextmanager
def threads_per_page(pages: int) -> Iterator[None]:
    """Share the cores between the pages that run at one time; kernels inherit the environment."""
    own = ("PYTHONHASHSEED", "IPYTHONDIR", WORKERS_VARIABLE)
    before = {name: os.environ.get(name) for name in (*THREAD_VARIABLES, *own)}
    share = str(max(1, cores() // max(1, pages)))
    os.environ.update({name: before[name] or share for name in THREAD_VARIABLES})
    profile = tempfile.mkdtemp(prefix="ipython-")
    os.environ.update(
        {"PYTHONHASHSEED": "0", "IPYTHONDIR": profile, WORKERS_VARIABLE: share}
    )  # no set in another order, no user's startup files
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # this environment's kernel, not one of the user's
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        shutil.rmtree(profile, ignore_errors=True)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Progress:
    """Which pages run and how many are done: a line that is redrawn on a terminal, a line a page elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.running = total, 0, dict[str, float]()
        self.live = sys.stdout.isatty()
        self.stopped = False

    def begin(self, docname: str) -> None:
        """A page begins to run."""
        self.running[docname] = time.perf_counter()

    def end(self, docname: str, seconds: float) -> None:
        """A page has run."""
        self.running.pop(docname, None)
        self.done += 1
        clear = "\r\033[K" if self.live else ""
        print(f"{clear}executed [{self.done}/{self.total}] {docname}  {seconds:.1f} s", flush=True)

    def show(self) -> None:
        """Redraw the line of what runs, on a terminal."""
        if self.live and self.running:
            now = time.perf_counter()
            pages = ", ".join(
                f"{name.rsplit('/', 1)[-1]} {now - begun:.0f} s" for name, begun in self.running.items()
            )
            print(f"\r\033[Kexecuting [{self.done}/{self.total}] {pages}", end="", flush=True)

    def close(self) -> None:
        """Take that line away."""
        if self.live and self.total:
            print("\r\033[K", end="", flush=True)
