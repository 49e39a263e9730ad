"""The built book at any address: at a domain's root, under a sub-path, opened from a disk; and its 404."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.error import URLError
from urllib.parse import unquote, urldefrag, urljoin
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

SUB_PATH = "/some/sub/path/"
SOURCES = {"a": "href", "link": "href", "script": "src", "img": "src", "form": "action", "source": "src"}
NOT_LINKED = {"404.html"}


class _Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the site as GitHub Pages does a project's: under a path, with its own page for what is missing."""

    prefix = "/"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        inside = path.startswith(self.prefix)
        self.path = "/" + path.removeprefix(self.prefix) if inside else "/nowhere"
        if inside and Path(self.translate_path(self.path)).exists():
            super().do_GET()
            return
        body = Path(self.directory, "404.html").read_bytes() if inside else b"elsewhere"
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def copyfile(self, source, outputfile) -> None:
        if self.command == "GET":
            super().copyfile(source, outputfile)

    def log_message(self, *args: object) -> None:
        pass


class _SubPath(_Pages):
    prefix = SUB_PATH


def _serve(html: Path, handler: type[_Pages]) -> Iterator[str]:
    made = functools.partial(handler, directory=str(html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), made) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{handler.prefix}"
        server.shutdown()


@pytest.fixture(scope="module")
def at_root(html: Path) -> Iterator[str]:
    yield from _serve(html, _Pages)


@pytest.fixture(scope="module")
def under_path(html: Path) -> Iterator[str]:
    yield from _serve(html, _SubPath)


@pytest.fixture(scope="module")
def on_disk(html: Path) -> str:
    return html.as_uri() + "/"


class _Links(HTMLParser):
    """The addresses and the ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if address := values.get(SOURCES.get(tag, "")):
            self.links.append(address)
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}


@functools.cache
def _page(text: str) -> _Links:
    return _Links(text)


def crawl(base: str) -> tuple[set[str], list[str]]:
    """Follow every link from the first page; return the pages met, by their path in the site, and what is broken."""
    seen: dict[str, _Links | None] = {}
    wanted: list[tuple[str, str]] = [("", base + "index.html")]
    broken, fragments = [], []
    while wanted:
        origin, address = wanted.pop()
        address, fragment = urldefrag(address)
        address = address.partition("?")[0]
        if fragment:
            fragments.append((origin, address, unquote(fragment)))
        if address in seen:
            continue
        if not address.startswith(base):
            broken.append(f"{origin} leads out of the site: {address}")
            continue
        seen[address] = None
        try:
            with urlopen(address) as answer:
                data = answer.read()
        except (URLError, OSError) as error:
            broken.append(f"{origin} -> {address}: {error}")
            continue
        if address.endswith((".html", "/")):
            page = seen[address] = _page(data.decode())
            links = [
                link for link in page.links if not link.startswith(("http:", "https:", "data:", "mailto:"))
            ]
            wanted += [(address, urljoin(address, link)) for link in links]
    broken += [
        f"{origin} -> {address}#{fragment}"
        for origin, address, fragment in fragments
        if (page := seen.get(address)) is not None and fragment not in page.ids
    ]
    return {unquote(address.removeprefix(base)) for address, page in seen.items() if page}, broken


@pytest.mark.parametrize("place", ["on_disk", "at_root", "under_path"])
def test_every_link_and_fragment_holds(html: Path, place: str, request: pytest.FixtureRequest) -> None:
    met, broken = crawl(request.getfixturevalue(place))
    assert broken == []
    every = {path.relative_to(html).as_posix() for path in html.rglob("*.html")}
    assert every - met == NOT_LINKED


def test_crawl_notices_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<p id="a"><a href="#a"></a><a href="#b"></a><img src="c.png">')
    _, broken = crawl(tmp_path.as_uri() + "/")
    assert len(broken) == 2
    assert any(line.endswith("index.html#b") for line in broken)
    assert any("c.png" in line for line in broken)


@pytest.mark.parametrize(
    ("missing", "scheme"), [("nowhere", "light"), ("nowhere/", "dark"), ("a/b/c.html", "light")]
)
def test_lost_readers_see_the_book(browser: Browser, under_path: str, missing: str, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme)
    answer = page.goto(under_path + missing)
    assert answer.status == 404
    colours = page.evaluate(
        """() => {
          const probe = document.body.appendChild(document.createElement("i"));
          probe.style.color = "var(--paper)";
          const seen = [getComputedStyle(document.body).backgroundColor, getComputedStyle(probe).color];
          probe.remove();
          return seen;
        }"""
    )
    assert colours == [{"light": "rgb(251, 250, 247)", "dark": "rgb(20, 24, 29)"}[scheme]] * 2
    page.wait_for_selector("html[data-root]")
    assert page.locator("html").get_attribute("data-root") == SUB_PATH
    page.get_by_role("searchbox").fill("注意力")
    page.get_by_role("button", name="搜索").click()
    page.wait_for_url(f"{under_path}search.html?q=*")
    page.goto(under_path + missing)
    page.wait_for_selector("html[data-root]")
    page.get_by_role("link", name="首页").click()
    page.wait_for_url(under_path + "index.html")
    expect(page.locator("article h1")).to_be_visible()
    page.close()


@pytest.mark.parametrize("place", ["on_disk", "under_path"])
def test_home_at_the_root_and_in_the_book_are_one_page(
    browser: Browser, place: str, request: pytest.FixtureRequest
) -> None:
    base = request.getfixturevalue(place)
    page = browser.new_page()
    texts = []
    for name in ("index.html", "book/index.html"):
        page.goto(base + name)
        texts.append(page.locator("article").inner_text())
        page.locator("nav.bd-links li.has-children > a").first.click()
        page.wait_for_url("**/01-representation/index.html")
        page.locator("a.navbar-brand").click()
        page.wait_for_url(base + "book/index.html")
    assert texts[0] == texts[1]
    page.close()


STATE = """() => JSON.stringify([
  document.documentElement.dataset.mode,
  [...document.querySelectorAll("dialog")].map((dialog) => dialog.open),
  document.getElementById("pst-primary-sidebar").className,
])"""


def _buttons(page: Page, within: str) -> int:
    """Click every visible button in a part of the page; return how many there are."""
    buttons = page.locator(f"{within} button:visible")
    count = buttons.count()
    for number in range(count):
        button = buttons.nth(number)
        before = page.evaluate(STATE)
        button.click()
        assert page.evaluate(STATE) != before, f"{button.evaluate('e => e.outerHTML')} does nothing"
        for _ in range(2 if page.evaluate("document.querySelectorAll('dialog[open]').length") else 0):
            page.keyboard.press("Escape")
        if page.evaluate(STATE) != before and "primary-toggle" in button.get_attribute("class"):
            button.click()
    return count


@pytest.mark.parametrize(
    ("width", "header", "sidebar", "name"),
    [(1400, 2, 1, "index.html"), (375, 4, 0, "book/03-reading/the-read.html")],
)
def test_every_button_does_something(
    browser: Browser, on_disk: str, width: int, header: int, sidebar: int, name: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(on_disk + name)
    assert _buttons(page, ".bd-header-article") == header
    assert _buttons(page, ".bd-sidebar-primary") == sidebar
    page.close()


def test_menu_of_a_phone_opens_and_unfolds(browser: Browser, on_disk: str) -> None:
    page = browser.new_page(viewport={"width": 375, "height": 800})
    page.goto(on_disk + "index.html")
    page.locator(".primary-toggle").click()
    menu = page.locator("#pst-primary-sidebar-modal")
    link = menu.get_by_role("link", name="一句话里有多少个决定")
    expect(link).not_to_be_visible()
    menu.locator("summary .toctree-toggle").first.click()
    link.click()
    page.wait_for_url("**/book/01-representation/structure.html")
    page.locator(".secondary-toggle").click()
    contents = page.locator("#pst-secondary-sidebar-modal a").last
    target = contents.get_attribute("href")
    contents.click()
    assert page.url.endswith(target)
    page.close()


def test_button_leads_back_to_the_top(browser: Browser, on_disk: str) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 800})
    page.goto(on_disk + "book/03-reading/the-read.html")
    for place in (3000, 2500):
        page.evaluate(f"scrollTo({{top: {place}, behavior: 'instant'}})")
        page.wait_for_function(f"window.oldScroll === {place}")
    page.locator("#pst-back-to-top").click()
    page.wait_for_function("scrollY === 0")
    page.close()


def test_nothing_points_at_a_place_of_others(html: Path) -> None:
    for path in html.rglob("*.html"):
        text = path.read_text(encoding="utf-8").lower()
        for word in ("ethical-ad", "readthedocs", "plausible.io", "docsearch"):
            assert word not in text, f"{path.name} names {word}"


def test_folders_with_an_underscore_are_published(html: Path) -> None:
    assert (html / ".nojekyll").read_bytes() == b""
