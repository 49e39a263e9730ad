"""The site at any address: at a domain's root, under a sub-path, opened from a disk.

Every address in a page is relative. What needs more than that is made here: the first page at the root, the page
for addresses that lead nowhere, and, where the setting `html: baseurl:` of `_config.yml` says where the site will
stand, canonical addresses and a sitemap. The variable BOOK_BASEURL overrides that setting, so that a workflow can
publish to an address of its own. `.nojekyll` lets GitHub Pages serve the folders that begin with an underscore.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

from onesentence.sentence.strip import Strip

VARIABLE = "BOOK_BASEURL"
ADDRESS = re.compile(r'(?<=\s)(href|src|action|data-content_root)="([^"]*)"')
ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|[/#?]|$", re.IGNORECASE)
HOST = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]*:[0-9a-f:.]*"
ENDING = re.compile(r"[?#].*|$")


def base_address(text: object) -> str:
    """Return the address of the site as the setting gives it, with a slash at its end; empty stays empty.

    Args:
        text: an address such as `https://example.org/book`.

    Raises:
        ConfigError: if it is not an address on the web, or has a query or a fragment.

    Example:
        >>> base_address("https://example.org/book")
        'https://example.org/book/'
    """
    address = "" if text is None else str(text).strip()
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        known = (
            parts.scheme in ("http", "https")
            and re.fullmatch(HOST, parts.hostname or "") is not None
            and parts.port != 0
            and re.search(r"[?#\s<>\"]", address) is None
        )
    except ValueError:  # a port that is none, a bracket that is not closed
        known = False
    if not known:
        raise ConfigError(
            f"html.baseurl (or {VARIABLE}) is {text!r}: expected https://host/ or https://host/path/"
        )
    return address.rstrip("/") + "/"


def moved(html: str, folder: str) -> str:
    """Return a page with its relative addresses rewritten for the root of the site.

    Args:
        html: the page.
        folder: the folder in which it lay, relative to the root.

    Example:
        >>> moved('<a href="../a.html#b"> <a href="c.html"> <a href="#d">', "book")
        '<a href="a.html#b"> <a href="book/c.html"> <a href="#d">'
    """

    def rewritten(match: re.Match[str]) -> str:
        name, address = match.groups()
        if ABSOLUTE.match(address):
            return match[0]
        ending = ENDING.search(address)
        assert ending is not None
        path = address[: ending.start()]
        target = posixpath.normpath(posixpath.join(folder, path)) + ("/" if path.endswith("/") else "")
        return f'{name}="{target}{ending[0]}"'

    return ADDRESS.sub(rewritten, html)


def sitemap(base: str, pages: Iterable[str], root: str) -> str:
    """Return the sitemap of the book.

    Args:
        base: address of the site, with a slash at its end.
        pages: names of the book's pages.
        root: the name of its first page, which stands at the address of the site.
    """
    addresses = sorted(page_address(base, page, root) for page in pages)
    lines = "".join(f"  <url><loc>{escape(address)}</loc></url>\n" for address in addresses)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{lines}</urlset>\n'
    )


def page_address(base: str, page: str, root: str) -> str:
    """Return the one address under which a page is to be known."""
    return base if page == root else f"{base}{quote(page)}.html"


def _configure(app: Sphinx, config: Config) -> None:
    config.html_baseurl = base_address(os.environ.get(VARIABLE, config.html_baseurl))


def _name(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object) -> None:
    """Give a page of the book its canonical address; other pages have none."""
    base = app.config.html_baseurl
    known = base and pagename in app.env.found_docs
    context["pageurl"] = page_address(base, pagename, app.config.root_doc) if known else None


def _lost(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page for addresses that lead nowhere."""
    if app.builder.name != "html":
        return
    context = {
        "base_path": urlsplit(app.config.html_baseurl).path,
        "book_style": Path(app.outdir, "_static", "css", "book.css").read_text(encoding="utf-8"),
        "strip": Strip().html(),
    }
    yield "404", context, "404.html"


def _finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    root = app.config.root_doc
    if "/" in root:
        page = Path(app.outdir, f"{root}.html").read_text(encoding="utf-8")
        _write(app, "index.html", moved(page, posixpath.dirname(root)))
    _write(app, ".nojekyll", "")
    if app.config.html_baseurl:
        _write(app, "sitemap.xml", sitemap(app.config.html_baseurl, app.env.found_docs, root))
    else:
        Path(app.outdir, "sitemap.xml").unlink(missing_ok=True)


def _write(app: Sphinx, name: str, text: str) -> None:
    draft = Path(app.outdir, f"{name}.part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, draft.with_suffix(""))


def setup(app: Sphinx) -> None:
    """Register the pages and files."""
    app.connect("config-inited", _configure)
    app.connect("html-page-context", _name)
    app.connect("html-collect-pages", _lost)
    app.connect("build-finished", _finish, priority=720)  # after the sweep
