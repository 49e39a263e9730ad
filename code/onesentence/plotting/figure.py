"""Putting a figure on the page: SVG with paths, the same bytes in every build, no glyph missing."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.figure import Figure


class MissingGlyphError(ValueError):
    """The fonts of the book lack a character that a figure wants to draw."""


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG text.

    Args:
        figure: the figure.

    Returns:
        SVG without a date and without the XML prologue; text is drawn as paths, so that no reader needs a font.

    Raises:
        MissingGlyphError: if a character is in none of the fonts, naming it.
    """
    buffer = io.StringIO()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(
            buffer,
            format="svg",
            bbox_inches="tight",
            pad_inches=0.06,
            metadata={"Date": None, "Creator": None},
        )
    for warning in caught:
        missing = re.search(r"Glyph (\d+) ", str(warning.message))
        if missing:
            char = chr(int(missing.group(1)))
            raise MissingGlyphError(f"the figure font has no glyph for {char!r} (U+{ord(char):04X})")
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def show(figure: Figure) -> None:
    """Display a figure in the running cell and close it.

    Args:
        figure: the figure; the cell's `mystnb: image: alt:` describes it, `mystnb: figure: caption:` names it.

    Raises:
        MissingGlyphError: if a character is in none of the fonts.
    """
    from IPython.display import display

    bundle: dict[str, Any] = {"image/svg+xml": to_svg(figure)}
    plt.close(figure)
    display(bundle, raw=True)  # type: ignore[no-untyped-call]
