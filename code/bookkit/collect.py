"""What the build knows about each page: records of its cells, outputs with their identity, covered sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector

from onesentence.evidence.ledger import row


@dataclass
class Record:
    """A record that a cell left, and the line of the cell."""

    line: int
    data: dict[str, Any]


@dataclass
class Item:
    """One figure, table or computed value that a page shows.

    Attributes:
        anchor: id on the page.
        identity: key of its identity.
        kind: `figure`, `table` or `value`.
        label: what it is, in words.
        source: `path:line` of what makes it.
    """

    anchor: str
    identity: str
    kind: str
    label: str
    source: str


@dataclass
class Page:
    """Everything collected from one page."""

    records: list[Record] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    covers: dict[str, str] = field(default_factory=dict)  # section id of the course -> label of a heading
    headings: list[tuple[int, str]] = field(default_factory=list)  # line and label, in order
    cells: dict[int, int] = field(default_factory=dict)  # number of a cell -> line of its fence
    glued: list[str] = field(default_factory=list)  # values that `glue` made available to the text
    indexes: list[str] = field(default_factory=list)  # which generated indexes stand on it

    def anchor_at(self, line: int) -> str:
        """Return the label of the heading that a line stands under."""
        anchor = ""
        for heading_line, label in self.headings:
            if heading_line > line:
                break
            anchor = label
        return anchor


def all_pages(env: BuildEnvironment) -> dict[str, Page]:
    """Return the collected pages by document name."""
    if not hasattr(env, "bookkit_pages"):
        env.bookkit_pages = {}  # type: ignore[attr-defined]
    pages: dict[str, Page] = env.bookkit_pages  # type: ignore[attr-defined]
    return pages


def page_of(env: BuildEnvironment, docname: str | None = None) -> Page:
    """Return what is known about a page, by default the one being read."""
    return all_pages(env).setdefault(docname or env.docname, Page())


def index_page(env: BuildEnvironment, kind: str) -> str | None:
    """Return the document that holds the generated index of this kind, if any."""
    return next((name for name, page in sorted(all_pages(env).items()) if kind in page.indexes), None)


def records_by_row(env: BuildEnvironment) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return for each ledger id that a cell checked, guarded or cited: page, anchor, record.

    Where several pages do, the page that covers the row's section counts.
    """
    found: dict[str, tuple[str, str, dict[str, Any]]] = {}
    for docname, page in sorted(all_pages(env).items()):
        for record in page.records:
            row_id = record.data.get("id") or record.data.get("covers")
            if row_id and (row_id not in found or row(row_id).section in page.covers):
                found[row_id] = (docname, page.anchor_at(record.line), record.data)
    return found


def file_name(docname: str, name: str) -> str:
    """Return where a file that a page offers lies in the site.

    Example:
        >>> file_name("book/03-reading/reversal-lab", "diagnosis")
        'book/03-reading/reversal-lab-diagnosis.json'
    """
    return f"{docname}-{name}.json"


def offered_files(env: BuildEnvironment) -> dict[str, Any]:
    """Return the data that pages offer for download, by the place of the file in the site."""
    return {
        file_name(docname, record.data["name"]): record.data["data"]
        for docname, page in sorted(all_pages(env).items())
        for record in page.records
        if record.data["kind"] == "file"
    }


class PageCollector(EnvironmentCollector):
    """Keeps the collected pages in step with the environment."""

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Forget a page that changed or went away."""
        all_pages(env).pop(docname, None)

    def merge_other(
        self, app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment
    ) -> None:
        """Take over what another process read."""
        for docname in docnames:
            if docname in all_pages(other):
                all_pages(env)[docname] = all_pages(other)[docname]

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Do nothing: `bookkit.pages` fills the page."""


def setup(app: Sphinx) -> None:
    """Register the collector."""
    app.add_env_collector(PageCollector)
