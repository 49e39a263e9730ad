"""Chinese typography of the built pages.

A line break inside a Chinese paragraph of the source would become a gap on the page: it is taken out. A closing mark
behind a formula or a piece of code stays on its line: browsers see a box there, and may break after it. Emphasis
marks that Markdown did not recognise (they touch Chinese punctuation) are reported.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
CLOSING = re.compile(r"[，。；：、？！）」』”’》〉】]+")
LONGEST = 24  # characters of a formula's or a code's source
WIDE = re.compile(r"[\u2014\u2018-\u201d\u2026\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")


class JoinChineseLines(SphinxTransform):
    """Removes soft breaks between two Chinese characters."""

    default_priority = 860

    def apply(self, **kwargs: object) -> None:
        """Join the lines of every paragraph, heading and cell of a table."""
        for text in list(self.document.findall(nodes.Text)):
            if "\n" not in text or _is_literal(text):
                continue
            before, after = _neighbour(text, -1), _neighbour(text, +1)
            joined = _join(before + text + after)
            joined = joined[len(before) : len(joined) - len(after)]
            if joined != text:
                text.parent.replace(text, nodes.Text(joined))


class KeepClosingMarks(SphinxTransform):
    """Puts a formula or code and the closing mark behind it into one piece that is not broken."""

    default_priority = 870

    def apply(self, **kwargs: object) -> None:
        """Join each short box with its mark; a longer one must be free to break inside."""
        for box in list(self.document.findall(lambda n: isinstance(n, nodes.math | nodes.literal))):
            parent, position = box.parent, box.parent.index(box)
            after: Any = parent[position + 1] if position + 1 < len(parent) else None
            marks = CLOSING.match(after.astext()) if type(after) is nodes.Text else None
            if marks is None or len(box.astext()) > LONGEST or not isinstance(parent, nodes.TextElement):
                continue
            kept = nodes.inline("", "", classes=["kept"])
            # by place: two texts of one paragraph may be equal, and `replace` looks for the first that is
            parent[position + 1] = nodes.Text(after[marks.end() :])
            parent[position] = kept
            kept += [box, nodes.Text(marks.group())]


def _join(text: str) -> str:
    return re.sub(rf"(?<={WIDE.pattern})\n(?={WIDE.pattern})", "", text)


def _neighbour(text: nodes.Text, step: int) -> str:
    """Return the character beside a text within its paragraph, empty at the ends."""
    node: Any = text
    while isinstance(node.parent, nodes.Inline) or node is text:
        position = node.parent.index(node) + step
        if 0 <= position < len(node.parent):
            beside: str = node.parent[position].astext()
            return (beside[-1:] if step < 0 else beside[:1]).replace("\n", " ")
        if not isinstance(node.parent, nodes.Inline):
            break
        node = node.parent
    return ""


def _is_literal(node: nodes.Node) -> bool:
    kinds = nodes.literal | nodes.literal_block | nodes.math | nodes.math_block | nodes.raw | nodes.comment
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def _report_marks(app: Sphinx, doctree: nodes.document) -> None:
    for text in doctree.findall(nodes.Text):
        if "**" in text and not _is_literal(text):
            line = next((n.line for n in _ancestors(text) if n.line), 1)
            LOGGER.error(
                "`**` is printed as it stands: %s", text.strip()[:40], location=(app.env.docname, line)
            )


def _ancestors(node: nodes.Node) -> list[nodes.Node]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def setup(app: Sphinx) -> None:
    """Register the transform and the check."""
    app.add_transform(JoinChineseLines)
    app.add_transform(KeepClosingMarks)
    app.connect("doctree-read", _report_marks)
