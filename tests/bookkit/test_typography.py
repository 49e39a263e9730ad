"""Closing marks behind formulas, as the transform moves them."""

from __future__ import annotations

from docutils import nodes
from docutils.utils import new_document

from bookkit.typography import LONGEST, KeepClosingMarks


def test_each_of_several_equal_texts_keeps_its_place() -> None:
    document = new_document("page")
    between = [nodes.Text("，"), nodes.Text("，"), nodes.Text("，再"), nodes.Text("，")]
    formulas = [nodes.math("", name) for name in ("a" * (LONGEST + 1), "b", "c", "d")]
    pieces = [piece for pair in zip(formulas, between, strict=True) for piece in pair]
    document += nodes.paragraph("", "", *pieces)
    KeepClosingMarks(document).apply()
    assert document.astext() == "a" * (LONGEST + 1) + "，b，c，再d，"
    kept = list(document.findall(nodes.inline))
    assert [inline.astext() for inline in kept] == [
        "b，",
        "c，",
        "d，",
    ]  # the first is too long to be kept in one piece
