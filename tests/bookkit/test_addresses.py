"""The address of the site, given by one setting: canonical addresses, sitemap, the page for what is missing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.errors import ConfigError

from bookkit import site
from bookkit.site import base_address, moved, sitemap

BASE = "https://example.org/the/book/"


def canonical(book) -> dict[str, str | None]:
    found = {}
    for path in sorted(book.html.rglob("*.html")):
        link = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select_one(
            "link[rel=canonical]"
        )
        found[path.relative_to(book.html).as_posix()] = link and link["href"]
    return found


def test_site_without_an_address_names_none(built) -> None:
    assert set(canonical(built).values()) == {None}
    assert len(canonical(built)) == 7
    assert not (built.html / "sitemap.xml").exists()
    lost = (built.html / "404.html").read_text(encoding="utf-8")
    assert "<base" not in lost
    assert "找不到" in lost


def test_site_with_an_address_names_it(book, monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting gives it; a variable that is empty takes it away from the next build."""
    monkeypatch.delenv("BOOK_BASEURL", raising=False)
    path = book.root / "_config.yml"
    text = path.read_text(encoding="utf-8")
    assert text.count('baseurl: ""') == 1
    path.write_text(text.replace('baseurl: ""', f'baseurl: "{BASE}"'), encoding="utf-8")
    status, output = book.build()
    assert status == 0, output
    assert "executed 0 pages" in output
    assert canonical(book) == {
        "index.html": BASE,
        "book/index.html": BASE,
        "book/alpha.html": f"{BASE}book/alpha.html",
        "book/beta.html": f"{BASE}book/beta.html",
        "404.html": None,
        "genindex.html": None,
        "search.html": None,
    }
    urls = ET.parse(book.html / "sitemap.xml").getroot()
    assert [url[0].text for url in urls] == [BASE, f"{BASE}book/alpha.html", f"{BASE}book/beta.html"]
    assert '<base href="/the/book/" />' in (book.html / "404.html").read_text(encoding="utf-8")
    monkeypatch.setenv("BOOK_BASEURL", "")
    status, output = book.build()
    assert status == 0, output
    assert set(canonical(book).values()) == {None}
    assert not (book.html / "sitemap.xml").exists()


@pytest.mark.parametrize(
    ("variable", "expected"), [(None, "https://a.org/"), ("https://b.org", "https://b.org/"), ("", "")]
)
def test_variable_overrides_the_setting(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, expected: str
) -> None:
    monkeypatch.delenv(site.VARIABLE, raising=False)
    if variable is not None:
        monkeypatch.setenv(site.VARIABLE, variable)
    config = SimpleNamespace(html_baseurl="https://a.org")
    site._configure(None, config)
    assert config.html_baseurl == expected


@pytest.mark.parametrize(
    "text",
    [
        *("example.org/book", "ftp://example.org", "https:///book", "https://example.org/?a", "/book/"),
        *("https://example.org/?", "https://example.org/#", "https://exa mple.org/", "https://[::1"),
        *("https://example.org:port/", "https://example.org:99999/", 123, "https://a.org/<b>"),
    ],
)
def test_address_that_is_none_is_refused(text: object) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"is {text!r}: expected https://host/")):
        base_address(text)


@pytest.mark.parametrize("text", ["https://example.org", "https://example.org/", " https://example.org// "])
def test_address_ends_with_one_slash(text: str) -> None:
    assert base_address(text) == "https://example.org/"
    assert base_address("") == base_address(None) == ""
    assert base_address("http://127.0.0.1:8000/x") == "http://127.0.0.1:8000/x/"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<a href="../_static/a.css?v=1">', '<a href="_static/a.css?v=1">'),
        ('<a href="b/c.html#d">', '<a href="book/b/c.html#d">'),
        ('<html data-content_root="../">', '<html data-content_root="./">'),
        ('<form action="../search.html">', '<form action="search.html">'),
        ('<a href="#top">', '<a href="#top">'),
        ('<a href="https://a.org/b">', '<a href="https://a.org/b">'),
        ('<link href="data:image/svg+xml,x">', '<link href="data:image/svg+xml,x">'),
        ('<p>a data-tip="b"</p>', '<p>a data-tip="b"</p>'),
    ],
)
def test_moved_rewrites_relative_addresses_only(old: str, new: str) -> None:
    assert moved(old, "book") == new


def test_sitemap_escapes_addresses() -> None:
    assert "<loc>https://a.org/b%26c.html</loc>" in sitemap("https://a.org/", ["b&c"], "home")


def test_first_page_is_at_the_root_of_the_site(built) -> None:
    pages = [built.html / "index.html", built.html / "book" / "index.html"]
    root, inner = (BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in pages)
    assert root.select_one("article").get_text() == inner.select_one("article").get_text()
    assert root.html["data-content_root"] == "./"
    assert not root.select('meta[http-equiv="Refresh"]')
