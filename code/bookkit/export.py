"""The four JSON files beside the site, those that pages offer, and the closing lines of a build.

`evidence.json`  {"items": [{"page", "anchor", "identity", "kind", "label", "source"}]}
`ledger.json`    {"rows": [{"id", "section", "page", "anchor", "value", "expected", "tolerance", "status", "ok"}]}
`guards.json`    {"items": [{"page", "anchor", "claim", "ok"}]}
`coverage.json`  {"sections": {"1.1": {"page", "anchor"} or null}}

A page's own files (`onesentence.evidence.offer`) lie beside it as `<page>-<name>.json`.

`status` is `checked`, `open` (no cell computes or quotes it yet) or `cited`; `ok` is true, false or null.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from bookkit.collect import all_pages, offered_files, records_by_row
from bookkit.faults import fault_log
from onesentence.evidence.ledger import rows, sections


def evidence_items(env: BuildEnvironment) -> list[dict[str, Any]]:
    """Return every figure, table and value of the book with its identity."""
    return [
        {"page": docname, **dataclasses.asdict(item)}
        for docname, page in sorted(all_pages(env).items())
        for item in page.items
    ]


def ledger_rows(env: BuildEnvironment) -> list[dict[str, Any]]:
    """Return all rows of the ledger with what this build computed."""
    found = records_by_row(env)
    exported = []
    for entry in rows().values():
        page, anchor, record = found.get(entry.id, (None, None, {}))
        exported.append(
            {
                "id": entry.id,
                "section": entry.section,
                "page": page,
                "anchor": anchor,
                "value": record.get("value", record.get("ok")),
                "expected": entry.expected,
                "tolerance": entry.tolerance,
                "status": record.get("status", "checked") if record else "open",
                "ok": record.get("ok"),
            }
        )
    return exported


def guard_items(env: BuildEnvironment) -> list[dict[str, Any]]:
    """Return every guard of the book."""
    return [
        {
            "page": docname,
            "anchor": page.anchor_at(record.line),
            "claim": record.data["claim"],
            "ok": record.data["ok"],
        }
        for docname, page in sorted(all_pages(env).items())
        for record in page.records
        if record.data["kind"] == "guard"
    ]


def section_coverage(env: BuildEnvironment) -> dict[str, dict[str, str] | None]:
    """Return for each section of the course where the book covers it, None where it does not yet."""
    covered: dict[str, dict[str, str] | None] = dict.fromkeys(sections())
    for docname, page in sorted(all_pages(env).items()):
        for section, label in page.covers.items():
            covered[section] = {"page": docname, "anchor": label}
    return covered


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    files: dict[str, Any] = {
        "evidence.json": {"items": evidence_items(app.env)},
        "ledger.json": {"rows": ledger_rows(app.env)},
        "guards.json": {"items": guard_items(app.env)},
        "coverage.json": {"sections": section_coverage(app.env)},
        **offered_files(app.env),
    }
    for name, data in files.items():
        target = Path(app.outdir, name)
        draft = target.with_suffix(".part")
        draft.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        os.replace(draft, target)


def _sweep(app: Sphinx, exception: Exception | None) -> None:
    """Take out of the site what is no longer the book's: pages and their files, templates of the theme."""
    if exception is not None or app.builder.name != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        name = path.relative_to(app.outdir).with_suffix("").as_posix()
        if name.startswith("_static/") or ("/" in name and name not in app.env.found_docs):
            path.unlink()
    files = offered_files(app.env)
    for path in Path(app.outdir).rglob("*.json"):
        name = path.relative_to(app.outdir).as_posix()
        if "/" in name and not name.startswith("_") and name not in files:
            path.unlink()


def _start_clock(app: Sphinx) -> None:
    app.bookkit_started = time.perf_counter()  # type: ignore[attr-defined]


def _report(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or fault_log(app).lines or app.builder.format != "html":
        return
    times = app.bookkit_times  # type: ignore[attr-defined]
    total = time.perf_counter() - app.bookkit_started  # type: ignore[attr-defined]
    execute = times.get("execute", 0.0)
    print(
        f"\nexecuted {times.get('executed', 0)} pages in {execute:.1f} s, read and wrote in {total - execute:.1f} s"
        f"\nbook: {Path(app.outdir, 'index.html').as_uri()}",
        flush=True,
    )


def setup(app: Sphinx) -> None:
    """Write the files at the end of a build."""
    app.connect("builder-inited", _start_clock)
    app.connect("build-finished", _write, priority=700)
    app.connect("build-finished", _sweep, priority=710)
    app.connect("build-finished", _report, priority=980)
