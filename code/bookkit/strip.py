"""The `sentence-strip` directive: the book's sentence as tiles, with the units of this step lit."""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from onesentence.sentence.example import TARGET, UNITS
from onesentence.sentence.strip import Strip, positions


class SentenceStrip(SphinxDirective):
    """`{sentence-strip}` with the options `source` and `target`: units to light, by name, number or `all`."""

    option_spec: ClassVar = {
        "source": directives.unchanged,
        "target": directives.unchanged,
        "source-only": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the strip as HTML."""
        target_units = () if "source-only" in self.options else TARGET
        try:
            source = positions(self.options.get("source", ""), UNITS, "source")
            target = positions(self.options.get("target", ""), target_units, "target")
        except ValueError as error:
            raise self.error(str(error)) from None
        strip = Strip(source, target, target_units=target_units)
        return [nodes.raw("", strip.html(), format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("sentence-strip", SentenceStrip)
