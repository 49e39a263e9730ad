"""What can be said of a page without executing it: `python -m bookkit.lint book`.

The build checks what a built page shows; this looks at how a page is written: header and kernel, short cells,
one paragraph on one line, and the Python of its cells (ruff, which reads it as a notebook).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import nbformat

from bookkit import sources

MAX_LINES = 18
MAX_COLUMNS = 82  # what fits beside the side bar without scrolling; a Chinese character counts two
_HAN_END = re.compile(r"[\u3400-\u9fff\u3000-\u303f\uff00-\uffef]\s*$")
_TYPED_SPACE = re.compile(r"[\u3400-\u9fff] (?=[A-Za-z0-9$`{])|[A-Za-z0-9$`}] (?=[\u3400-\u9fff])")
_HAN_START = re.compile(r"^[\u3400-\u9fff\u3000-\u303f\uff00-\uffef]")


def columns(line: str) -> int:
    """Return the width of a line on the screen.

    Example:
        >>> columns("x = '书'")
        8
    """
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def page_faults(text: str) -> list[tuple[int, str]]:
    """Return (line, reason) for what is wrong with how a page is written.

    Args:
        text: the page.
    """
    try:
        faults = [(1, reason) for reason in sources.header_faults(text)]
        cells = sources.read_cells(text)
    except ValueError as error:
        return [(1, str(error))]
    for cell in cells:
        lines = cell.source.split("\n")
        if len(lines) > MAX_LINES:
            faults.append(
                (
                    cell.line,
                    f"cell of {len(lines)} lines; at most {MAX_LINES}: move plumbing into the package",
                )
            )
        for offset, line in enumerate(lines):
            if columns(line) > MAX_COLUMNS:
                faults.append((cell.line + offset, f"line of {columns(line)} columns; at most {MAX_COLUMNS}"))
    faults.extend(_wrapped_paragraphs(text))
    faults.extend(_typed_spaces(text))
    return faults


def _wrapped_paragraphs(text: str) -> list[tuple[int, str]]:
    faults, before = [], ""
    for number, line in enumerate(sources.prose(text).split("\n"), start=1):
        if _HAN_END.search(before) and _HAN_START.match(line):
            faults.append((number, "a Chinese paragraph goes on in a second line; write it in one"))
        before = line
    return faults


def _typed_spaces(text: str) -> list[tuple[int, str]]:
    return [
        (number, f"a space is typed between Chinese and Latin: {found.group()!r} (the style sheet makes it)")
        for number, line in enumerate(sources.prose(text).split("\n"), start=1)
        if not line.startswith(":::")  # a directive and its argument
        for found in _TYPED_SPACE.finditer(line)
    ]


def cell_faults(text: str, name: str) -> list[str]:
    """Return what ruff says of the cells of a page, which it reads as one notebook.

    Args:
        text: the page.
        name: what to call it in the messages.
    """
    cells = sources.read_cells(text)
    if not cells:
        return []
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.source) for cell in cells])  # type: ignore[no-untyped-call]
    ruff = Path(sys.executable).with_name("ruff")
    rules = ["--select=E,F,B,UP,C4", "--ignore=E501,E731,B905", "--output-format=json"]
    command = [
        str(ruff) if ruff.exists() else "ruff",
        "check",
        "--quiet",
        *rules,
        "--stdin-filename=page.ipynb",
        "-",
    ]
    text_of_notebook = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    result = subprocess.run(command, input=text_of_notebook, capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):
        return [f"{name}: ruff failed: {result.stderr.strip()}"]
    found = []
    for fault in json.loads(result.stdout or "[]"):
        line = cells[fault["cell"] - 1].line + fault["location"]["row"] - 1
        found.append(f"{name}:{line}: {fault['code']} {fault['message']}")
    return found


def main(arguments: list[str]) -> int:
    """Lint all pages under the given folders; return the exit status."""
    found = 0
    for folder in arguments:
        pages = (
            path
            for path in Path(folder).rglob("*.md")
            if not any(part.startswith(".") for part in path.parts)
        )
        for path in sorted(pages):
            text = sources.read_page(path)
            lines = [f"{path}:{line}: {reason}" for line, reason in page_faults(text)] + cell_faults(
                text, str(path)
            )
            found += len(lines)
            print("\n".join(lines), end="\n" if lines else "")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
