"""What is asked of a page once its outputs have identities: descriptions, records, covered sections."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from bookkit.collect import Page, all_pages
from onesentence.evidence.ledger import agrees, rows, sections

LOGGER = logging.getLogger(__name__)
_ELSEWHERE = re.compile(
    r"<(?:script|img|link|iframe|source|video|audio)\b[^>]*\b(?:src|href)\s*=\s*[\"']?(?:https?:)?//[^\s\"'>]*",
    re.IGNORECASE,
)
_RAW_RESULT = re.compile(r"<(img|table|svg|canvas|iframe|video|object|embed)\b", re.IGNORECASE)
HAN = re.compile(r"[\u3400-\u9fff]")


def line_of(node: nodes.Node) -> int:
    """Return the line of the page that a node stands on."""
    while node is not None:
        if node.line:
            return int(node.line)
        node = node.parent
    return 1


def check_images(docname: str, doctree: nodes.document) -> None:
    """Report pictures without a Chinese description, and anything that another site would be asked for."""
    for raw in doctree.findall(nodes.raw):
        if found := _ELSEWHERE.search(raw.astext()):
            reason = f"the page would ask another site for something: {found.group()}"
            LOGGER.error("%s", reason, location=(docname, line_of(raw)))
    for image in doctree.findall(nodes.image):
        if re.match(r"(https?:)?//", str(image.get("uri", ""))):
            LOGGER.error(
                "the page would ask another site for a picture: %s",
                image["uri"],
                location=(docname, line_of(image)),
            )
        if not HAN.search(image.get("alt", "")):
            uri = str(image.get("uri", "")).rsplit("/", 1)[-1]
            LOGGER.error(
                "figure without a Chinese alternative text: %s (for a cell: `mystnb: image: alt:`)",
                uri,
                location=(docname, line_of(image)),
            )


def check_raw(docname: str, doctree: nodes.document) -> None:
    """Pictures and tables by raw HTML would have no identity and no description."""
    for raw in doctree.findall(nodes.raw):
        if not _in_cell(raw) and _RAW_RESULT.search(raw.astext()):
            reason = "picture or table as raw HTML: use a cell, a figure or a Markdown table"
            LOGGER.error(reason, location=(docname, line_of(raw)))


def _in_cell(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.container) and node.get("nb_element"):
            return True
    return False


def check_records(docname: str, page: Page) -> None:
    """Report records that say no, also where the page swallowed the error, and rows that do not agree after all."""
    offered: set[str] = set()
    for record in page.records:
        data, location = record.data, (docname, record.line)
        if data["kind"] == "file":
            if data["name"] in offered:
                LOGGER.error("offer: the page has two files %r", data["name"], location=location)
            offered.add(data["name"])
        elif data["kind"] == "guard" and data["ok"] is not True:
            LOGGER.error("guard does not hold: 「%s」", data["claim"], location=location)
        elif data["kind"] == "ledger" and data["status"] == "checked":
            entry = rows()[data["id"]]
            if not agrees(data["value"], entry.expected, entry.tolerance, relative=entry.relative):
                LOGGER.error(
                    "%s: computed %s, expected %s", entry.id, data["value"], entry.expected, location=location
                )


def note_covers(docname: str, page: Page, covers: object) -> None:
    """Keep which sections of the course a page claims, and report claims that do not hold."""
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
        elif not isinstance(label, str) or label not in labels:
            LOGGER.error(
                "covers: section %s names the label %r, which no heading here has",
                section,
                label,
                location=(docname, 1),
            )
        else:
            page.covers[section] = str(label)


def check_coverage(app: Sphinx, env: BuildEnvironment) -> None:
    """Report sections that two pages claim, and rows of claimed sections that no cell of the page checks."""
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
