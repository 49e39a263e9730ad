"""The key of a page: what its outputs depend on besides its own cells.

jupyter-cache matches a page by its cells and its kernel's metadata. The key, a hash of the modules that the page
imports (transitively), of the data files that those declare, of the lock, of Python's version and of CUDA's
presence, is written into the kernel's display name in memory, on the line where it stands in the file: so a
page is run again when one of these changes, and no other page is. Pages whose key changed although their file
did not are named to Sphinx as out of date.
"""

from __future__ import annotations

import ast
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from bookkit import faults, sources
from onesentence.evidence import closure

LOGGER = logging.getLogger(__name__)
MEMORY = "modules.json"
"""File beside the doctrees: what was read of modules, so that a build parses only those that changed."""


def page_imports(text: str) -> set[str]:
    """Return the dotted names that the cells of a page import; a cell that is no Python counts as none.

    Args:
        text: the page.
    """
    names: set[str] = set()
    for cell in sources.read_cells(text):
        try:
            names.update(closure.imported_names(ast.parse(sources.python_of(cell.source))))
        except SyntaxError:
            continue  # executing the cell reports it
    return names


def page_key(text: str, root: Path) -> str:
    """Return the key of a page with code cells.

    Args:
        text: the page.
        root: the book's folder, which holds the lock.

    Raises:
        ClosureError: if a module that the page imports cannot be followed.
    """
    return f"{closure.code_key(page_imports(text))} {closure.environment_key(root)}"


def keyed(text: str, root: Path) -> str:
    """Return a page with its key in the kernel's display name, line for line the same otherwise."""
    if not sources.has_cells(text):
        return text
    return sources.DISPLAY_NAME.sub(lambda match: f"{match.group(1)} ({page_key(text, root)})", text, count=1)


def site_key(root: Path) -> str:
    """Return a hash of what makes the site: this package, what it imports of the other one, style and scripts.

    Args:
        root: the book's folder. Sphinx copies its style sheets and scripts only when it writes a page.
    """
    files = sorted(Path(__file__).parent.glob("*.py"))
    styles = sorted(
        path for kind in ("css", "js") for path in (root / "assets" / kind).glob("*") if path.is_file()
    )
    styles += sorted(Path(__file__).parent.glob("templates/*"))
    names = {name for file in files for name in closure.module_imports(file)}
    return closure.files_key((file.name, file) for file in [*files, *styles]) + closure.code_key(names)


def _set_site_key(app: Sphinx, config: Config) -> None:
    closure.read_memory(Path(app.doctreedir, MEMORY))
    config.bookkit_site_key = site_key(Path(app.srcdir))
    # sphinx_external_toc lists every file of the tree that is no page, in `_build` too, so that the list would
    # differ from build to build and make Sphinx read everything again; only what lies in the book matters, and
    # the folders that `_config.yml` names, which Sphinx need not walk through.
    suffixes = tuple(config.source_suffix)
    config.exclude_patterns = sorted(
        {
            p
            for p in config.exclude_patterns
            if p.startswith(("book/", "**/")) or not ("/" in p or p.endswith(suffixes))
        }
    )


def _known_keys(env: BuildEnvironment) -> dict[str, str]:
    if not hasattr(env, "bookkit_keys"):
        env.bookkit_keys = {}  # type: ignore[attr-defined]
    known: dict[str, str] = env.bookkit_keys  # type: ignore[attr-defined]
    return known


def _outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    known = _known_keys(env)
    for docname in removed:
        known.pop(docname, None)
    outdated = []
    for docname in sorted(env.found_docs):
        try:
            text = sources.read_page(Path(env.doc2path(docname)))
            key = page_key(text, Path(app.srcdir)) if sources.has_cells(text) else ""
        except ValueError as error:
            LOGGER.error("%s", error, location=(docname, 1))
            continue
        if known.get(docname, key) != key and docname not in added | changed:
            outdated.append(docname)
        known[docname] = key
    return outdated


def _check_listed(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Stop where `_toc.yml` names a page that is not there: Sphinx would fall over its table of contents."""
    suffixes = tuple(app.config.source_suffix)
    listed = {
        name.removesuffix(end)
        for name in app.config.external_site_map
        for end in suffixes
        if name.endswith(end)
    }
    listed |= {name for name in app.config.external_site_map if not name.endswith(suffixes)}
    missing = sorted(listed - env.found_docs)
    for name in missing:
        LOGGER.error("_toc.yml names %s, but there is no such page", name)
    if missing:
        faults.stop(app)
    return []


def _keep_memory(app: Sphinx, exception: Exception | None) -> None:
    closure.write_memory(Path(app.doctreedir, MEMORY))


def _insert(app: Sphinx, docname: str, source: list[str]) -> None:
    """Hand Sphinx the text that was executed, with its key."""
    text, marked = app.bookkit_texts.get(docname, (source[0], None))  # type: ignore[attr-defined]
    if text != source[0]:
        LOGGER.error("the page was saved while the book was built; build again", location=(docname, 1))
    source[0] = keyed(text, Path(app.srcdir)) if marked is None else marked


def setup(app: Sphinx) -> None:
    """Register the key with Sphinx."""
    app.add_config_value(
        "bookkit_site_key", "", "env"
    )  # pages are read again, not run again, when it changes
    app.connect("config-inited", _set_site_key, priority=990)
    app.connect("env-get-outdated", _check_listed, priority=100)
    app.connect("env-get-outdated", _outdated)
    app.connect("source-read", _insert)
    app.connect("build-finished", _keep_memory)
