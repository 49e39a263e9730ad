"""Audited prose: every decimal figure of a page is traced to a value that the page itself computed or cited.

Audited are decimals and integers from 1000 up in text, formulas, captions, tables and alternative texts. A
figure is backed if it rounds from a value of the same page: of a ledger row checked or cited there, of a glued
value, or (three significant digits and more) of an output shown there; or if it is a literal that a formula of
the page and a cell of the page both use. Left out: code, outputs of cells, references, dates, versions, numbers
of sections and equations.

A build fails on a figure that nothing backs. `python -m bookkit.audit` audits what the last build left in `_build`.
"""

from __future__ import annotations

import ast
import pickle
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from bookkit import sources
from bookkit.checks import line_of
from bookkit.collect import Page
from onesentence.evidence.ledger import row

LOGGER = logging.getLogger(__name__)
REASON = "rounds from nothing that this page computed or cited"
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-+−])?"
    r"(?P<digits>\d{1,3}(?:(?:,|\{,\})\d{3}(?!\d))+(?:\.\d+)?|\d+\.\d+|\.\d+|\d+)"
    r"(?P<power>e[-+−]?\d+|\s*(?:\\times|×|\\cdot|·)\s*10\s*(?:\^\s*\{?\s*(?P<exponent>[-−]?\d+)\s*\}?))?"
    r"(?P<percent>\s?\\?%)?(?!\d|\.\d)",
    re.ASCII,
)
_PLACE = r"\d{1,2}(?:\.\d{1,2})*(?!\.?\d)"  # 3.5, A.1.2: the number of a section, an equation, a figure
_VERSION = r"\d++(?:\.\d++)*+"
_LEFT_OUT = re.compile(
    rf"""
      (?:1[89]|20)\d\d[-/](?:0[1-9]|1[0-2])(?:[-/]\d\d)?(?!\d)                 # dates
    | (?:1[89]|20)\d\d(?:–(?:1[89]|20)\d\d)?\s?年(?:\s?\d{{1,2}}\s?月(?:\s?\d{{1,2}}\s?日)?)?
    | [（(](?:1[89]|20)\d\d[）)]
    | §\s?{_PLACE}(?:(?:、|与|到|–)§?{_PLACE})*
    | 第\s?{_PLACE}(?:(?:、|与|到|至|–)第?{_PLACE})*\s?[章节页题条]
    | 附录[A-Z](?:\.\d{{1,2}})* | 附录\s?{_PLACE} | (?:图|表|式|代码)\s?[（(]?{_PLACE}[）)]? | {_PLACE}\s?节
    | (?:Python|PyTorch|NumPy|KaTeX|Sphinx|Llama|Qwen|torch|triton|CUDA|CC\ BY|GPT|arXiv:)[\s-]?{_VERSION}
      (?:(?:、|到|或)\s?{_VERSION})*+(?!\s?(?:[倍%×秒个]|\\times))               # versions, no measures
    """,
    re.VERBOSE,
)
_JOINED = (
    (
        re.compile(r"(\\(?!times|cdot)[A-Za-z]+)(?=[\d.])"),
        r"\1 ",
    ),  # a command of a formula ends where a digit begins
    (
        re.compile(r"(?<=\d)(?:\\[,;:!]|[\u2009\u202f\u00a0 ])(?=\d{3}(?!\d))"),
        ",",
    ),  # a space between thousands
    (re.compile(r"(?<![\w.×])(?<!\\times )(?<!\\cdot )10\s*\^\s*\{?\s*([-−]?\d+)\s*\}?"), r"1e\1"),
)
_HALF_WIDTH = str.maketrans("０１２３４５６７８９．％＋－", "0123456789.%+-")
_SKIPPED = (
    nodes.literal,
    nodes.literal_block,
    nodes.comment,
    nodes.citation,
    nodes.citation_reference,
)


@dataclass(frozen=True)
class Figure:
    """A figure that stands in a page.

    Attributes:
        text: as written.
        value: what it says; a percentage counts as the number before the sign.
        step: the value of one unit of its last digit.
        significant: how many significant digits it has.
        percent: whether a percent sign follows.
        line: line of the page.
    """

    text: str
    value: float
    step: float
    significant: int
    percent: bool
    line: int

    def rounds_from(self, value: float) -> bool:
        """Say whether this figure is that value, rounded (or its absolute value, where no sign is written)."""
        signed = [value] if self.value < 0 else [value, abs(value)]
        scaled = [v * factor for v in signed for factor in ((1, 100) if self.percent else (1,))]
        return any(abs(v - self.value) <= 0.5 * self.step * (1 + 1e-9) for v in scaled)


def figures_of(text: str, line: int = 0) -> list[Figure]:
    r"""Return the figures of a text that are audited: decimals, and integers from 1000 up.

    Args:
        text: a text or the source of a formula; full-width digits count as digits.
        line: the line to note.

    Example:
        >>> [f.text for f in figures_of("权重0.422319，第3.5节，１．２５倍，2014年，−0.5，35.2%，1,024个")]
        ['0.422319', '1.25', '−0.5', '35.2%', '1,024']
        >>> figures_of(r"0.35\times10^{-3}")[0].value
        0.00035
    """
    text = text.translate(_HALF_WIDTH)
    for pattern, plain in _JOINED:
        text = pattern.sub(plain, text)
    text = _LEFT_OUT.sub(lambda match: " " * len(match.group()), text)
    found = []
    for match in _NUMBER.finditer(text):
        digits = match["digits"].replace("{,}", "").replace(",", "")
        if "." not in digits and int(digits) < 1000 and not match["power"]:
            continue
        power = 0
        if match["power"]:
            exponent = match["exponent"] or match["power"].removeprefix("e")
            power = int(exponent.replace("−", "-"))
        decimals = len(digits.partition(".")[2])
        sign = -1 if (match["sign"] or "").strip() in ("-", "−") else 1
        if not -300 < power < 300:
            continue
        value = sign * float(f"{digits}e{power}")
        significant = len(digits.replace(".", "").lstrip("0"))
        step = 10.0 ** (power - decimals)
        found.append(Figure(match.group().strip(), value, step, significant, bool(match["percent"]), line))
    return found


def audited_texts(doctree: nodes.document) -> Iterator[tuple[str, int]]:
    """Yield (text, line) of everything in a page that is audited."""
    for node in doctree.findall():
        if isinstance(node, nodes.image):
            yield node.get("alt", ""), line_of(node)
        elif isinstance(node, nodes.raw) and not _is_skipped(node):
            yield BeautifulSoup(node.astext(), "html.parser").get_text(" "), line_of(node)
        elif isinstance(node, nodes.abbreviation):
            yield node.get("explanation", ""), line_of(node)
        elif isinstance(node, nodes.math | nodes.math_block) or (
            isinstance(node, nodes.Text) and not isinstance(node.parent, nodes.raw) and not _is_skipped(node)
        ):
            yield node.astext(), line_of(node)


def _is_skipped(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, (*_SKIPPED, nodes.math, nodes.math_block)):
            return True
        if isinstance(node, nodes.reference) and node.astext() == node.get("refuri"):
            return True
        if isinstance(node, nodes.container) and node.get("nb_element") in (
            "cell_code_source",
            "mime_bundle",
        ):
            return True
    return False


def numbers_in(value: Any) -> Iterator[float]:
    """Yield the numbers of plain data, booleans left out."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, list):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from numbers_in(item)


def declared_values(page: Page) -> list[float]:
    """Return the values that stand behind figures of any length: ledger rows and glued values."""
    values: list[float] = []
    for record in page.records:
        if record.data["kind"] == "ledger":
            entry = row(record.data["id"])
            for data in (record.data["value"], entry.expected, entry.printed):
                values.extend(numbers_in(data))
    for text in page.glued:
        values.extend(figure.value for figure in figures_of(text))
    return values


def shown_values(doctree: nodes.document) -> list[float]:
    """Return the figures of the outputs that a page shows."""
    texts = []
    for output in doctree.findall(nodes.container):
        if output.get("nb_element") == "cell_code_output":
            texts += [node.astext() for node in output.findall(nodes.literal_block)]
            texts += [
                BeautifulSoup(node.astext(), "html.parser").get_text(" ")
                for node in output.findall(nodes.raw)
            ]
    return [figure.value for text in texts for figure in figures_of(text)]


def cell_literals(cells: Iterable[sources.Cell]) -> set[float]:
    """Return the numbers that are written in the cells of a page."""
    literals = set()
    for cell in cells:
        for node in ast.walk(ast.parse(sources.python_of(cell.source))):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, int | float) and not isinstance(value, bool):
                literals.add(float(value))
    return literals


def unbacked(doctree: nodes.document, page: Page, text: str) -> list[Figure]:
    """Return the figures of a page that nothing on the page stands behind.

    Args:
        doctree: the page as it was read, before references were resolved.
        page: what was collected from it.
        text: its source.
    """
    declared = declared_values(page)
    shown = shown_values(doctree)
    formulas = {
        abs(figure.value)
        for node in doctree.findall(lambda n: isinstance(n, nodes.math | nodes.math_block))
        for figure in figures_of(node.astext())
    }
    literals = formulas & {abs(value) for value in cell_literals(sources.read_cells(text))}
    found = []
    for passage, line in audited_texts(doctree):
        for figure in figures_of(passage, line):
            values = declared + (shown if figure.significant >= 3 else [])
            if abs(figure.value) not in literals and not any(figure.rounds_from(value) for value in values):
                found.append(figure)
    return found


def audit(root: Path) -> list[str]:
    """Return a line per unbacked figure of a built book.

    Args:
        root: the book's folder; its last build must have succeeded.

    Raises:
        FileNotFoundError: if the book is not built.
    """
    doctrees = root / "_build" / ".doctrees"
    if not (doctrees / "environment.pickle").is_file():
        raise FileNotFoundError(f"{doctrees.name}: the book is not built; run `make book` first")
    env = pickle.loads((doctrees / "environment.pickle").read_bytes())
    lines = []
    for docname, page in sorted(env.bookkit_pages.items()):
        doctree = pickle.loads((doctrees / f"{docname}.doctree").read_bytes())
        path = root / f"{docname}.md"
        for figure in unbacked(doctree, page, sources.read_page(path)):
            lines.append(f"{docname}.md:{figure.line}: {figure.text} {REASON}")
    return lines


def _audit_page(app: Sphinx, doctree: nodes.document) -> None:
    """Report the unbacked figures of a page that was read."""
    docname = app.env.docname
    text = sources.read_page(Path(app.env.doc2path(docname)))
    for figure in unbacked(doctree, app.env.bookkit_pages[docname], text):  # type: ignore[attr-defined]
        LOGGER.error("%s %s", figure.text, REASON, location=(docname, figure.line))


def setup(app: Sphinx) -> None:
    """Audit each page once its outputs are collected."""
    app.connect("doctree-read", _audit_page, priority=900)


def main() -> int:
    """Audit the book in this folder; return the exit status."""
    lines = audit(Path.cwd())
    print("\n".join(lines) or "audit: every figure of the text is backed")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
