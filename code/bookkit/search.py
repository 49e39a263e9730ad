"""Search that finds what is printed: the text of every built page, section by section, in `_static/searchindex.js`.

The words of the index are those a reader sees: they are read from the built HTML, so that a phrase is whole where
emphasis, a link or a formula stands in it, a computed table is in, and what a page removes is not. The browser looks
the query up in that text (`assets/js/search.js`); text and query go through the same function there, and Chinese
needs no segmenter that the two sides could disagree about. Everything comes by script tags, on the search page only:
it works from `file://`, with excerpts. Sphinx's own index, which splits Chinese nowhere, is not made.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

INDEX = "_static/searchindex.js"
TEMPLATES = Path(__file__).with_name("templates")
SPHINX_FILES = ("searchindex.js", "_static/searchtools.js", "_static/language_data.js")
SPHINX_SEARCH = re.compile(
    r'<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>\s*'
)

_OWN_STAMP = Path(__file__).stat().st_mtime_ns  # how pages are read may have changed
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
BLOCK = re.compile(
    r"br|hr|p|pre|div|section|aside|[uod]l|li|d[td]|table|caption|t[rdh]|figure|figcaption|details|summary"
    r"|blockquote|h[1-6]"
)
SKIPPED_TAGS = {"annotation", "button", "nav", "noscript", "script", "style", "svg"}
SKIPPED_CLASSES = {"headerlink", "katex-html", "seal-line", "toctree-wrapper"}


class Section:
    """What stands under one heading, one term of the glossary, or one row of a table that can be linked to.

    Args:
        anchor: the id to link to, empty for the page itself.
    """

    def __init__(self, anchor: str) -> None:
        self.anchor = anchor
        self.title: list[str] = []
        self.text: list[str] = []
        self.code: list[str] = []

    def entry(self) -> list[str]:
        """Return anchor, title and text as the index has them: a line for each block, code and output after prose."""
        lines = (" ".join(line.split()) for line in "".join([*self.text, "\n", *self.code]).split("\n"))
        title = " ".join("".join(self.title).split())
        return [self.anchor, title, "\n".join(line for line in lines if line)]


class _PageText(HTMLParser):
    """Collects the sections of the article of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[Section] = []
        self.within: list[Section] = []  # the section we are in, and those around it
        self.open: list[tuple[str, str]] = []  # elements that are open, with what they mean
        self.skipped = 0  # how many of them hide what they hold

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        given = dict(attrs)
        classes = set((given.get("class") or "").split())
        if BLOCK.fullmatch(tag):
            self._add("\n")
        elif "strip-tile" in classes:
            self._add(" ")
        if tag in VOID:
            return
        meaning = ""
        if tag in SKIPPED_TAGS or classes & SKIPPED_CLASSES:
            meaning = "skip"
            self.skipped += 1
        elif tag == "section" and given.get("id"):
            meaning = "section"
            self._enter(given["id"] or "")
        elif tag == "dl" and "glossary" in classes:
            meaning = "glossary"
        elif tag == "dt" and given.get("id") and any(m == "glossary" for _, m in self.open):
            self._leave_term()
            meaning = "term"
            self._enter(given["id"] or "")
        elif tag == "tr" and given.get("id") and self.within:
            meaning = "section"
            self._enter(given["id"] or "")
        elif (tag in HEADINGS and self.within) or (tag in ("th", "td") and self._begins_row()):
            meaning = "title"
        self.open.append((tag, meaning))

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those that were left open in it."""
        if not any(name == tag for name, _ in self.open):
            return
        while self.open:
            name, meaning = self.open.pop()
            self.skipped -= meaning == "skip"
            if meaning == "glossary":
                self._leave_term()
            elif meaning == "section":
                self.within.pop()
            if name == tag:
                break
        if BLOCK.fullmatch(tag):
            self._add("\n")

    def handle_data(self, data: str) -> None:
        """Take text."""
        self._add(data if self._literal() else data.replace("\n", " "))

    def _literal(self) -> bool:
        return any(name == "pre" for name, _ in self.open)

    def _enter(self, anchor: str) -> None:
        section = Section(anchor if self.sections else "")
        self.sections.append(section)
        self.within.append(section)

    def _begins_row(self) -> bool:
        """Whether this cell is the first of a row that has an id."""
        return bool(self.open) and self.open[-1] == ("tr", "section") and not self.within[-1].title

    def _leave_term(self) -> None:
        if self.within and self.within[-1].anchor.startswith("term-"):
            self.within.pop()

    def _add(self, text: str) -> None:
        if self.skipped or not self.within:
            return
        section = self.within[-1]
        if any(meaning in ("title", "term") for _, meaning in self.open):
            section.title.append(text)
        else:
            (section.code if self._literal() else section.text).append(text)


def page_sections(html: str) -> list[list[str]]:
    """Return the sections of a built page in the order of the page: anchor, title and text of each.

    Args:
        html: the page as it was written. Only its `article` is read; the first section's anchor is empty.

    Example:
        >>> page_sections('<article><section id="a"><h1>题<a class="headerlink">#</a></h1><p>一<b>句</b>话。</p>')
        [['', '题', '一句话。']]
    """
    _, start, rest = html.partition("<article")
    parser = _PageText()
    parser.feed((start + rest).partition("</article>")[0])
    parser.close()
    return [section.entry() for section in parser.sections]


def book_index(env: BuildEnvironment, outdir: Path, memory: Path) -> list[list[Any]]:
    """Return the index: for each page in the order of the book its address and its sections.

    Args:
        env: knows the order of the pages.
        outdir: where the pages were written.
        memory: file in which the sections of pages are kept, so that a page is read once after it was written.
    """
    try:
        kept = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    found = {}
    for docname in env.collect_relations():
        page = outdir / f"{docname}.html"
        stamp = [page.stat().st_mtime_ns, page.stat().st_size, _OWN_STAMP]
        before = kept.get(docname)
        same = isinstance(before, list) and len(before) == 2 and before[0] == stamp
        found[docname] = before if same else [stamp, page_sections(page.read_text(encoding="utf-8"))]
    draft = memory.with_suffix(".part")
    draft.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    os.replace(draft, memory)
    return [[f"{docname}.html", sections] for docname, (_, sections) in found.items()]


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the index, all pages being written, and yield the page that searches it."""
    if app.builder.name != "html":
        return
    memory = Path(app.doctreedir, "search.json")
    data = json.dumps(
        book_index(app.env, Path(app.outdir), memory), ensure_ascii=False, separators=(",", ":")
    )
    target = Path(app.outdir, INDEX)
    target.parent.mkdir(exist_ok=True)
    draft = target.with_suffix(".part")
    draft.write_text(f"var bookIndex = {data};\n", encoding="utf-8")
    os.replace(draft, target)
    for name in SPHINX_FILES:
        Path(app.outdir, name).unlink(missing_ok=True)
    yield "search", {}, "search.html"


def _without_sphinx_search(html: str) -> str:
    return SPHINX_SEARCH.sub("", html)


def _page_context(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: object) -> None:
    context["without_sphinx_search"] = _without_sphinx_search
    if name == "search":
        app.add_js_file(Path(INDEX).name, defer="defer")
        app.add_js_file("js/search.js", defer="defer")


def _add_templates(app: Sphinx, config: Config) -> None:
    config.templates_path.append(str(TEMPLATES))


def _replace_search(app: Sphinx) -> None:
    if app.builder.name == "html":
        app.builder.search = False  # type: ignore[attr-defined]


def setup(app: Sphinx) -> None:
    """Replace Sphinx's search by the book's."""
    app.connect("config-inited", _add_templates)
    app.connect("builder-inited", _replace_search)
    app.connect("html-page-context", _page_context)
    app.connect("html-collect-pages", _pages)
