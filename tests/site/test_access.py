"""Access: axe finds nothing serious on any page, light and dark; everything can be reached by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
AXE = (ROOT / "tests" / "vendor" / "axe" / "axe.min.js").read_text(encoding="utf-8")
PAGES = sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))


def serious(page: Page) -> list[str]:
    """Return what axe holds for serious or critical, as `rule: place`."""
    page.evaluate(AXE)
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary'].splitlines()[-1].strip()}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:4]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(browser: Browser, html: Path, name: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto((html / name).as_uri())
    page.wait_for_load_state("load")
    found = serious(page)
    context.close()
    assert found == []


def test_axe_finds_a_planted_fault(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "book" / "index.html").as_uri())
    page.evaluate(
        "document.querySelector('article').insertAdjacentHTML('beforeend', '<img src=\"x.png\"><button></button>')"
    )
    found = serious(page)
    page.close()
    assert {line.split(":")[0] for line in found} >= {"image-alt", "button-name"}


def test_keyboard_reaches_the_content_and_shows_where_it_is(browser: Browser, html: Path) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto((html / "book" / "03-reading" / "the-read.html").as_uri())
    seen, outlined = [], 0
    for _ in range(120):
        page.keyboard.press("Tab")
        state = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
                 return [e.tagName + '.' + e.className, s.outlineStyle, e.closest('article') !== null]; }"""
        )
        seen.append(state[0])
        outlined += state[1] != "none"
        if state[2] and "seal" in state[0]:
            break
    else:
        pytest.fail(f"no seal was reached by Tab: {seen}")
    assert outlined >= len(seen) - 2, "focus must be visible"
    page.close()


def test_skip_link_leads_to_the_content(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "book" / "index.html").as_uri())
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.textContent.trim()")
    assert first == "跳转至主要内容", "the first stop is the way past the navigation, in Chinese"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main-content"
    page.close()


def test_names_and_tips_are_chinese(browser: Browser, html: Path) -> None:
    """Sphinx and the theme know some of their words in English only."""
    page = browser.new_page(viewport={"width": 900, "height": 900})
    english = set()
    for name in PAGES:
        page.goto((html / name).as_uri())
        page.wait_for_load_state("load")
        english |= set(
            page.evaluate(
                """() => [...document.querySelectorAll('[title], [aria-label], [data-bs-original-title]')]
                    .filter(element => !element.closest('article p, article cite, .katex'))
                    .flatMap(element => ['title', 'aria-label', 'data-bs-original-title'].map(a => element.getAttribute(a)))
                    .filter(text => text && !/[\\u4e00-\\u9fff]/.test(text))"""
            )
        )
        assert "Copyright" not in page.inner_text("body")
    page.close()
    assert english == set()
