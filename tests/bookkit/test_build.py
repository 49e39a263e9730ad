"""What a build of the small book makes: exports, seals, addresses, the same bytes every time."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

SCHEMAS = {
    "evidence": ("items", {"page", "anchor", "identity", "kind", "label", "source"}),
    "ledger": ("rows", {"id", "section", "page", "anchor", "value", "expected", "tolerance", "status", "ok"}),
    "guards": ("items", {"page", "anchor", "claim", "ok"}),
}


def load(book, name: str):
    return json.loads((book.html / f"{name}.json").read_text(encoding="utf-8"))


def soup(book, page: str) -> BeautifulSoup:
    return BeautifulSoup((book.html / "book" / f"{page}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.mark.parametrize("name", SCHEMAS)
def test_export_has_the_documented_keys(built, name: str) -> None:
    top, keys = SCHEMAS[name]
    data = load(built, name)
    assert list(data) == [top]
    assert data[top]
    assert all(set(row) == keys for row in data[top])


def test_evidence_lists_every_output_once_with_its_identity(built) -> None:
    items = [
        (i["page"], i["anchor"], i["identity"], i["kind"], i["label"])
        for i in load(built, "evidence")["items"]
    ]
    assert items == [
        ("book/alpha", "alpha-target", "constructed", "value", "八步"),
        ("book/beta", "fig-beta", "mechanism", "figure", "两根横条。"),
        ("book/beta", "beta-table", "constructed", "table", "两个权重"),
        ("book/index", "fixture-wide", "constructed", "table", "名字甲 / 名字乙"),
    ]


def test_file_that_a_page_offers_lies_beside_it_and_is_linked(built) -> None:
    links = soup(built, "alpha").select("a[download]")
    assert [(link["href"], link.get_text()) for link in links] == [("alpha-steps.json", "八步（JSON）")]
    assert links[0]["target"] == "_blank", "opened from a disk, browsers show the file instead of saving it"
    assert "从硬盘打开" in links[0].parent.get_text()
    data = json.loads((built.html / "book" / "alpha-steps.json").read_text(encoding="utf-8"))
    assert data == {"目标": ["I", "gave", "him", "a", "book", "yesterday", ".", "EOS"], "步数": 8}


def test_evidence_source_names_the_cell_or_the_table(built) -> None:
    for item in load(built, "evidence")["items"]:
        path, line = item["source"].split(":")
        text = (built.root / path).read_text(encoding="utf-8").splitlines()
        if "{code-cell}" not in text[int(line) - 1]:
            assert item["kind"] == "table", f"{item['source']} is no cell"
            assert text[int(line) - 1].startswith("|"), f"{item['source']} is no table"


def test_ledger_has_all_rows_with_value_place_and_status(built) -> None:
    rows = {row["id"]: row for row in load(built, "ledger")["rows"]}
    assert len(rows) == 206
    checked = rows["1.1-target"]
    assert (checked["page"], checked["anchor"]) == ("book/alpha", "alpha-target")
    assert checked["value"] == ["I", "gave", "him", "a", "book", "yesterday", ".", "EOS"]
    assert (checked["status"], checked["ok"]) == ("checked", True)
    assert rows["1.2-units"] | {"expected": 0} == {
        "id": "1.2-units",
        "section": "1.2",
        "page": None,
        "anchor": None,
        "value": None,
        "expected": 0,
        "tolerance": 0,
        "status": "open",
        "ok": None,
    }


def test_record_of_a_removed_output_is_collected(built) -> None:
    row = next(row for row in load(built, "ledger")["rows"] if row["id"] == "3.1-loss")
    assert (row["anchor"], row["ok"]) == ("alpha-other", True)
    assert not soup(built, "alpha").select('.evidence-note a[href*="3.1-loss"]')
    assert soup(built, "alpha").select('.evidence-note a[href*="1.1-target"]')


def test_guards_are_exported_with_their_place(built) -> None:
    assert load(built, "guards")["items"] == [
        {"page": "book/alpha", "anchor": "alpha-target", "claim": "一共八步", "ok": True}
    ]


def test_coverage_has_all_sections(built) -> None:
    sections = load(built, "coverage")["sections"]
    assert len(sections) == 129
    assert {k: v for k, v in sections.items() if v} == {
        "1.1": {"page": "book/alpha", "anchor": "alpha-target"}
    }


def test_seal_is_drawn_once_where_the_identity_changes(built) -> None:
    seals = [seal.get_text() for seal in soup(built, "beta").select(".seal-line .seal")]
    assert seals == ["机制", "构造"]
    seal = soup(built, "beta").select_one(".seal-line .seal")
    assert seal["aria-label"].startswith("机制验证：")
    assert seal["href"] == "index.html#identity-mechanism"


def test_sections_have_the_written_addresses(built) -> None:
    for page, labels in {
        "alpha": ["alpha", "alpha-target", "alpha-other"],
        "index": ["fixture-home", "fixture-wide"],
    }.items():
        ids = [section.get("id") for section in soup(built, page).select("article section")]
        assert ids == labels
        assert not soup(built, page).select('[id^="id"]')


def test_inserted_heading_moves_no_address(book) -> None:
    book.edit("alpha", "(alpha-other)=", "(alpha-new)=\n## 插入的一节\n\n(alpha-other)=")
    status, output = book.build()
    assert status == 0, output
    ids = [section.get("id") for section in soup(book, "alpha").select("article section")]
    assert ids == ["alpha", "alpha-target", "alpha-new", "alpha-other"]


def test_hard_wrapped_chinese_has_no_gap(built) -> None:
    text = soup(built, "index").select_one("article").get_text()
    assert "第一行以中文结尾，第二行接着写；加粗，再一行。公式" in text


def test_closing_mark_stays_with_its_formula_and_long_code_stays_free(built) -> None:
    article = soup(built, "index").select_one("article")
    (kept,) = article.select(".kept")
    assert kept.select_one(".katex") is not None
    assert kept.get_text().endswith("。")
    assert not [code for code in article.select("code") if code.find_parent(class_="kept")]


def test_glue_prints_the_value(built) -> None:
    assert re.search(r"最大的权重是\s*0\.881", soup(built, "beta").get_text())


def test_figure_carries_its_description_and_is_svg(built) -> None:
    image = soup(built, "beta").select_one("figure img")
    assert image["alt"] == "两根横条，上长下短。"
    assert image["src"].endswith(".svg")
    svg = (built.html / "book" / image["src"]).read_text(encoding="utf-8")
    assert "<text" not in svg, "text is drawn as paths, no font is needed"
    assert "<dc:date>" not in svg


def test_formula_is_set_and_asks_for_no_script(built) -> None:
    page = soup(built, "index")
    assert page.select(".math .katex-html")
    assert page.select(".math math"), "MathML for screen readers"
    assert not [
        s["src"]
        for s in page.select("script[src]")
        if "katex" in s["src"].lower() or "mathjax" in s["src"].lower()
    ]


def test_only_listed_pages_are_built(book) -> None:
    stray = {
        "README.md": "```{code-cell}\n1/0\n```\n",
        "book/unlisted.md": "# no label\n",
        "code/notes.md": "# no label\n",
        ".venv/lib/readme.md": "# no label\n",
        ".hidden/readme.md": "# no label\n",
    }
    for name, text in stray.items():
        path = book.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    status, output = book.build()
    assert status == 0, output
    pages = {p.relative_to(book.html).as_posix() for p in book.html.rglob("*.html")}
    assert pages == {
        "index.html",
        "404.html",
        "genindex.html",
        "search.html",
        "book/index.html",
        "book/alpha.html",
        "book/beta.html",
    }


def test_pages_run_alone_in_any_order(book) -> None:
    """A file that one page writes is not there for another: each runs in a folder of its own."""
    book.edit("alpha", 'print("八步")', 'open("left.txt", "w").close(); print("八步")')
    book.edit("beta", "plotting.use_style()", 'plotting.use_style(); open("left.txt").close()')
    status, output = book.build()
    assert status == 1
    assert re.search(r"book/beta\.md:\d+: .*FileNotFoundError", output)
    assert not (book.root / "book" / "left.txt").exists()


def test_two_clean_builds_agree(built, lay, tmp_path: Path) -> None:
    second = lay(tmp_path / "elsewhere")
    status, output = second.build()
    assert status == 0, output
    files = {p.relative_to(built.html) for p in built.html.rglob("*") if p.is_file()}
    assert files == {p.relative_to(second.html) for p in second.html.rglob("*") if p.is_file()}
    differing = [
        str(name)
        for name in sorted(files)
        if (built.html / name).read_bytes() != (second.html / name).read_bytes()
    ]
    assert differing == []
    for path in built.html.rglob("*.html"):
        assert str(built.root) not in path.read_text(encoding="utf-8"), (
            f"{path.name} holds a path of this machine"
        )


def test_killed_build_is_not_continued(book) -> None:
    """A build killed while it writes leaves a marker, so the next one reads everything again."""
    marker = book.root / "_build" / ".doctrees" / "build-incomplete"
    assert not marker.exists()
    marker.touch()
    status, output = book.build()
    assert status == 0, output
    assert "3 added" in output
    assert "executed 0 pages" in output
    assert not marker.exists()


def test_threads_of_kernels_are_the_cores_shared_between_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    from bookkit import pool

    monkeypatch.setattr(pool, "cores", lambda: 8)
    for name in pool.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with pool.threads_per_page(2):
        assert os.environ["OMP_NUM_THREADS"] == "4"
    assert "OMP_NUM_THREADS" not in os.environ
