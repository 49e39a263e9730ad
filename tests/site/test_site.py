"""Audits of the built book, file by file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from onesentence.evidence.ledger import rows

HAN = re.compile(r"[\u3400-\u9fff]")
WIDE = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"


def all_pages(html: Path) -> dict[Path, BeautifulSoup]:
    found = {
        p: BeautifulSoup(p.read_text(encoding="utf-8"), "html.parser") for p in sorted(html.rglob("*.html"))
    }
    assert len(found) >= 10
    return found


@pytest.fixture(scope="module")
def soups(html: Path) -> dict[Path, BeautifulSoup]:
    return all_pages(html)


def load(html: Path, name: str):
    return json.loads((html / f"{name}.json").read_text(encoding="utf-8"))


def test_every_link_and_fragment_leads_somewhere(html: Path, soups) -> None:
    ids = {path: {tag["id"] for tag in soup.select("[id]")} for path, soup in soups.items()}
    broken = []
    for path, soup in soups.items():
        for tag in soup.select("a[href], link[href], script[src], img[src]"):
            address = tag.get("href") or tag.get("src")
            parts = urlsplit(address)
            if parts.scheme or address.startswith("//"):
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            fragment = unquote(parts.fragment)
            if not target.exists() or (fragment and target in ids and fragment not in ids[target]):
                broken.append(f"{path.relative_to(html)} -> {address}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(html: Path, soups) -> None:
    remote = []
    for path, soup in soups.items():
        for tag in soup.select(
            "script[src], img[src], iframe[src], link[rel~=stylesheet], link[rel~=preload], source[src]"
        ):
            address = tag.get("src") or tag.get("href")
            if re.match(r"(https?:)?//", address):
                remote.append(f"{path.name}: {address}")
    for path in html.rglob("*.css"):
        if re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", path.read_text(encoding="utf-8")):
            remote.append(path.name)
    assert remote == []


def test_no_foreign_live_code_or_repository(soups) -> None:
    for path, soup in soups.items():
        text = str(soup).lower()
        for word in ("thebe", "mybinder", "binderhub", "executablebooks/jupyter-book", "jupyterhub"):
            assert word not in text, f"{path.name} names {word}"


def test_pages_are_chinese_and_have_no_gaps_in_paragraphs(soups) -> None:
    for path, soup in soups.items():
        if soup.html is None or not soup.select("article"):
            continue
        assert soup.html["lang"] == "zh-CN"
        for tag in soup.select("article p, article li, article h1, article h2, article h3, article td"):
            gap = re.search(rf"{WIDE}\n{WIDE}", tag.get_text())
            assert not gap, f"{path.name}: {tag.get_text()[:60]!r}"


def test_every_picture_is_described_in_chinese(soups) -> None:
    pictures = [(path, image) for path, soup in soups.items() for image in soup.select("article img")]
    assert len(pictures) >= 4
    for path, image in pictures:
        assert HAN.search(image.get("alt", "")), f"{path.name}: {image['src']}"


def test_sections_have_written_addresses(soups) -> None:
    for path, soup in soups.items():
        for section in soup.select("article section"):
            assert re.fullmatch(r"[a-z][a-z0-9-]*", section["id"]), f"{path.name}: {section['id']}"
            assert not re.fullmatch(r"id\d+", section["id"])


def test_titles_name_page_and_book_once(soups) -> None:
    titles = {name: soup.title.get_text() for name, soup in soups.items()}
    assert len(set(titles.values())) >= len(titles) - 1, "home stands at the root and in the book"
    assert [title for title in titles.values() if title.count("一句话：从翻译到注意力") != 1] == []


def test_no_formula_is_left_raw(soups) -> None:
    maths = 0
    for path, soup in soups.items():
        assert not soup.select(".katex-error"), path.name
        for tag in soup.select("article .math"):
            maths += 1
            assert tag.select_one(".katex-html"), f"{path.name}: {tag.get_text()[:40]}"
    assert maths > 10


def test_home_shows_eight_chapters_and_links_only_written_ones(html: Path, soups) -> None:
    home = soups[html / "book" / "index.html"]
    cards = home.select(".sd-card")
    assert len(cards) == 8
    for card in cards:
        to_come = "to-come" in card["class"]
        assert to_come == (card.select_one("a[href]") is None)
        assert to_come == ("待写" in card.get_text())


def test_claimed_sections_are_checked(html: Path) -> None:
    covered = {k for k, place in load(html, "coverage")["sections"].items() if place}
    assert {"1.1", "1.2", "3.1", "3.2", "3.3", "3.5", "3.6"} <= covered
    exported = {row["id"]: row for row in load(html, "ledger")["rows"]}
    owed = [row.id for row in rows().values() if row.section in covered and row.check != "cited"]
    assert len(owed) >= 25
    assert [row_id for row_id in owed if exported[row_id]["ok"] is not True] == []


def test_guards_hold_and_stand_on_their_pages(html: Path, soups) -> None:
    guards = load(html, "guards")["items"]
    assert len(guards) >= 20
    for guard in guards:
        assert guard["ok"] is True
        page = soups[html / f"{guard['page']}.html"]
        assert guard["claim"] in page.get_text()
        assert page.find(id=guard["anchor"]), guard


def test_index_tables_show_what_is_exported(html: Path, soups) -> None:
    appendix = html / "book" / "appendix"
    evidence = soups[appendix / "evidence.html"]
    assert len(evidence.select("tr[data-filter]")) == len(load(html, "evidence")["items"])
    assert len(evidence.select('[id^="identity-"]')) == 8
    assert len(soups[appendix / "ledger.html"].select("tr[data-filter]")) == 206
    assert len(soups[appendix / "coverage.html"].select("tr[data-filter]")) == 129
    errata = soups[appendix / "errata.html"].select_one("table").get_text(" ")
    assert "0.352839" in errata
    assert "0.352840" in errata


def test_every_output_of_a_cell_has_an_item(html: Path, soups) -> None:
    """Count outputs in the pages themselves, so that the collector cannot miss one unseen."""
    items = load(html, "evidence")["items"]
    for path, soup in soups.items():
        page = path.relative_to(html).with_suffix("").as_posix()
        shown = soup.select("article .cell_output > .output, article .cell_output > figure")
        tables = soup.select("article .pst-scrollable-table-container table")
        listed = [item for item in items if item["page"] == page]
        assert len(listed) == len(shown) + len(tables), (
            f"{page}: {len(listed)} items, {len(shown)} outputs, {len(tables)} tables"
        )
        if listed:
            assert soup.select(".seal-line .seal"), f"{page} shows results and no seal"
