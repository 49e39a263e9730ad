"""The book without bookkit, which `make bench` compares with: bare Sphinx, as Jupyter Book sets it up.

`bookkit` is taken out of `_config.yml`; MyST-NB's own renderer and MathJax take its place. The pages read the same
execution cache: the key that bookkit adds to a page in memory is written into the page's file. What bookkit's
directives would draw is missing there, with a warning each.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

STAND_IN = '''"""Lets the nodes through that the installed MyST-NB plugin makes of the cells' records; nothing is drawn."""
from bookkit.notebook import evidence_note
from docutils import nodes


def skip(translator, node):
    raise nodes.SkipNode


def setup(app):
    app.add_node(evidence_note, html=(skip, None))
'''


def bare_config(text: str) -> str:
    """Return `_config.yml` with the stand-in for bookkit."""
    config: dict[str, Any] = yaml.safe_load(text)
    sphinx = config["sphinx"]["config"]
    sphinx["extensions"] = ["bare" if name == "bookkit" else name for name in sphinx["extensions"]]
    for name in ("nb_render_plugin", "html_math_renderer"):
        del sphinx[name]
    return yaml.safe_dump(config, allow_unicode=True, sort_keys=False)


def make_bare(book: Path, bare: Path) -> None:
    """Make the bare copy of a built book, with its execution cache and nothing else that was built.

    Args:
        book: the built book.
        bare: where the copy goes.
    """
    from bookkit.keys import keyed

    shutil.copytree(book, bare, ignore=shutil.ignore_patterns("html", "__pycache__"))
    config = bare / "_config.yml"
    config.write_text(bare_config(config.read_text(encoding="utf-8")), encoding="utf-8")
    for page in (bare / "book").rglob("*.md"):
        page.write_text(keyed(page.read_text(encoding="utf-8"), book), encoding="utf-8")
    (bare / "code" / "bare.py").write_text(STAND_IN, encoding="utf-8")
