"""Access: axe finds nothing serious on any page, light and dark; everything can be reached by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
AXE = (ROOT / "tests" / "vendor" / "axe" / "axe.min.js").read_text(encoding="utf-8")
PAGES = sorted(path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))


LOOKS = """() => {
  const seen = new Map(), grounds = new Map();
  const ground = element => {
    if (!element) return '';
    if (!grounds.has(element)) {
      const s = getComputedStyle(element);
      const own = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode, s.position].join();
      const plain = own === 'rgba(0, 0, 0, 0),none,1,none,normal,static';
      grounds.set(element, ground(element.parentElement) + (plain ? '' : '|' + own));
    }
    return grounds.get(element);
  };
  for (const element of document.querySelectorAll('[data-look]')) element.removeAttribute('data-look');
  for (const element of document.body.querySelectorAll('*')) {
    const text = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!(text || element.matches('input, select, textarea'))) continue;
    if (!element.checkVisibility() || element.closest('[aria-hidden=true]')) continue;  // as axe does
    const s = getComputedStyle(element);
    const look = [element.tagName, s.color, s.fontSize, s.fontWeight, s.textShadow, ground(element)].join();
    seen.set(look, (seen.get(look) || 0) + 1);
    if (seen.get(look) <= 2) element.setAttribute('data-look', '');
  }
  axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]});
}"""
"""Mark two texts of every look (ink, size, weight, grounds behind it), and have axe measure the contrast of those.

A page has thousands of texts, formulas and code most of all, in some sixty looks; all of them take axe ten times as long.
"""


def serious(page: Page, *, every_text: bool = False) -> list[str]:
    """Return what axe holds for serious or critical, as `rule: place`."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE)
    page.evaluate("() => axe.reset()" if every_text else LOOKS)
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary'].splitlines()[-1].strip()}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:4]
    ]


ENGLISH = """() => [...document.querySelectorAll('[title], [aria-label], [data-bs-original-title]')]
    .filter(element => !element.closest('article p, article cite, .katex'))
    .flatMap(element => ['title', 'aria-label', 'data-bs-original-title'].map(a => element.getAttribute(a)))
    .filter(text => text && !/[\\u4e00-\\u9fff]/.test(text))"""
"""The names and tips without a Chinese character: Sphinx and the theme know some of their words in English only."""


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_and_names_and_tips_are_chinese(
    browser: Browser, html: Path, name: str
) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    page = context.new_page()
    page.goto((html / name).as_uri())
    page.wait_for_load_state("load")
    found = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        if name == "404.html":  # from the disk it lacks the script that follows the system's scheme
            page.reload()
            page.wait_for_load_state("load")
        else:
            page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        page.evaluate("document.getAnimations().forEach(fading => fading.finish())")
        found[scheme] = serious(page)
    page.set_viewport_size({"width": 900, "height": 900})
    english, words = page.evaluate(ENGLISH), page.inner_text("body")
    context.close()
    assert found == {"light": [], "dark": []}
    assert english == []
    assert "Copyright" not in words


def test_axe_finds_a_planted_fault(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "book" / "index.html").as_uri())
    page.evaluate(
        "document.querySelector('article').insertAdjacentHTML('beforeend', '<img src=\"x.png\"><button></button>')"
    )
    found = serious(page)
    page.close()
    assert {line.split(":")[0] for line in found} >= {"image-alt", "button-name"}


PALE = {
    "a token of a cell": ("article .highlight .kn", "color: #bbb"),
    "the ground of a section": ("article section section", "background: #777"),
    "a figure's caption through a veil": ("article figcaption", "opacity: 0.3"),
    "one cell of a table": ("article td", "color: #aaa"),
    "the contents beside": ("nav.bd-links a.current", "color: #ccc"),
}


def test_pale_text_of_every_kind_is_found_by_its_look(browser: Browser, html: Path) -> None:
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto((html / "book" / "03-reading" / "the-read.html").as_uri())
    for name, (place, style) in PALE.items():
        change = "([place, style]) => { document.querySelector(place).style.cssText += style; }"
        page.evaluate(change, [place, style])
        found = serious(page)
        assert [line for line in found if line.startswith("color-contrast: ")], name
        page.evaluate("place => { document.querySelector(place).style.cssText = ''; }", place)
    assert serious(page, every_text=True) == [], "what is measured text by text is as good"
    page.close()


def test_english_name_is_found(browser: Browser, html: Path) -> None:
    page = browser.new_page()
    page.goto((html / "book" / "index.html").as_uri())
    page.evaluate("document.querySelector('button').setAttribute('aria-label', 'Toggle it')")
    assert page.evaluate(ENGLISH) == ["Toggle it"]
    page.close()


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
