"""The generated pages of the appendix: evidence, ledger, coverage, errata.

A directive (`{evidence-index}`, `{ledger-index}`, `{coverage-index}`, `{errata-index}`) leaves a place on the
page; it is filled once all pages are read. Pages with such a place are written again whenever what was
collected has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from bookkit.collect import all_pages, page_of
from bookkit.export import evidence_items, guard_items, ledger_rows, section_coverage
from bookkit.markup import figure_text, seal_html
from onesentence.evidence.identity import IDENTITIES
from onesentence.evidence.ledger import difference, rows, sections

KINDS = {"figure": "图", "table": "表", "value": "值"}
DATA = {kind: f"{kind}.json" for kind in ("evidence", "ledger", "guards", "coverage")}
STATUS = {"checked": "已核对", "cited": "已引用", "open": "待核对"}
Link = Callable[[str, str], str]


class index_place(nodes.General, nodes.Element):
    """Where a generated index will stand."""


class IndexDirective(SphinxDirective):
    """Leaves a place for the index named by the directive."""

    def run(self) -> list[nodes.Node]:
        """Return the place and note which page has it."""
        kind = self.name.removesuffix("-index")
        page_of(self.env).indexes.append(kind)
        return [index_place(kind=kind)]


def evidence_html(env: BuildEnvironment, link: Link) -> str:
    """Return the filterable table of all results."""
    items = evidence_items(env)
    counts = {key: sum(item["identity"] == key for item in items) for key in IDENTITIES}
    buttons = [("", "全部", len(items))] + [
        (key, IDENTITIES[key].name, count) for key, count in counts.items()
    ]
    lines = []
    for item in items:
        where = f'<a href="{escape(link(item["page"], item["anchor"]), quote=True)}">{escape(_title(env, item["page"]))}</a>'
        label = escape(item["label"]) or escape(item["anchor"])
        lines.append(
            f'<tr data-filter="{item["identity"]}"><td>{seal_html(IDENTITIES[item["identity"]])}</td>'
            f"<td>{KINDS[item['kind']]}</td><td>{label}</td><td>{where}</td></tr>"
        )
    return _filters(buttons) + _table("本书全部结果及其身份", ("身份", "类型", "内容", "所在"), lines)


def identities_html(env: BuildEnvironment, link: Link) -> str:
    """Return the explanation of the eight seals."""
    lines = [
        f'<tr id="identity-{i.key}"><td>{seal_html(i)}</td><th scope="row">{i.name}</th><td>{escape(i.meaning)}</td></tr>'
        for i in IDENTITIES.values()
    ]
    return _table("八种身份", ("印", "名称", "读者可以由此知道什么"), lines)


def ledger_html(env: BuildEnvironment, link: Link) -> str:
    """Return the table of all rows of the ledger."""
    exported = ledger_rows(env)
    counts = {key: sum(row["status"] == key for row in exported) for key in STATUS}
    buttons = [("", "全部", len(exported))] + [(key, name, counts[key]) for key, name in STATUS.items()]
    lines = []
    for row in exported:
        entry = rows()[row["id"]]
        name = f"<code>{escape(row['id'])}</code>"
        if row["page"]:
            name = f'<a href="{escape(link(row["page"], row["anchor"]), quote=True)}">{name}</a>'
        gap = difference(row["value"], entry.expected) if row["status"] == "checked" else None
        expected = figure_text(entry.expected)
        if entry.printed is not None:
            expected += f"（误印 {figure_text(entry.printed)}）"
        lines.append(
            f'<tr id="row-{escape(row["id"])}" data-filter="{row["status"]}"><th scope="row">{name}</th>'
            f"<td>{escape(entry.label)}</td><td>{escape(figure_text(row['value']))}</td><td>{escape(expected)}</td>"
            f"<td>{'' if gap is None else f'{gap:.1e}' if gap else '0'}</td><td>{STATUS[row['status']]}</td></tr>"
        )
    head = ("编号", "数值", "本书计算", "课程所载", "相差", "状态")
    return _filters(buttons) + _table("课程的全部数值与本书的核对", head, lines)


def guards_html(env: BuildEnvironment, link: Link) -> str:
    """Return the table of all guards."""
    lines = [
        f'<tr><td>{escape(item["claim"])}</td><td><a href="{escape(link(item["page"], item["anchor"]), quote=True)}">'
        f"{escape(_title(env, item['page']))}</a></td></tr>"
        for item in guard_items(env)
    ]
    return _table("正文里由运行担保的句子", ("断言", "所在"), lines)


def coverage_html(env: BuildEnvironment, link: Link) -> str:
    """Return where each section of the course is covered, chapter by chapter."""
    lines = []
    for section, place in section_coverage(env).items():
        where = "待写"
        if place:
            title = escape(_title(env, place["page"]))
            where = f'<a href="{escape(link(place["page"], place["anchor"]), quote=True)}">{title}</a>'
        lines.append(
            f'<tr data-filter="{"done" if place else "open"}"><th scope="row">{section}</th>'
            f"<td>{escape(str(sections()[section]['topic']))}</td><td>{where}</td></tr>"
        )
    done = sum(place is not None for place in section_coverage(env).values())
    buttons = [("", "全部", len(lines)), ("done", "已写", done), ("open", "待写", len(lines) - done)]
    return _filters(buttons) + _table("课程各节在本书中的位置", ("节", "内容", "所在"), lines)


def errata_html(env: BuildEnvironment, link: Link) -> str:
    """Return the misprints of the course's figures."""
    places = {row["id"]: (row["page"], row["anchor"]) for row in ledger_rows(env)}
    lines = []
    for entry in rows().values():
        if entry.erratum is None:
            continue
        page, anchor = places[entry.id]
        where = (
            f'<a href="{escape(link(page, anchor), quote=True)}">{escape(_title(env, page))}</a>'
            if page
            else "待核对"
        )
        lines.append(
            f'<tr><th scope="row">{entry.section}</th><td>{escape(entry.label)}</td><td>{figure_text(entry.printed)}</td>'
            f"<td>{figure_text(entry.expected)}</td><td>{escape(entry.erratum)}</td><td>{where}</td></tr>"
        )
    return _table("课程数值的误印", ("节", "数值", "所印", "应为", "原因", "核对处"), lines)


INDEXES: dict[str, Callable[[BuildEnvironment, Link], str]] = {
    "evidence": evidence_html,
    "identities": identities_html,
    "ledger": ledger_html,
    "guards": guards_html,
    "coverage": coverage_html,
    "errata": errata_html,
}


def _title(env: BuildEnvironment, docname: str) -> str:
    return env.titles[docname].astext() if docname in env.titles else docname


def _table(caption: str, head: Iterable[str], lines: Iterable[str]) -> str:
    cells = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(lines)
    return (
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{caption}"><table class="table index-table">'
        f"<caption>{caption}</caption><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _filters(buttons: Iterable[tuple[str, str, int]]) -> str:
    parts = [
        f'<button type="button" data-show="{key}" aria-pressed="{"false" if key else "true"}">{name} {count}</button>'
        for key, name, count in buttons
        if count or not key
    ]
    return f'<div class="index-filters" role="group" aria-label="筛选">{"".join(parts)}</div>'


def _fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    def link(page: str, anchor: str) -> str:
        return f"{app.builder.get_relative_uri(docname, page)}#{anchor}"

    for place in list(doctree.findall(index_place)):
        html = INDEXES[place["kind"]](app.env, link)
        if data := DATA.get(place["kind"]):
            html += f'<p class="index-data">同样的内容供程序读取：<a href="{"../" * docname.count("/")}{data}">{data}</a></p>'
        place.replace_self(nodes.raw("", html, format="html"))


def _rewrite_when_changed(app: Sphinx, env: BuildEnvironment) -> list[str]:
    std = env.get_domain("std")
    labels = sorted((name, *map(str, place)) for name, place in {**std.anonlabels, **std.labels}.items())  # type: ignore[attr-defined]
    known = hashlib.sha256(repr(labels).encode()).hexdigest()
    if getattr(env, "bookkit_labels", known) != known:
        # an address or a quoted heading changed: a page that was not read again may name it still
        env.bookkit_labels = known  # type: ignore[attr-defined]
        return sorted(env.found_docs)
    env.bookkit_labels = known  # type: ignore[attr-defined]
    data = [evidence_items(env), ledger_rows(env), guard_items(env), section_coverage(env)]
    titles = {name: title.astext() for name, title in sorted(env.titles.items())}
    snapshot = hashlib.sha256(json.dumps([data, titles], ensure_ascii=False).encode()).hexdigest()
    if getattr(env, "bookkit_snapshot", None) == snapshot:
        return []
    env.bookkit_snapshot = snapshot  # type: ignore[attr-defined]
    return [docname for docname, page in all_pages(env).items() if page.indexes]


def setup(app: Sphinx) -> None:
    """Register one directive per index."""
    app.add_node(index_place)
    for kind in INDEXES:
        app.add_directive(f"{kind}-index", IndexDirective)
    app.connect("doctree-resolved", _fill)
    app.connect("env-updated", _rewrite_when_changed)
