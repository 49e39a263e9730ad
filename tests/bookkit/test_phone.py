"""Wide things on a phone: long inline code, a long formula, a wide table. The page itself never scrolls sideways."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser


@pytest.mark.parametrize("style", [True, False], ids=["with-style", "style-taken-away"])
def test_page_fits_a_phone(browser: Browser, built, style: bool) -> None:
    """Without the book's style sheet the same page is too wide: the check can fail."""
    page = browser.new_page(viewport={"width": 375, "height": 800})
    if not style:
        page.route("**/book.css*", lambda route: route.abort())
    page.goto((built.html / "book" / "index.html").as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert (width <= 375) if style else (width > 375)
