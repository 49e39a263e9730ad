"""Executing the pages that the cache does not hold, several at once, inside the build.

MyST-NB executes pages one after the other while it reads them. Here all pages that are about to be read are
matched against its own cache first; the misses run in a pool (a kernel is a process of its own, so threads
serve), and the main thread alone writes to the cache. MyST-NB then finds every page there. All failures are
collected and reported together; pages that ran well stay cached.

A page's key (`bookkit.keys`) makes sure that no page keeps an output that other code has made. A cache, or an
entry of it, that cannot be read is thrown away with a line saying so, and the pages are run again.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from bookkit import faults, keys, sources
from bookkit.outputs import output_faults

LOGGER = logging.getLogger(__name__)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


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


def _execute_pages(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    started = time.perf_counter()
    pending = {}
    texts: dict[str, tuple[str, str]] = {}
    failed = False
    for docname in docnames:
        text = ""
        if not env.doc2path(docname).endswith(".md"):
            LOGGER.error("a page of the book is a Markdown file (MyST)", location=(docname, 1))
            failed = True
            continue
        try:
            text = sources.read_page(Path(env.doc2path(docname)))
            reasons = sources.header_faults(text)
            sources.read_cells(text)
            marked = keys.keyed(text, Path(app.srcdir))
        except (
            ValueError
        ) as error:  # no UTF-8, no YAML, a cell that is not closed, a data file that is not there
            reasons = [str(error)]
        for reason in reasons:
            LOGGER.error("%s", reason, location=(docname, 1))
            failed = True
        if reasons:
            continue
        texts[docname] = text, marked
        notebook = _notebook(env, docname, marked)
        cells = [
            cell.source.strip() for cell in (notebook or {"cells": []})["cells"] if cell.cell_type == "code"
        ]
        if cells != [cell.source.strip() for cell in sources.read_cells(text)]:
            reason = "its code cells cannot be told apart from the text: a fence in the text is not closed?"
            LOGGER.error("%s", reason, location=(docname, 1))
            failed = True
        elif notebook is not None and cells:
            pending[docname] = notebook
    app.bookkit_texts = texts  # type: ignore[attr-defined]
    cache = open_cache(Path(env.mystnb_config.execution_cache_path))  # type: ignore[attr-defined]
    misses = _misses(cache, pending, Path(app.srcdir))
    measured = [name for name in misses if _is_measured(pending[name])]
    shared = [name for name in misses if name not in measured]
    progress = _Progress(len(misses))
    for batch, workers in ((shared, _cores()), (measured, 1)):
        with _threads_per_page(min(workers, len(batch) or 1)):
            for run in _pool(app, env, {name: pending[name] for name in batch}, workers, progress):
                if keys.keyed(texts[run.docname][0], Path(app.srcdir)) != texts[run.docname][1]:
                    reason = "code or data that the page uses changed while it ran; build again"
                    LOGGER.error("%s", reason, location=(run.docname, 1))
                    failed = True
                else:
                    failed |= not _keep(cache, env, run)
    progress.close()
    app.bookkit_times = {"execute": time.perf_counter() - started, "executed": len(misses)}  # type: ignore[attr-defined]
    if failed:
        faults.stop(app)


def _notebook(env: BuildEnvironment, docname: str, text: str) -> NotebookNode | None:
    """Return the page as MyST-NB reads it, None where it is a page without cells for it."""
    reader = create_nb_reader(env.doc2path(docname), env.myst_config, env.mystnb_config, text)  # type: ignore[attr-defined]
    return None if reader is None else reader.read(text)


def open_cache(path: Path) -> JupyterCacheAbstract:
    """Open the execution cache, anew where what lies there cannot be read.

    Args:
        path: folder of the cache.
    """
    try:
        cache = get_cache(path)
        cache.list_cache_records()
    except Exception as error:  # whatever sqlite, SQLAlchemy or JSON say of a damaged file
        reason = " ".join(str(error).split())[:120]
        print(f"execution cache cannot be read ({reason}); making a new one", flush=True)
        shutil.rmtree(path, ignore_errors=True)
        cache = get_cache(path)
    return cache


def _misses(cache: JupyterCacheAbstract, notebooks: dict[str, NotebookNode], root: Path) -> list[str]:
    """Return the pages that the cache lacks; an entry that cannot be read or shown is removed from it."""
    misses = []
    for docname, notebook in notebooks.items():
        try:
            record = cache.match_cache_notebook(notebook)
        except KeyError:
            misses.append(docname)
            continue
        try:
            cells = cache.get_cache_bundle(record.pk).nb.cells
            for output in (output for cell in cells for output in cell.get("outputs", [])):
                if output_faults(output, root):
                    raise ValueError("what it holds may not be shown")
        except Exception as error:  # the entry's file is gone or damaged
            print(
                f"cached outputs of {docname} cannot be read ({type(error).__name__}); running it again",
                flush=True,
            )
            cache.remove_cache(record.pk)
            misses.append(docname)
    return misses


def _is_measured(notebook: NotebookNode) -> bool:
    if notebook.metadata.get("identity") == "measured":
        return True
    return any("identity-measured" in cell.metadata.get("tags", []) for cell in notebook.cells)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _threads_per_page(pages: int) -> Iterator[None]:
    """Share the cores between the pages that run at one time; kernels inherit the environment."""
    own = ("PYTHONHASHSEED", "IPYTHONDIR")
    before = {name: os.environ.get(name) for name in (*THREAD_VARIABLES, *own)}
    share = str(max(1, _cores() // max(1, pages)))
    os.environ.update({name: before[name] or share for name in THREAD_VARIABLES})
    profile = tempfile.mkdtemp(prefix="ipython-")
    os.environ.update(
        {"PYTHONHASHSEED": "0", "IPYTHONDIR": profile}
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


def _pool(
    app: Sphinx, env: BuildEnvironment, notebooks: dict[str, NotebookNode], workers: int, progress: _Progress
) -> Iterator[Run]:
    timeout = int(app.config.nb_execution_timeout)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures: set[Future[Run]] = set()
        for docname, notebook in notebooks.items():
            futures.add(pool.submit(_execute, docname, notebook, Path(app.srcdir), timeout, progress))
        try:
            while futures:
                done, futures = wait(futures, timeout=1.0, return_when=FIRST_COMPLETED)
                progress.show()
                for future in done:
                    yield future.result()
        except BaseException:  # Ctrl-C: no further page, and those that run end with their kernels
            progress.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            for child in psutil.Process().children(recursive=True):
                child.kill()
            raise


def _execute(docname: str, notebook: NotebookNode, root: Path, timeout: int, progress: _Progress) -> Run:
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


def _keep(cache: JupyterCacheAbstract, env: BuildEnvironment, run: Run) -> bool:
    """Cache a good run, report a failed one; return whether it was good."""
    if run.failures:
        cells = sources.read_cells(sources.read_page(Path(env.doc2path(run.docname))))
        for failure in run.failures:
            line = failure.fence
            for cell in cells:
                if failure.within and cell.line > line and cell.source.strip() == failure.source.strip():
                    line = cell.line + failure.within - 1
                    break
            LOGGER.error("%s", " ".join(failure.reason.split()), location=(run.docname, line))
        return False
    bundle = CacheBundleIn(run.notebook, env.doc2path(run.docname), data={"execution_seconds": run.seconds})
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return True


class _Progress:
    """Which pages run and how many are done: a line that is redrawn on a terminal, a line a page elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.running = total, 0, dict[str, float]()
        self.live = sys.stdout.isatty()
        self.stopped = False

    def begin(self, docname: str) -> None:
        self.running[docname] = time.perf_counter()

    def end(self, docname: str, seconds: float) -> None:
        self.running.pop(docname, None)
        self.done += 1
        clear = "\r\033[K" if self.live else ""
        print(f"{clear}executed [{self.done}/{self.total}] {docname}  {seconds:.1f} s", flush=True)

    def show(self) -> None:
        if self.live and self.running:
            now = time.perf_counter()
            pages = ", ".join(
                f"{name.rsplit('/', 1)[-1]} {now - begun:.0f} s" for name, begun in self.running.items()
            )
            print(f"\r\033[Kexecuting [{self.done}/{self.total}] {pages}", end="", flush=True)

    def close(self) -> None:
        if self.live and self.total:
            print("\r\033[K", end="", flush=True)


def setup(app: Sphinx) -> None:
    """Register the keys and the pool."""
    app.bookkit_times: dict[str, Any] = {}  # type: ignore[attr-defined,misc]
    app.bookkit_texts: dict[str, tuple[str, str]] = {}  # type: ignore[attr-defined,misc]
    app.connect("env-before-read-docs", _execute_pages)
