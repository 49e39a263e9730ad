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
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from bookkit import sources
from bookkit.collect import Item, Page, all_pages, page_of
from bookkit.notebook import evidence_note
from onesentence.evidence.identity import IDENTITIES
from onesentence.evidence.ledger import agrees, rows, sections

LOGGER = logging.getLogger(__name__)
_RAW_RESULT = re.compile(r"<(img|table|svg|canvas|iframe|video|object|embed)\b", re.IGNORECASE)
HAN = re.compile(r"[\u3400-\u9fff]")


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

    def static(self, node: nodes.Element, identity: str | None, anchor: str) -> None:
        if identity is None:
            self.fault(
                node,
                "figure or table without identity: set `identity` in the front matter or under the heading",
            )
            return
        self.page.items.append(self.item(node, identity, anchor, _line(node)))
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
        LOGGER.error(reason, location=(self.docname, _line(node)))


def _line(node: nodes.Node) -> int:
    while node is not None:
        if node.line:
            return int(node.line)
        node = node.parent
    return 1


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
    if identity is not None and identity not in IDENTITIES:
        LOGGER.error(
            "identity: unknown %r; known are %s", identity, ", ".join(IDENTITIES), location=(docname, 1)
        )
        identity = None
    _check_images(docname, doctree)
    _check_raw(docname, doctree)
    _check_records(docname, page)
    first = page.headings[0][1] if page.headings else ""
    _Reader(docname, path.relative_to(env.srcdir).as_posix(), page).walk(doctree, identity, first)
    _note_covers(docname, page, matter.get("covers"))


def _check_images(docname: str, doctree: nodes.document) -> None:
    for image in doctree.findall(nodes.image):
        if not HAN.search(image.get("alt", "")):
            uri = str(image.get("uri", "")).rsplit("/", 1)[-1]
            LOGGER.error(
                "figure without a Chinese alternative text: %s (for a cell: `mystnb: image: alt:`)",
                uri,
                location=(docname, _line(image)),
            )


def _check_raw(docname: str, doctree: nodes.document) -> None:
    """Pictures and tables by raw HTML would have no identity and no description."""
    for raw in doctree.findall(nodes.raw):
        if not _in_cell(raw) and _RAW_RESULT.search(raw.astext()):
            reason = "picture or table as raw HTML: use a cell, a figure or a Markdown table"
            LOGGER.error(reason, location=(docname, _line(raw)))


def _in_cell(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.container) and node.get("nb_element"):
            return True
    return False


def _check_records(docname: str, page: Page) -> None:
    """Report records that say no, also where the page swallowed the error, and rows that do not agree after all."""
    for record in page.records:
        data, location = record.data, (docname, record.line)
        if data["kind"] == "guard" and data["ok"] is not True:
            LOGGER.error("guard does not hold: 「%s」", data["claim"], location=location)
        elif data["kind"] == "ledger" and data["status"] == "checked":
            entry = rows()[data["id"]]
            if not agrees(data["value"], entry.expected, entry.tolerance, relative=entry.relative):
                LOGGER.error(
                    "%s: computed %s, expected %s", entry.id, data["value"], entry.expected, location=location
                )


def _note_covers(docname: str, page: Page, covers: object) -> None:
    if covers is None:
        return
    if not isinstance(covers, dict):
        LOGGER.error("covers: expected section ids with labels, got %r", covers, location=(docname, 1))
        return
    labels = {label for _, label in page.headings}
    for section, label in covers.items():
        if not isinstance(section, str):
            LOGGER.error(
                "covers: quote the id of section %r, YAML reads 1.10 as 1.1", section, location=(docname, 1)
            )
        elif section not in sections():
            LOGGER.error("covers: the course has no section %r", section, location=(docname, 1))
        elif label not in labels:
            LOGGER.error(
                "covers: section %s names the label %r, which no heading here has",
                section,
                label,
                location=(docname, 1),
            )
        else:
            page.covers[section] = str(label)


def _check_coverage(app: Sphinx, env: BuildEnvironment) -> None:
    owners: dict[str, str] = {}
    for docname, page in sorted(all_pages(env).items()):
        done = {record.data.get("id") or record.data.get("covers") for record in page.records}
        for section in page.covers:
            if section in owners:
                LOGGER.error(
                    "covers: section %s is claimed by %s too", section, owners[section], location=(docname, 1)
                )
            owners.setdefault(section, docname)
            for row in rows().values():
                if row.section == section and row.check != "cited" and row.id not in done:
                    how = "guarded" if row.check == "property" else "checked"
                    LOGGER.error(
                        "section %s is covered here, but its row %s is not %s",
                        section,
                        row.id,
                        how,
                        location=(docname, 1),
                    )


def setup(app: Sphinx) -> None:
    """Register directive, transform and checks."""
    app.add_node(identity_mark)
    app.add_directive("identity", IdentityDirective)
    app.add_transform(StableAddresses)
    app.connect("doctree-read", _read_page, priority=600)
    app.connect("env-check-consistency", _check_coverage)
