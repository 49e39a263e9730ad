"""What MyST-NB calls while it renders a page: records are collected here, outputs are inspected.

`EvidenceRenderer` sees every cell of a page, fresh or from the cache, shown or removed. `EvidenceMime` draws
the private outputs of `onesentence.evidence`.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from nbformat import NotebookNode

from bookkit.collect import Record, page_of
from bookkit.constants import constant_faults
from bookkit.sources import Cell
from onesentence.evidence.emit import MIME

_ADDRESS = re.compile(r"<[^<>]{0,200}\bat 0x[0-9a-fA-F]{4,}")


class EvidenceRenderer(NbElementRenderer):
    """The notebook renderer of the book, named in `_config.yml` (`nb_render_plugin: bookkit`)."""

    def render_nb_finalise(self, metadata: dict[str, Any]) -> None:
        """Collect the records of all cells and report outputs that must not be published."""
        super().render_nb_finalise(metadata)
        client = self.renderer.nb_client
        page = page_of(self.renderer.sphinx_env)  # type: ignore[union-attr]
        cells = []
        for index, cell in enumerate(client.notebook.cells):
            if cell.cell_type != "code":
                continue
            line = client.cell_line(index)
            cells.append(Cell(line, cell.source))
            for output in cell.get("outputs", []):
                record = output.get("data", {}).get(MIME)
                if record is not None:
                    page.records.append(Record(line, dict(record)))
                for reason in self._output_faults(output):
                    self.logger.error(reason, line=line, subtype="output")
        for line, reason in constant_faults(cells):
            self.logger.error(reason, line=line, subtype="constant")

    def _output_faults(self, output: NotebookNode) -> list[str]:
        if output.output_type == "error":
            return [f"cell failed: {output.ename}: {output.evalue}"]
        if output.output_type == "stream" and output.name == "stderr":
            return [f"cell writes to stderr: {_first_line(output.text)}"]
        text = output.get("text") or output.get("data", {}).get("text/plain") or ""
        text = "".join(text) if isinstance(text, list) else text
        reasons = []
        if "\x1b[" in text or "\r" in text:
            reasons.append("output holds terminal control codes (a progress bar?)")
        if found := _ADDRESS.search(text):
            reasons.append(f"output holds an object's address, which differs in every build: {found.group()[:60]}>")
        for folder in (tempfile.gettempdir(), str(Path.home()), str(self.renderer.sphinx_env.srcdir)):  # type: ignore[union-attr]
            if len(folder) > 1 and re.search(rf"{re.escape(folder)}(?=/|\b)", text):
                reasons.append(f"output holds a path of this machine: {_first_line(text)}")
                break
        return reasons


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:160]


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


class evidence_note(nodes.General, nodes.Element):  # noqa: N801 – docutils names nodes so
    """A guard or ledger row beside the cell that made it; drawn by `bookkit.markup`."""

    def __init__(self, record: dict[str, Any] | None = None, **attributes: Any) -> None:
        super().__init__(**attributes)
        if record is not None:
            self["record"] = dict(record)
