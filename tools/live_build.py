"""A process that has the libraries of a build loaded, and forks one build for each line that it reads.

Loading Sphinx, Jupyter Book and MyST-NB takes longer than building a page whose text has changed. The project's own
packages are not loaded here: each build imports them anew, so that an edit of theirs counts. `tools/live.py` starts
this, writes a line for each build, and reads the build's output up to the line that begins with MARK.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress

MARK = "\0"
LIBRARIES = (
    *(
        "jupyter_book.cli.main",
        "jupyter_book.sphinx",
        "myst_nb.sphinx_ext",
        "myst_nb.core.read",
        "jupyter_cache.cache.main",
    ),
    *(
        "sphinx.builders.html",
        "sphinx.environment.collectors.toctree",
        "sphinx_book_theme",
        "pydata_sphinx_theme",
    ),
    *("sphinx_design", "sphinx_copybutton", "sphinxcontrib.bibtex", "sphinx_external_toc", "nbclient", "bs4"),
    *(
        "sphinx.builders.epub3",
        "sphinx.builders.linkcheck",
        "IPython.core.inputtransformer2",
        "pygments.lexers.python",
    ),
    *("docutils.parsers.rst.languages.zh_cn", "IPython.lib.lexers", "a11y_pygments", "fontTools.subset"),
)


def load() -> None:
    """Import the libraries, those that are there."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)


def build(*command: str) -> None:
    """Run a command of Jupyter Book in this folder and process; does not return."""
    from jupyter_book.cli.main import main

    sys.argv = list(command)
    main()


def serve() -> None:
    """Fork a build for each line of the standard input; after it, write MARK and its exit status."""
    load()
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            build("jupyter-book", "build", "--quiet", ".")
        _, status = os.waitpid(child, 0)
        print(f"{MARK}{os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    serve()
