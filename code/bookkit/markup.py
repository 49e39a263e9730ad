"""How the book's own nodes become HTML: seals, guards, ledger rows and files to download, folded cells."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from bookkit.collect import file_name, index_page
from bookkit.notebook import evidence_note
from bookkit.pages import seal
from onesentence.evidence.identity import IDENTITIES, Identity
from onesentence.evidence.ledger import Row, row


def seal_html(identity: Identity, link: str = "") -> str:
    """Return a seal: two characters, the name and meaning on hover, focus and for screen readers.

    Args:
        identity: the identity.
        link: address of its explanation; without one the seal is no link but can still be focused.
    """
    tip = escape(f"{identity.name}：{identity.meaning}", quote=True)
    start, end = (
        (f'<a href="{escape(link, quote=True)}"', "a") if link else ('<span tabindex="0" role="img"', "span")
    )
    return (
        f'{start} class="seal seal-{identity.family} seal-{identity.key}" data-tip="{tip}" '
        f'aria-label="{tip}">{identity.seal}</{end}>'
    )


def figure_text(value: Any, digits: int = 6) -> str:
    """Return a figure of the ledger as readers see it.

    Args:
        value: plain data: numbers, text, booleans, lists, mappings.
        digits: decimals at which numbers are rounded.

    Example:
        >>> figure_text([0.4223187982515182, 1.0, True])
        '(0.422319, 1, 是)'
    """
    if isinstance(value, bool):
        return "是" if value else "否"
    if isinstance(value, float):
        if value and (abs(value) < 10.0**-digits or abs(value) >= 1e9):
            return f"{value:.{digits}g}"
        text = f"{value:.{digits}f}"
        if abs(value - round(value, 4)) < 1e-12:  # a short figure is printed short, 0.702690 is not
            text = text.rstrip("0").rstrip(".")
        return "0" if text == "-0" else text.replace("-", "−")
    if isinstance(value, int):
        return str(value).replace("-", "−")
    if isinstance(value, list):
        return "(" + ", ".join(figure_text(item, digits) for item in value) + ")"
    if isinstance(value, dict):
        return "; ".join(f"{key}: {figure_text(item, digits)}" for key, item in value.items())
    return "—" if value is None else str(value)


def _link(translator: HTML5Translator, kind: str, anchor: str) -> str:
    app = translator.builder.app
    target = index_page(app.env, kind)
    if target is None:
        return ""
    return f"{translator.builder.get_relative_uri(translator.builder.current_docname, target)}#{anchor}"


def _visit_seal(translator: HTML5Translator, node: seal) -> None:
    identity = IDENTITIES[node["key"]]
    link = _link(translator, "evidence", f"identity-{identity.key}")
    translator.body.append(f'<div class="seal-line">{seal_html(identity, link)}</div>\n')
    raise nodes.SkipNode


def _visit_note(translator: HTML5Translator, node: evidence_note) -> None:
    record = node["record"]
    if record["kind"] == "file":
        name = file_name(translator.builder.current_docname, record["name"]).rpartition("/")[2]
        translator.body.append(
            f'<div class="evidence-note is-file"><span class="note-mark" aria-hidden="true">↓</span><span>'
            # A browser saves the file when the site is served; where the page itself was opened as a file, it
            # shows it instead: in a tab of its own then, and the note says so.
            f'<span class="note-kind">下载</span><a href="{name}" download target="_blank" rel="noopener">'
            f"{escape(record['label'])}（JSON）</a>（本页若是从硬盘打开的，文件会在新标签页里显示，再另存）"
            f"</span></div>\n"
        )
        raise nodes.SkipNode
    mark = '<span class="note-mark" aria-hidden="true">✓</span>' if record["ok"] is not False else "✗"
    if record["kind"] == "guard":
        body = f'<span class="note-kind">断言</span>{escape(record["claim"])}'
    else:
        body = _ledger_note(record, row(record["id"]), _link(translator, "ledger", f"row-{record['id']}"))
    translator.body.append(
        f'<div class="evidence-note is-{record["kind"]}">{mark}<span>{body}</span></div>\n'
    )
    raise nodes.SkipNode


def _ledger_note(record: dict[str, Any], entry: Row, link: str) -> str:
    name = f"<code>{escape(entry.id)}</code>"
    if link:
        name = f'<a href="{escape(link, quote=True)}">{name}</a>'
    verb = "引用" if record["status"] == "cited" else "核对"
    misprint = f"（原文误印 {figure_text(entry.printed)}）" if entry.printed is not None else ""
    return f'<span class="note-kind">{verb}</span>{name} {escape(entry.label)}：{escape(figure_text(record["value"]))}{misprint}'


def _visit_hidden(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    classes = " ".join(node["classes"])
    translator.body.append(f'<details class="admonition hide {classes}">\n<summary>')
    translator.body.append(f'<span class="collapsed">{escape(node["prompt_show"])}</span>')
    translator.body.append(f'<span class="expanded">{escape(node["prompt_hide"])}</span></summary>\n')


def _depart_hidden(translator: HTML5Translator, node: HideCodeCellNode) -> None:
    translator.body.append("</details>\n")


def _name_folds(app: Sphinx, doctree: nodes.document) -> None:
    """Give folded cells a Chinese summary that says what is inside."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and cell.get("hide_mode"):
            solution = "tag_solution" in cell["classes"]
            cell["prompt_show"] = "展开参考解答（已执行）" if solution else "展开代码"
            cell["prompt_hide"] = "收起参考解答" if solution else "收起代码"


def _skip(translator: Any, node: nodes.Element) -> None:
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the nodes."""
    app.setup_extension("myst_nb")  # registers the node that is drawn differently here
    app.add_node(seal, html=(_visit_seal, None), text=(_skip, None), latex=(_skip, None))
    app.add_node(evidence_note, html=(_visit_note, None), text=(_skip, None), latex=(_skip, None))
    app.add_node(HideCodeCellNode, override=True, html=(_visit_hidden, _depart_hidden))
    app.connect("doctree-read", _name_folds)
