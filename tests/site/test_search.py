"""Search in the built book, in a real browser without a network: every heading, every term, phrases of every page."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
PAGES = sorted(path.relative_to(HTML).as_posix() for path in (HTML / "book").rglob("*.html"))
LATIN = re.compile(r"[A-Za-z0-9]")
PHRASES = 10


def test_the_book_is_built() -> None:
    assert len(PAGES) >= 10, "the book is not built: run `make book` first (`make test` does)"


def is_fault(message: ConsoleMessage) -> bool:
    """Whether a message of the console is about the page; the browser asks every server for a favicon by itself."""
    return message.type in ("error", "warning") and not message.location["url"].endswith("/favicon.ico")


def is_missing(request: Request) -> bool:
    """Whether a request failed for another reason than that the reader went on to the next page meanwhile."""
    return request.failure != "net::ERR_ABORTED"


def open_page(browser: Browser, address: str) -> tuple[Page, list[str]]:
    """Open a page; return it and a list of what goes wrong on it."""
    page = browser.new_context().new_page()
    wrong: list[str] = []
    page.on("console", lambda m: wrong.append(f"{m.text} ({m.location['url']})") if is_fault(m) else None)
    page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
    page.on("requestfailed", lambda r: wrong.append(f"failed: {r.url}") if is_missing(r) else None)
    page.goto(address, wait_until="domcontentloaded")
    return page, wrong


@pytest.fixture(scope="module", params=["file", "http"])
def root(request: pytest.FixtureRequest, html: Path) -> str:
    """The address of the site, from the disk and from a server."""
    return html.as_uri() if request.param == "file" else request.getfixturevalue("server")


@pytest.fixture(scope="module")
def search(browser: Browser, root: str) -> Iterator[Page]:
    page, wrong = open_page(browser, f"{root}/search.html")
    yield page
    assert wrong == []
    page.context.close()


@pytest.fixture(scope="module")
def articles(html: Path) -> dict[str, BeautifulSoup]:
    """What each page prints, read in another way than the index is."""
    found = {}
    for name in PAGES:
        soup = BeautifulSoup((html / name).read_text(encoding="utf-8"), "html.parser")
        article = soup.select_one("article")
        assert article is not None, name
        for tag in article.select(".headerlink, .katex-html, annotation"):
            tag.decompose()
        found[name] = article
    return found


def printed(tag: BeautifulSoup) -> str:
    return " ".join(tag.get_text().split())


def phrases_of(article: BeautifulSoup, name: str) -> list[str]:
    """Draw phrases of 8 to 20 characters from the paragraphs of a page, the same in each run; no Latin word is cut."""
    cut = random.Random(name)
    paragraphs = [text for text in map(printed, article.select("p")) if len(text) >= 8]
    found: set[str] = set()
    for _ in range(2000):
        text = cut.choice(paragraphs)
        start = cut.randrange(len(text) - 7)
        stop = min(len(text), start + cut.randint(8, 20))
        ends = [text[max(0, edge - 1) : edge + 1] for edge in (start, stop)]
        phrase = text[start:stop]
        if phrase == phrase.strip() and not any(len(LATIN.findall(end)) == 2 for end in ends):
            found.add(phrase)
        if len(found) == PHRASES:
            break
    return sorted(found)


def missed(search: Page, wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those queries whose page is not among the results."""
    results = search.evaluate(
        "queries => queries.map(query => BookSearch.find(query).map(one => one.address))",
        [query for query, _ in wanted],
    )
    return [
        (query, page)
        for (query, page), found in zip(wanted, results, strict=True)
        if page not in {address.partition("#")[0] for address in found}
    ]


def test_every_heading_is_found(search: Page, articles: dict[str, BeautifulSoup]) -> None:
    wanted = [(printed(tag), name) for name in PAGES for tag in articles[name].select("h1,h2,h3,h4,h5,h6")]
    assert {name for _, name in wanted} == set(PAGES)
    assert missed(search, wanted) == []


def test_a_heading_leads_to_its_section_first(search: Page, articles: dict[str, BeautifulSoup]) -> None:
    heading = articles["book/03-reading/the-read.html"].select("h2")[1]
    first = search.evaluate("query => BookSearch.find(query)[0].address", printed(heading))
    assert first == f"book/03-reading/the-read.html#{heading.parent['id']}"


def test_every_term_of_the_glossary_is_found_there_first(search: Page, articles) -> None:
    name = "book/appendix/glossary.html"
    terms = {printed(tag): f"{name}#{tag['id']}" for tag in articles[name].select("dl.glossary dt")}
    assert len(terms) >= 35
    headings = {printed(tag) for article in articles.values() for tag in article.select("h1")}
    found = search.evaluate("terms => terms.map(term => BookSearch.find(term)[0]?.address)", list(terms))
    wrong = [
        term
        for term, first in zip(terms, found, strict=True)
        if first != terms[term] and term not in headings
    ]
    assert wrong == []


def test_ten_phrases_of_every_page_are_found(search: Page, articles: dict[str, BeautifulSoup]) -> None:
    wanted = [(phrase, name) for name in PAGES for phrase in phrases_of(articles[name], name)]
    assert len(wanted) == PHRASES * len(PAGES)
    assert missed(search, wanted) == []


@pytest.mark.parametrize(
    "query", ["q'", "F1", "BOS", "softmax", "语言模型", "（token）", "(Token)", "0.352840", "e_{ij}"]
)
def test_words_and_symbols_are_found_and_marked(search: Page, query: str) -> None:
    found = search.evaluate("query => BookSearch.find(query)", query)
    assert found
    assert any(one["match"] for one in found)


def test_nonsense_finds_nothing_and_says_so(search: Page) -> None:
    search.evaluate("BookSearch.performSearch('量子烤面包机')")
    assert search.locator(".search-summary").inner_text().startswith("没有找到“量子烤面包机”")
    assert search.locator("ul.search li").count() == 0


def test_a_page_leads_to_results_and_a_result_to_its_section(browser: Browser, root: str) -> None:
    page, wrong = open_page(browser, f"{root}/book/03-reading/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("凸包就是直线")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/search.html?q={quote('凸包就是直线')}", wait_until="domcontentloaded")
    assert page.locator(".search-summary").inner_text() == "在1页里找到1处。"
    assert page.locator("ul.search li mark").inner_text() == "凸包就是直线"
    assert re.search(r"Search|Prepar|page\(s\)", page.locator("main").inner_text()) is None
    page.locator("ul.search li a").click()
    page.wait_for_url("**/book/03-reading/the-read.html#independent-read", wait_until="commit")
    assert wrong == []
    page.context.close()


def test_only_the_search_page_loads_the_index(html: Path) -> None:
    """Content pages load neither the index nor Sphinx's, which the theme would put on every page."""
    loads = re.compile(r'<script[^>]*src="[^"]*(searchtools|language_data|searchindex|js/search)\.js')
    for name in [*PAGES, "genindex.html"]:
        assert loads.findall((html / name).read_text(encoding="utf-8")) == [], name
    assert loads.findall((html / "search.html").read_text(encoding="utf-8")) == ["searchindex", "js/search"]
    assert not (html / "searchindex.js").exists()


def test_the_index_holds_what_is_printed_and_nothing_that_is_hidden(html: Path) -> None:
    index = (html / "_static" / "searchindex.js").read_text(encoding="utf-8")
    assert "语言模型" in index
    assert "plotting.use_style" not in index  # stands in cells that the pages remove
    assert "\\\\alpha_" not in index  # sources of formulas are not printed
