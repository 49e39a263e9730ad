"""Pages on paper: the text alone, black on white, in the book's own Chinese font."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

PAGES = ("book/index", "book/03-reading/the-read", "book/appendix/ledger")
A4_TEXT = 658  # px: 210 mm less two margins of 18 mm


@pytest.fixture
def dark(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(color_scheme="dark", viewport={"width": A4_TEXT, "height": 930})
    yield context.new_page()
    context.close()


def fonts(pdf: bytes) -> set[str]:
    return {name.decode() for name in re.findall(rb"/BaseFont /[A-Z]{6}\+([\w-]+)", pdf)}


@pytest.mark.parametrize("name", PAGES)
def test_paper_has_the_books_font_from_the_first_print_on(dark: Page, html: Path, name: str) -> None:
    asked: list[str] = []
    dark.on("request", lambda request: asked.append(request.url))
    dark.goto((html / f"{name}.html").as_uri())
    dark.wait_for_load_state("networkidle")
    assert [url for url in asked if url.endswith(".ttf")] == [], "nobody who reads on a screen waits for it"
    used = fonts(dark.pdf(format="A4"))
    assert {"NotoSansSC-Regular", "NotoSansSC-Bold"} <= used
    assert not [font for font in used if re.search("CJK|Songti|PingFang|YaHei|Droid|WenQuanYi", font)], used


def test_without_the_print_style_the_font_is_missing(dark: Page, html: Path) -> None:
    dark.route("**/print.css*", lambda route: route.abort())
    dark.goto((html / "book" / "03-reading" / "the-read.html").as_uri())
    assert "NotoSansSC-Regular" not in fonts(dark.pdf(format="A4"))


@pytest.mark.parametrize("name", PAGES)
def test_paper_shows_the_text_alone_black_on_white(dark: Page, html: Path, name: str) -> None:
    dark.goto((html / f"{name}.html").as_uri())
    dark.emulate_media(media="print")
    assert dark.locator("article h1").first.is_visible()
    for place in (
        ".bd-sidebar-primary",
        ".bd-sidebar-secondary",
        ".bd-header-article",
        ".prev-next-footer",
        ".bd-footer",
    ):
        assert not [part for part in dark.locator(place).all() if part.is_visible()], place
    colours = dark.evaluate(
        """() => [getComputedStyle(document.body).backgroundColor,
                  ...[...document.querySelectorAll('article p, article .highlight span')].map(e => getComputedStyle(e).color)]"""
    )
    assert colours[0] == "rgb(255, 255, 255)"
    light = {colour for colour in colours[1:] if max(map(int, re.findall(r"\d+", colour)[:3])) > 0x9F}
    assert light == set()
    assert dark.evaluate("document.documentElement.scrollWidth") <= A4_TEXT


def test_what_is_folded_is_printed_open_and_folded_again(dark: Page, html: Path) -> None:
    dark.goto((html / "book" / "03-reading" / "the-read.html").as_uri())
    count = "document.querySelectorAll('main details:not([open])').length"
    folded = dark.evaluate(count)
    assert folded > 0
    dark.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert dark.evaluate(count) == 0
    dark.evaluate("dispatchEvent(new Event('afterprint'))")
    assert dark.evaluate(count) == folded
