"""What makes the site: the Sphinx extension that executes, checks, collects and exports the book.

`onesentence.evidence` is what a cell of a page calls; this package is what the build does with it. It knows no
model. Add `bookkit` first in the list of extensions, so that it hears the warnings of all others.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything with Sphinx."""
    from bookkit import (
        audit,
        collect,
        execute,
        export,
        faults,
        indexes,
        keys,
        markup,
        maths,
        pages,
        search,
        site,
        strip,
        typography,
        weight,
        words,
    )

    for module in (
        faults,
        keys,
        execute,
        collect,
        typography,
        pages,
        markup,
        maths,
        strip,
        indexes,
        search,
        export,
        site,
        weight,
        words,
        audit,
    ):
        module.setup(app)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
