"""What MyST-NB calls while it renders a page: records are collected here.

`EvidenceRenderer` sees every cell of a page, fresh or from the cache, shown or removed. `EvidenceMime` draws
the private outputs of `onesentence.evidence`.
"""

from __future__ import annotations

import difflib
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer

from bookkit.collect import Record, page_of
from bookkit.constants import constant_faults
from bookkit.sources import Cell
from bookkit.unshown import unshown_tables
from onesentence.evidence.emit import MIME
from onesentence.evidence.identity import IDENTITIES

TAGS = (
    *(f"{verb}-{part}" for verb in ("hide", "remove") for part in ("cell", "input", "output")),
    "solution",
    *(f"identity-{key}" for key in IDENTITIES),
)
"""The tags that a cell may have."""


class EvidenceRenderer(NbElementRenderer):  # type: ignore[misc]
    """The notebook renderer of the book, named in `_config.yml` (`nb_render_plugin: bookkit`)."""

    def render_nb_finalise(self, metadata: dict[str, Any]) -> None:
        """Collect the records of all cells and report checks and guards that no computation stands behind."""
        super().render_nb_finalise(metadata)
        client = self.renderer.nb_client
        page = page_of(self.renderer.sphinx_env)
        page.glued = [
            text
            for output in client.glue_data.values()
            for mime, text in output.get("data", {}).items()
            if mime.endswith("text/plain")
        ]
        cells = []
        for index, cell in enumerate(client.notebook.cells):
            if cell.cell_type != "code":
                continue
            line = client.cell_line(index)  # of the first line inside the fence
            page.cells[index] = line - 1
            for reason in tag_faults(cell.metadata.get("tags", [])):
                self.logger.error(reason, line=line - 1, subtype="tag")
            cells.append(Cell(line, cell.source))
            for output in cell.get("outputs", []):
                record = output.get("data", {}).get(MIME)
                if record is not None:
                    page.records.append(Record(line, dict(record)))
        for line, reason in constant_faults(cells):
            self.logger.error(reason, line=line, subtype="constant")
        for line, reason in unshown_tables(cells):
            self.logger.error(reason, line=line, subtype="unshown")


def tag_faults(tags: list[str]) -> list[str]:
    """Return what is wrong with the tags of a cell.

    Example:
        >>> tag_faults(["hide-cel"])
        ["unknown tag 'hide-cel'; nearest: hide-cell"]
        >>> tag_faults(["solution"])
        ['a solution must be folded: add the tag hide-cell']
    """
    if not isinstance(tags, list):
        return [f"tags: expected a list, got {tags!r}"]
    faults = []
    for tag in tags:
        if tag not in TAGS:
            near = difflib.get_close_matches(tag, TAGS, n=1)
            faults.append(
                f"unknown tag {tag!r}; {f'nearest: {near[0]}' if near else 'known are ' + ', '.join(TAGS)}"
            )
    if "solution" in tags and "hide-cell" not in tags:
        faults.append("a solution must be folded: add the tag hide-cell")
    return faults


class EvidenceMime:
    """The MyST-NB plugin that draws the records of guards and ledger rows."""

    mime_priority_overrides = (("*", MIME, 1),)

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        """Return the node for a record, None for any other type."""
        if data.mime_type != MIME:
            return None
        assert isinstance(data.content, dict)
        return [evidence_note(data.content)]


class evidence_note(nodes.General, nodes.Element):
    """A guard or ledger row beside the cell that made it; drawn by `bookkit.markup`."""

    def __init__(self, record: dict[str, Any] | None = None, **attributes: Any) -> None:
        super().__init__(**attributes)
        if record is not None:
            self["record"] = dict(record)
