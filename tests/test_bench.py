"""The parts of `make bench` that compute: what builds print, ratios, the table, Lighthouse's reports."""

from __future__ import annotations

import doctest
import gzip
import urllib.error
import urllib.request
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import bare
import bench
import browser
import lighthouse
from bench import Build
from bench_rows import Row

ROOT = Path(__file__).resolve().parents[1]
LOG = """\
executed [1/2] book/a/one  3.7 s
executed [2/2] book/b/two  6.9 s
build succeeded.

executed 2 pages in 7.5 s, read and wrote in 2.2 s
book: file:///book/_build/html/index.html
"""


@pytest.mark.parametrize("module", [bench, lighthouse])
def test_examples_in_docstrings(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_read_log_takes_pages_and_totals() -> None:
    expected = Build(16.1, {"book/a/one": 3.7, "book/b/two": 6.9}, 7.5, 2.2, 11.0)
    assert bench.read_log(LOG, 16.1, 11.0) == expected


def test_read_log_of_a_build_with_nothing_to_do() -> None:
    assert bench.read_log("executed 0 pages in 0.0 s, read and wrote in 1.9 s\n", 6.0).pages == {}


def test_read_log_refuses_what_it_cannot_read() -> None:
    with pytest.raises(ValueError, match=r"log: the line 'executed … pages in … s' .* is missing"):
        bench.read_log("build failed\n", 1.0)
    with pytest.raises(ValueError, match="log: 3 pages executed, but 2 are named"):
        bench.read_log(LOG.replace("executed 2 pages", "executed 3 pages"), 1.0)


def test_the_line_it_reads_is_the_one_that_bookkit_prints() -> None:
    export = (ROOT / "code" / "bookkit" / "export.py").read_text(encoding="utf-8")
    pool = (ROOT / "code" / "bookkit" / "pool.py").read_text(encoding="utf-8")
    assert "pages in {execute:.1f} s, read and wrote in {total - execute:.1f} s" in export
    assert "executed [{self.done}/{self.total}] {docname}  {seconds:.1f} s" in pool


def test_overhead_is_core_seconds_over_page_seconds() -> None:
    assert bench.overhead(Build(10.0, {"a": 4.0, "b": 1.0}), 2) == 4.0
    with pytest.raises(ValueError, match="build: no page was executed"):
        bench.overhead(Build(10.0), 2)


def test_build_rows_compare_medians() -> None:
    cold = Build(16.0, {"a": 4.0, "b": 6.0}, 7.0, 2.0)
    nothing, plain = [Build(w) for w in (6.0, 9.0, 5.0)], [Build(w) for w in (4.0, 3.0, 8.0)]
    rows = {row.what: row for row in bench.build_rows(cold, 2, nothing, plain)}
    assert rows["nothing changed, ratio to bare"].value == 1.5
    assert rows["nothing changed, ratio to bare"].met is True
    assert rows["cold, start and end"].value == 7.0
    assert rows["cold, overhead"].value == 3.2
    assert rows["cold, overhead"].met is False
    assert rows["cold"].met is None


def test_every_goal_belongs_to_a_row() -> None:
    build = Build(4.0, {"a": 1.0})
    rows = [*bench.build_rows(build, 1, [build], [build]), bench.edit_row("text edited", build, 2)]
    rows.append(bench.live_row([3.0, 1.0, 2.0]))
    assert (rows[-1].value, rows[-1].note) == (2.0, "median of 3, 1.0 to 3.0 s")
    assert {row.what for row in rows if row.goal is not None} == set(bench.GOALS)
    assert rows[-2].note == "cpu 0.0 s; 1 of 2 pages ran"


@pytest.mark.parametrize(
    ("value", "least", "met"),
    [(5.0, False, True), (5.1, False, False), (5.0, True, True), (4.9, True, False)],
)
def test_a_goal_is_met_on_its_boundary(value: float, least: bool, met: bool) -> None:
    row = Row("x", value, goal=5.0, least=least)
    assert row.met is met
    assert bench.table([row]).endswith(f"goal {'>=' if least else '<='} 5: {'met' if met else 'NOT MET'}")


def test_edits_have_a_page_and_a_module_to_go_to() -> None:
    page = (ROOT / bench.PAGE).read_text(encoding="utf-8")
    assert (ROOT / bench.MODULE).is_file()
    assert "onesentence.attention.read" in page
    for path in lighthouse.PAGES.values():
        assert (ROOT / path).with_suffix(".md").is_file()


def test_copy_leaves_out_what_was_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("_build/html", ".git", ".venv", "book", "code/one.egg-info"):
        (source / name).mkdir(parents=True)
    (source / "_config.yml").touch()
    monkeypatch.setattr(bench, "ROOT", source)
    bench.copy_book(tmp_path / "copy")
    copied = sorted(str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*"))
    assert copied == ["_config.yml", "book", "code"]


def test_bare_config_takes_bookkit_out_and_nothing_else() -> None:
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    before, after = yaml.safe_load(text), yaml.safe_load(bare.bare_config(text))
    was, now = before["sphinx"]["config"], after["sphinx"]["config"]
    assert now["extensions"] == ["bare", *was["extensions"][1:]]
    assert set(was) - set(now) == {"nb_render_plugin", "html_math_renderer"}
    del before["sphinx"], after["sphinx"]
    assert before == after


def test_bare_copy_carries_the_keys_and_the_cache_but_no_site(tmp_path: Path) -> None:
    book = tmp_path / "book"
    page = book / bench.PAGE
    page.parent.mkdir(parents=True)
    page.write_bytes((ROOT / bench.PAGE).read_bytes())
    for name in ("_config.yml", "requirements.txt"):
        (book / name).write_bytes((ROOT / name).read_bytes())
    for name in ("code", "_build/html", "_build/.jupyter_cache"):
        (book / name).mkdir(parents=True)
    bare.make_bare(book, tmp_path / "bare")
    old, new = page.read_text(encoding="utf-8"), (tmp_path / "bare" / bench.PAGE).read_text(encoding="utf-8")
    changed = [line for line in new.splitlines() if line not in old.splitlines()]
    assert [line.split(" (")[0].strip() for line in changed] == ["display_name: Python 3"]
    assert sorted(path.name for path in (tmp_path / "bare" / "_build").iterdir()) == [".jupyter_cache"]


def report(performance: float | None = 0.9, practices: float = 0.96) -> dict[str, Any]:
    values: dict[str, float | None] = {
        "performance": performance,
        "accessibility": 1,
        "best-practices": practices,
    }
    audits: dict[str, dict[str, Any]] = {
        name: {"numericValue": 1234.0} for name in ("first-contentful-paint", "largest-contentful-paint")
    }
    audits |= {
        "total-blocking-time": {"numericValue": 200.0},
        "cumulative-layout-shift": {"numericValue": 0.0},
    }
    audits |= {"errors-in-console": {"score": 0}, "heading-order": {"score": 1}, "image-alt": {"score": None}}
    links: dict[str, list[dict[str, Any]]] = {
        "performance": [],
        "accessibility": [{"id": "heading-order", "weight": 3}, {"id": "image-alt", "weight": 3}],
        "best-practices": [{"id": "errors-in-console", "weight": 1}],
    }
    categories = {name: {"score": value, "auditRefs": links[name]} for name, value in values.items()}
    return {"categories": categories, "audits": audits, "environment": {"benchmarkIndex": 1500.4}}


def test_scores_are_out_of_a_hundred_and_say_why_they_are_low() -> None:
    rows = lighthouse.score_rows("home", "mobile", report())
    assert [(row.value, row.goal, row.met) for row in rows] == [
        (90.0, 85.0, True),
        (100.0, 100.0, True),
        (96.0, 100.0, False),
    ]
    assert [row.note for row in rows] == ["", "", "errors-in-console"]
    slow = lighthouse.score_rows("home", "desktop", report())[0]
    assert slow.met is False
    assert slow.note == "FCP 1.2 s, LCP 1.2 s, TBT 0.2 s, CLS 0.00, machine 1500"


def test_a_page_that_could_not_be_measured_is_an_error() -> None:
    with pytest.raises(ValueError, match="report: Lighthouse could not measure the page: no first paint"):
        lighthouse.scores(report() | {"runtimeError": {"message": "no first paint"}})
    with pytest.raises(ValueError, match="report: a category has no score"):
        lighthouse.scores(report(performance=None))


def test_without_npm_it_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lighthouse, "node_folder", lambda: tmp_path)
    monkeypatch.setattr(browser, "find_browser", lambda: "/usr/bin/chromium")
    assert lighthouse.measure(tmp_path, tmp_path / "tool") == []
    assert "lighthouse: not measured, npm does not work" in capsys.readouterr().out


def test_server_compresses_text_only_and_keeps_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("no", encoding="utf-8")
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("一句话", encoding="utf-8")
    (site / "dot.png").write_bytes(b"PNG")
    with lighthouse.serving(site) as address:
        for name, encoding in (("", "gzip"), ("dot.png", None)):
            request = urllib.request.Request(address + name, headers={"Accept-Encoding": "gzip"})
            with urllib.request.urlopen(request) as answer:
                assert answer.headers["Content-Encoding"] == encoding
                body = answer.read()
            assert (gzip.decompress(body) if encoding else body) in ("一句话".encode(), b"PNG")
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(address + "%2e%2e/secret.txt")
        caught.value.close()
