"""What shows a reader that there is more to see or that something was done: shaded edges of tables, copy buttons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator

WIDE = "book/03-reading/alignment.html"  # has tables of eight columns
NARROW = "book/03-reading/scorers.html"  # has tables of two columns
SHADE = "e => getComputedStyle(e).boxShadow"


@pytest.fixture(params=["light", "dark"])
def phone(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 375, "height": 900}, color_scheme=request.param)
    yield context
    context.close()


def table(context: BrowserContext, html: Path, name: str, caption: str) -> Locator:
    page = context.new_page()
    page.goto((html / name).as_uri())
    page.wait_for_load_state("load")
    return page.locator(f'.table-scroll[aria-label*="{caption}"]')


def shades(place: Locator, left: float) -> list[float]:
    """Scroll a table and return the horizontal offsets of its shades, once it has them for that place."""
    place.evaluate("(e, left) => { e.scrollLeft = left; }", left)
    page = place.page
    page.wait_for_function(
        "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true))))"
    )
    found = place.evaluate(SHADE)
    return (
        []
        if found == "none"
        else [float(part.split("px")[0].split()[-1]) for part in found.split("inset")[:-1]]
    )


def test_table_wider_than_the_screen_is_shaded_where_there_is_more(phone: BrowserContext, html: Path) -> None:
    place = table(phone, html, WIDE, "各类词的命中")
    most = place.evaluate("e => e.scrollWidth - e.clientWidth")
    assert most > 40, "this table no longer scrolls: choose a wider one"
    assert shades(place, 0) == [-14]
    assert shades(place, most / 2) == [14, -14]
    assert shades(place, most) == [14]


def test_table_that_fits_has_no_shade(phone: BrowserContext, html: Path) -> None:
    place = table(phone, html, NARROW, "加性打分，十个查询")
    assert place.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    assert shades(place, 0) == []


def test_shade_goes_when_there_is_room_and_on_paper(phone: BrowserContext, html: Path) -> None:
    place = table(phone, html, WIDE, "各类词的命中")
    assert shades(place, 0)
    place.page.emulate_media(media="print")
    assert place.evaluate(SHADE) == "none"
    place.page.emulate_media(media="screen")
    place.page.set_viewport_size({"width": 1400, "height": 900})
    assert shades(place, 0) == []


def test_shade_stands_out_from_the_paper(phone: BrowserContext, html: Path) -> None:
    """Darker than the light paper, lighter than the dark one, by at least a fifth of the way at the edge."""
    place = table(phone, html, WIDE, "各类词的命中")
    colours = place.evaluate(
        """e => [getComputedStyle(e).boxShadow, getComputedStyle(document.body).backgroundColor]
              .map(text => text.match(/rgba?\\(([^)]+)\\)/)[1].split(',').map(Number))"""
    )
    (*ink, share), paper = colours
    step = [share * (i - p) for i, p in zip(ink, paper[:3], strict=True)]
    dark = sum(paper[:3]) < 300
    assert all(s > 50 for s in step) if dark else all(s < -50 for s in step)


def test_copy_button_has_a_chinese_name_and_says_that_it_is_done(browser: Browser, server: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{server}/{NARROW}")
    buttons = page.locator(".cell_input button.copybtn")
    buttons.first.wait_for(state="attached")
    names = buttons.evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    assert len(names) > 10
    assert set(names) == {"复制这段代码"}
    page.locator(".cell_input").first.hover()
    buttons.first.click()
    page.locator('button.copybtn[data-tooltip="复制成功！"]').wait_for(state="attached")
    assert buttons.first.locator("title").text_content() == "复制成功！"
    assert buttons.first.get_attribute("aria-label") == "复制这段代码"
    context.close()
