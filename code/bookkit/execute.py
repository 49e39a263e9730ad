"""Executing the pages that the cache does not hold, several at once, inside the build.

MyST-NB executes pages one after the other while it reads them. Here all pages that are about to be read are
matched against its own cache first; the misses run in a pool (a kernel is a process of its own, so threads
serve), and the main thread alone writes to the cache. MyST-NB then finds every page there. All failures are
collected and reported together; pages that ran well stay cached.

A page's key (`bookkit.keys`) makes sure that no page keeps an output that other code has made. A cache, or an
entry of it, that cannot be read is thrown away with a line saying so, and the pages are run again.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from bookkit import faults, keys, sources
from bookkit.outputs import output_faults
from bookkit.pool import Progress, Run, cores, run_pages, threads_per_page
from bookkit.schedule import known_seconds, work_of

LOGGER = logging.getLogger(__name__)


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
    known = known_seconds(cache)
    works = {name: work_of(texts[name][0], known.get(env.doc2path(name))) for name in misses}
    progress = Progress(len(misses))
    for batch, workers in ((shared, cores()), (measured, 1)):
        with threads_per_page(min(workers, len(batch) or 1)):
            for run in run_pages(
                {name: pending[name] for name in batch},
                works,
                root=Path(app.srcdir),
                timeout=int(app.config.nb_execution_timeout),
                workers=workers,
                progress=progress,
            ):
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


def setup(app: Sphinx) -> None:
    """Register the keys and the pool."""
    app.bookkit_times: dict[str, Any] = {}  # type: ignore[attr-defined,misc]
    app.bookkit_texts: dict[str, tuple[str, str]] = {}  # type: ignore[attr-defined,misc]
    app.connect("env-before-read-docs", _execute_pages)
