"""What is asked of each page once it is parsed: identities, labels, alternative texts, covered sections.

Identity is inherited: front matter sets it for the page, an `{identity}` directive under a heading for the rest
of that section, a cell's tag `identity-<key>` for the cell. A seal is drawn where the identity changes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from bookkit import sources
from bookkit.checks import check_coverage, check_images, check_raw, check_records, line_of, note_covers
from bookkit.collect import Item, Page, page_of
from bookkit.notebook import evidence_note
from onesentence.evidence.identity import IDENTITIES

LOGGER = logging.getLogger(__name__)


class identity_mark(nodes.Invisible, nodes.Element):
    """Sets the identity for the rest of the section it stands in."""


class seal(nodes.General, nodes.Element):
    """The two-character mark of an identity."""


class IdentityDirective(SphinxDirective):
    """`{identity} mechanism`: what the rest of this section shows has this identity."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the mark, or report an unknown key."""
        key = self.arguments[0]
        if key not in IDENTITIES:
            raise self.error(f"identity: unknown {key!r}; known are {', '.join(IDENTITIES)}")
        return [identity_mark(key=key)]


class StableAddresses(SphinxTransform):
    """Gives each section the address its author wrote, and reports headings without one."""

    default_priority = 870

    def apply(self, **kwargs: object) -> None:
        """Put the label first among the ids and drop the numbered ones."""
        page = page_of(self.env)
        page.headings = []
        for section in self.document.findall(nodes.section):
            title = section.next_node(nodes.title)
            line = (title.line if title is not None else None) or section.line or 1
            types, ids = self.document.nametypes, self.document.nameids
            labels = [ids[name] for name in section["names"] if types.get(name) and ids.get(name)]
            if not labels:
                text = title.astext() if title is not None else ""
                LOGGER.error(
                    "heading without label: %s (write `(label)=` above it)",
                    text,
                    location=(self.env.docname, line),
                )
                continue
            if not re.fullmatch(r"[a-z][a-z0-9-]*", labels[0]):
                LOGGER.error(
                    "label of %r: write it in a-z, 0-9 and -",
                    title.astext() if title is not None else "",
                    location=(self.env.docname, line),
                )
            section["ids"] = labels
            page.headings.append((line, labels[0]))


@dataclass
class _Reader:
    """Walks a page in reading order, assigns identities, inserts seals."""

    docname: str
    path: str
    page: Page
    drawn: str | None = None

    def walk(self, node: nodes.Element, identity: str | None, anchor: str) -> None:
        for child in list(node.children):
            if isinstance(child, identity_mark):
                identity = child["key"]
                node.remove(child)
            elif isinstance(child, nodes.section):
                self.walk(child, identity, child["ids"][0] if child["ids"] else anchor)
            elif isinstance(child, nodes.container) and child.get("nb_element") == "cell_code":
                self.cell(child, identity, anchor)
            elif isinstance(child, nodes.figure | nodes.table | nodes.image):
                if "no-identity" not in child.get("classes", []):
                    self.static(child, identity, anchor)
            elif isinstance(child, nodes.Element):
                self.walk(child, identity, anchor)

    def cell(self, cell: nodes.container, identity: str | None, anchor: str) -> None:
        tags = [c.removeprefix("tag_identity-") for c in cell["classes"] if c.startswith("tag_identity-")]
        if len(tags) > 1 or (tags and tags[0] not in IDENTITIES):
            self.fault(
                cell, f"cell's identity tag: expected one of {', '.join(IDENTITIES)}, got {', '.join(tags)}"
            )
            return
        identity = tags[0] if tags else identity
        promised = (cell.get("cell_metadata") or {}).get("mystnb", {})
        if ("figure" in promised or "image" in promised) and not list(cell.findall(nodes.image)):
            self.fault(cell, "the cell promises a figure and shows none: end it with `plotting.show(figure)`")
        drawn = self.drawn
        outputs = [
            c
            for c in cell.children
            if isinstance(c, nodes.container) and c.get("nb_element") == "cell_code_output"
        ]
        for output in outputs:
            shown = [part for part in output.children if not _is_note(part)]
            if not shown:
                continue
            if identity is None:
                self.fault(
                    cell,
                    "output without identity: set `identity` in the front matter, under the heading or by a tag",
                )
                continue
            for part in shown:
                self.page.items.append(self.item(part, identity, anchor, self.page.cells[cell["cell_index"]]))
            self.draw(output, 0, identity)
        if cell.get("hide_mode"):
            self.drawn = drawn  # a seal inside a fold is not seen by those who do not open it

    def static(self, node: nodes.Element, identity: str | None, anchor: str) -> None:
        if identity is None:
            self.fault(
                node,
                "figure or table without identity: set `identity` in the front matter or under the heading",
            )
            return
        self.page.items.append(self.item(node, identity, anchor, line_of(node)))
        assert isinstance(node.parent, nodes.Element)
        self.draw(node.parent, node.parent.index(node), identity)

    def draw(self, parent: nodes.Element, position: int, identity: str) -> None:
        if identity != self.drawn:
            parent.insert(position, seal(key=identity))
            self.drawn = identity

    def item(self, node: nodes.Node, identity: str, anchor: str, line: int) -> Item:
        kind, label = _describe(node)
        if isinstance(node, nodes.figure) and node["ids"]:
            anchor = node["ids"][0]
        return Item(anchor, identity, kind, label, f"{self.path}:{line}")

    def fault(self, node: nodes.Element, reason: str) -> None:
        LOGGER.error(reason, location=(self.docname, line_of(node)))


def _is_note(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and next(iter(node.findall(evidence_note)), None) is not None


def _describe(node: nodes.Node) -> tuple[str, str]:
    """Return kind and label of something shown."""
    assert isinstance(node, nodes.Element)
    caption = next(iter(node.findall(nodes.caption)), None)
    image = next(iter(node.findall(nodes.image)), None)
    if image is not None:
        return "figure", caption.astext() if caption is not None else image.get("alt", "")
    if isinstance(node, nodes.table):
        title = next(iter(node.findall(nodes.title)), None)
        head = " / ".join(
            entry.astext() for entry in next(iter(node.findall(nodes.row))).findall(nodes.entry)
        )
        return "table", title.astext() if title is not None else head
    for raw in node.findall(nodes.raw):
        soup = BeautifulSoup(raw.astext(), "html.parser")
        if soup.find("table"):
            found = soup.find("caption")
            return "table", found.get_text() if found else ""
        if (described := soup.select_one("[aria-label]")) is not None:
            return "figure", str(described["aria-label"])
    text = " ".join(node.astext().split())
    return "value", text if len(text) <= 60 else text[:59] + "…"


def _read_page(app: Sphinx, doctree: nodes.document) -> None:
    env = app.env
    docname = env.docname
    path = Path(env.doc2path(docname))
    text = sources.read_page(path)
    page = page_of(env, docname)
    page.items = []
    matter = sources.front_matter(text)  # known to be readable: `bookkit.execute` looked
    identity = matter.get("identity")
    if identity is not None and (not isinstance(identity, str) or identity not in IDENTITIES):
        LOGGER.error(
            "identity: unknown %r; known are %s", identity, ", ".join(IDENTITIES), location=(docname, 1)
        )
        identity = None
    check_images(docname, doctree)
    check_raw(docname, doctree)
    check_records(docname, page)
    first = page.headings[0][1] if page.headings else ""
    _Reader(docname, path.relative_to(env.srcdir).as_posix(), page).walk(doctree, identity, first)
    note_covers(docname, page, matter.get("covers"))


def setup(app: Sphinx) -> None:
    """Register directive, transform and checks."""
    app.add_node(identity_mark)
    app.add_directive("identity", IdentityDirective)
    app.add_transform(StableAddresses)
    app.connect("doctree-read", _read_page, priority=600)
    app.connect("env-check-consistency", check_coverage)
