"""Reading a page's source: front matter, code cells, the jupytext header.

Everything here works on text and needs no Sphinx, so that tests and tools use it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from IPython.core.inputtransformer2 import TransformerManager

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
"""The one kernel of all pages."""

HEADER = {
    "text_representation": {"extension": ".md", "format_name": "myst", "format_version": 0.13},
}
"""What the `jupytext` block of an executed page must hold (other keys may stand beside it)."""

_FRONT = re.compile(r"\A---\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
DISPLAY_NAME = re.compile(r"^(\s+display_name: Python 3)(?: \(ipykernel\))?[ \t]*$", re.MULTILINE)
"""The line that carries the page's key in memory; written otherwise, the key would have no place."""
_MANAGER = TransformerManager()  # type: ignore[no-untyped-call]
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})\s*(\{?[\w-]*\}?)")


@dataclass(frozen=True)
class Cell:
    """One code cell of a page.

    Attributes:
        line: line of its first line of code in the page, from 1.
        source: the code.
        tags: its tags.
    """

    line: int
    source: str
    tags: tuple[str, ...] = ()


def front_matter(text: str) -> dict[str, Any]:
    r"""Return the front matter of a page, empty where it has none.

    Raises:
        ValueError: if it is not valid YAML or not a mapping.

    Example:
        >>> front_matter("---\nidentity: constructed\n---\n# 标题")
        {'identity': 'constructed'}
    """
    match = _FRONT.match(text)
    if not match:
        return {}
    try:
        data = yaml.safe_load(match.group(1))
    except yaml.YAMLError as error:
        raise ValueError(f"front matter: not valid YAML ({' '.join(str(error).split())})") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ValueError(f"front matter: expected keys and values, got {type(data).__name__}")
    return data


def has_cells(text: str) -> bool:
    r"""Say whether a page contains code cells.

    Example:
        >>> has_cells("```{code-cell}\n1 + 1\n```")
        True
    """
    return any(info == "{code-cell}" for _, info, _ in _fences(text))


def header_faults(text: str) -> list[str]:
    """Return what is wrong with the jupytext header and the kernel of a page with code cells.

    A page without the full header is shown but never executed; a page with another kernel's name runs on its
    author's machine only.
    """
    matter = front_matter(text)
    if not has_cells(text):
        return []
    faults = []
    jupytext = matter.get("jupytext")
    representation = jupytext.get("text_representation") if isinstance(jupytext, dict) else None
    if not isinstance(representation, dict):
        faults.append(
            "the page has code cells but no jupytext header, so it would not be executed; see CONTRIBUTING"
        )
    else:
        for key, want in HEADER["text_representation"].items():
            if str(representation.get(key)) != str(want):
                faults.append(f"jupytext header: {key} must be {want}, got {representation.get(key)}")
    kernel = matter.get("kernelspec")
    if not isinstance(kernel, dict) or kernel.get("name") != KERNEL["name"]:
        got = kernel.get("name") if isinstance(kernel, dict) else None
        faults.append(f"kernelspec: name must be {KERNEL['name']}, got {got}")
    elif len(DISPLAY_NAME.findall(text.partition("\n---")[0])) != 1:
        faults.append(
            f"kernelspec: write `display_name: {KERNEL['display_name']}` on a line of its own, without quotes; "
            f"got {kernel.get('display_name')!r}"
        )
    if "mystnb" in matter:
        faults.append(
            "front matter: a page may not set mystnb options; they would switch execution and checks off"
        )
    return faults


def read_cells(text: str) -> list[Cell]:
    """Return the code cells of a MyST page, options stripped.

    Raises:
        ValueError: if a cell is not closed.
    """
    cells = []
    for line, info, body in _fences(text):
        if info == "{code-cell}":
            if body is None:
                raise ValueError(f"line {line}: this code cell is not closed")
            cells.append(_cell(body, line + 1))
    return cells


def _fences(text: str) -> Iterator[tuple[int, str, list[str] | None]]:
    """Yield line, info and body of each outermost fence; the body is None where it is not closed."""
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        opening = _FENCE.match(lines[i])
        i += 1
        if not opening:
            continue
        start, mark = i, opening.group(1)
        closing = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}\s*$")
        while i < len(lines) and not closing.match(lines[i]):
            i += 1
        yield start, opening.group(2), lines[start:i] if i < len(lines) else None
        i += 1


def prose(text: str) -> str:
    """Return a page with its front matter and everything inside fences blanked, line numbers kept."""
    lines = text.split("\n")
    if front := _FRONT.match(text):
        lines[: front.group().count("\n")] = [""] * front.group().count("\n")
    for start, _, body in _fences(text):
        length = len(lines) - start if body is None else len(body)
        lines[start - 1 : start + length + 1] = [""] * len(lines[start - 1 : start + length + 1])
    return "\n".join(lines)


def _cell(body: list[str], line: int) -> Cell:
    options: dict[str, Any] = {}
    skip = 0
    if body and body[0].strip() == "---":
        end = next((k for k in range(1, len(body)) if body[k].strip() == "---"), 0)
        options = yaml.safe_load("\n".join(body[1:end])) or {}
        skip = end + 1
    else:
        while skip < len(body) and re.match(r":[\w-]+:", body[skip]):
            key, _, value = body[skip][1:].partition(":")
            options[key] = yaml.safe_load(value)
            skip += 1
    while skip < len(body) and not body[skip].strip():
        skip += 1
    tags = options.get("tags") or []
    return Cell(line + skip, "\n".join(body[skip:]), tuple(tags if isinstance(tags, list) else [tags]))


@cache
def python_of(source: str) -> str:
    r"""Return a cell's code as plain Python: what IPython adds is turned into calls, a timed or captured cell opened.

    Example:
        >>> python_of("%%time\nimport numpy")
        'import numpy\n'
    """
    body = re.sub(r"\A(?:%%(?:time|timeit|capture|prun)\b.*\n)+", "", source)
    body = re.sub(r"^(\s*)%(?:time|timeit|prun)\s+", r"\1", body, flags=re.MULTILINE)
    transformed: str = _MANAGER.transform_cell(body)
    return transformed


def read_page(path: Path) -> str:
    """Return the text of a page."""
    return path.read_text(encoding="utf-8")
