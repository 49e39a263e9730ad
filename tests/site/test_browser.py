"""The built book as readers open it, in a real browser with no network."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"
PAGES = sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))


def test_the_book_is_built() -> None:
    assert len(PAGES) >= 10, "the book is not built: run `make book` first (`make test` does)"


def open_page(browser: Browser, address: str, *, width: int = 1400, scheme: str = "light"):
    """Open a page with every request to elsewhere refused; return the page and what went wrong."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wrong: list[str] = []

    def route(route) -> None:
        if route.request.url.startswith(("file:", "data:", "http://127.0.0.1:")):
            route.continue_()
        else:
            wrong.append(f"request to {route.request.url}")
            route.abort()

    context.route("**/*", route)
    page = context.new_page()
    page.on(
        "console",
        lambda m: wrong.append(f"console {m.type}: {m.text}") if m.type in ("error", "warning") else None,
    )
    page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
    page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
    page.goto(address)
    page.wait_for_load_state("load")
    return page, wrong


@pytest.mark.parametrize(("width", "schemes"), [(1400, ("light", "dark")), (375, ("dark", "light"))])
@pytest.mark.parametrize("name", [name for name in PAGES if "/" in name])
def test_page_opens_offline_and_fits(
    browser: Browser, html: Path, name: str, width: int, schemes: tuple[str, str]
) -> None:
    """Opened in the first scheme, then turned into the second."""
    page, wrong = open_page(browser, (html / name).as_uri(), width=width, scheme=schemes[0])
    page.wait_for_function("document.readyState === 'complete'")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, scheme
        pictures = page.evaluate(
            "[...document.querySelectorAll('article img')].filter(i => !(i.naturalWidth > 0)).map(i => i.src)"
        )
        assert pictures == [], scheme
    assert wrong == []
    page.context.close()


READ = "book/03-reading/the-read.html"


@pytest.fixture
def reading(browser: Browser, html: Path):
    page, wrong = open_page(browser, (html / READ).as_uri())
    yield page
    assert wrong == []
    page.context.close()


def luminance(page: Page, selector: str, prop: str) -> float:
    """Return the relative luminance (WCAG) of a computed colour."""
    return page.evaluate(
        """([selector, prop]) => {
          const [r, g, b] = getComputedStyle(document.querySelector(selector))[prop].match(/[\\d.]+/g).map(Number);
          const f = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
          return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
        }""",
        [selector, prop],
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_paper(browser: Browser, html: Path, scheme: str) -> None:
    page, _ = open_page(browser, (html / READ).as_uri(), scheme=scheme)
    paper = luminance(page, "body", "backgroundColor")
    assert (paper > 0.8) if scheme == "light" else (paper < 0.05)
    for selector in ("article p", ".evidence-note", ".seal", "article table td", "article figcaption p"):
        ink = luminance(page, selector, "color")
        contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
        assert contrast >= 4.5, f"{selector}: {contrast:.2f}"
    page.context.close()


def test_figures_turn_with_the_theme(browser: Browser, html: Path) -> None:
    """Dark ink on a transparent ground: in dark mode the style sheet must turn its lightness around."""
    filters = {}
    for scheme in ("light", "dark"):
        page, _ = open_page(browser, (html / READ).as_uri(), scheme=scheme)
        style = "e => { const s = getComputedStyle(e); return [s.filter, s.backgroundColor]; }"
        filters[scheme] = page.locator("article img").first.evaluate(style)
        page.context.close()
    assert filters["light"] == ["none", "rgba(0, 0, 0, 0)"]
    assert filters["dark"][0].startswith("invert(")
    assert filters["dark"][1] == "rgba(0, 0, 0, 0)"


def test_seal_tells_its_meaning_on_hover_and_focus(reading: Page) -> None:
    seal = reading.locator(".seal-line .seal").first
    visible = "getComputedStyle(document.querySelector('.seal-line .seal'), '::after').visibility"
    assert reading.evaluate(visible) == "hidden"
    seal.hover()
    assert reading.evaluate(visible) == "visible"
    reading.mouse.move(0, 0)
    reading.keyboard.press("Tab")
    seal.focus()
    assert reading.evaluate(visible) == "visible"
    assert seal.get_attribute("aria-label").startswith("教学构造：")
    seal.click()
    assert reading.url.endswith("appendix/evidence.html#identity-constructed")


def test_ledger_note_leads_to_its_row(reading: Page) -> None:
    reading.locator(".evidence-note a", has_text="3.1-loss").click()
    assert reading.url.endswith("appendix/ledger.html#row-3.1-loss")
    row = reading.locator('[id="row-3.1-loss"]')
    row.wait_for(state="visible")
    assert "0.352840" in row.inner_text()


def test_solution_is_folded_and_opens_by_keyboard(reading: Page) -> None:
    summary = reading.locator("details.hide summary", has_text="参考解答").first
    output = reading.locator("details.hide .output").first
    assert not output.is_visible()
    summary.focus()
    reading.keyboard.press("Enter")
    assert output.is_visible()


def test_filter_shows_one_kind_of_row(browser: Browser, html: Path) -> None:
    page, wrong = open_page(browser, (html / "book" / "appendix" / "ledger.html").as_uri())
    rows = page.locator("tbody tr:visible")
    assert rows.count() == 206
    button = page.locator(".index-filters button", has_text="已核对")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    checked = rows.count()
    assert 25 <= checked < 206
    assert str(checked) in button.inner_text()
    page.locator(".index-filters button", has_text="全部").click()
    assert rows.count() == 206
    assert wrong == []
    page.context.close()


def test_copy_button_takes_commands_only(browser: Browser, server: str) -> None:
    page, wrong = open_page(browser, f"{server}/book/index.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    block = page.locator("div.highlight-console").first
    block.hover()
    block.locator("button.copybtn").click()
    assert page.evaluate("navigator.clipboard.readText()") == "make book\nmake test"
    assert wrong == []
    page.context.close()


def test_outputs_have_no_copy_button(reading: Page) -> None:
    assert reading.locator(".cell_input button.copybtn").count() > 10
    assert reading.locator(".cell_output button.copybtn").count() == 0


def test_theme_button_switches_to_dark(reading: Page) -> None:
    theme = "document.documentElement.dataset.theme"
    seen = {reading.evaluate(theme)}
    for _ in range(3):
        reading.locator(".theme-switch-button:visible").first.click()
        seen.add(reading.evaluate(theme))
    assert seen == {"light", "dark"}


def test_strip_lights_the_units_of_the_step(reading: Page) -> None:
    assert reading.locator(".strip-source .is-active").all_inner_texts() == ["他"]
    assert reading.locator(".strip-target .is-active").all_inner_texts() == ["him"]
    colours = [
        reading.locator(selector).first.evaluate("e => getComputedStyle(e).backgroundColor")
        for selector in (
            ".strip-source .is-active",
            ".strip-target .is-active",
            ".strip-source .strip-tile:not(.is-active)",
        )
    ]
    assert len(set(colours)) == 3


def test_first_page_leads_into_the_book(browser: Browser, html: Path) -> None:
    page, wrong = open_page(browser, (html / "index.html").as_uri())
    assert page.url == (html / "index.html").as_uri(), "the first page is a page, it does not send readers on"
    page.locator(".sd-card:not(.to-come)").first.click()
    page.wait_for_url("**/01-representation/index.html*")
    page.locator("nav.bd-links a", has_text="一次读取").first.wait_for(state="attached")
    assert wrong == []
    page.context.close()
