"""Palette, fonts and settings of all figures.

Figures are drawn for a light page with a transparent background; the site's style sheet turns their lightness
around in dark mode and keeps the hues. Colours differ in lightness too, so that they can be told apart in print
and without colour vision.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
from cycler import cycler
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap

DATA_FILES = (
    "../../../assets/fonts/NotoSansSC-Regular.ttf",
    "../../../assets/fonts/NotoSansSC-Bold.ttf",
)

PALETTE: dict[str, str] = {
    "ink": "#1f2a37",
    "vermilion": "#b5402a",
    "teal": "#1f6f78",
    "ochre": "#c98a1b",
    "plum": "#6b4c7a",
    "grey": "#6b7280",
    "rule": "#cfc9bd",
    "tile": "#f4f0e6",
}
"""Names of the colours, by what they look like."""

SEQUENTIAL = LinearSegmentedColormap.from_list(
    "onesentence", ["#fbfaf7", "#e7c6ae", "#cf7f5f", "#b5402a", "#6e2416"]
)
"""Colour map for weights and probabilities, from paper to deep vermilion."""

FONTS = Path(__file__).resolve().parents[3] / "assets" / "fonts"
"""Where the book's Chinese figure font lies."""

FONT_FAMILY = "Noto Sans SC"


def use_style() -> None:
    """Set matplotlib up for the book's figures.

    Raises:
        FileNotFoundError: if the book's font is not beside the package.
    """
    files = sorted(FONTS.glob("NotoSansSC-*.ttf"))
    if not files:
        raise FileNotFoundError(f"no NotoSansSC-*.ttf in {FONTS.name}/: run `make vendor`")
    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for file in files:
        if str(file) not in known:
            font_manager.fontManager.addfont(file)
    matplotlib.rcdefaults()  # whatever the user's own settings say
    matplotlib.use("agg")
    matplotlib.rcParams.update(
        {
            "font.family": [FONT_FAMILY, "DejaVu Sans"],
            "font.size": 11,
            "mathtext.fontset": "dejavusans",
            "axes.unicode_minus": True,
            "axes.edgecolor": PALETTE["grey"],
            "axes.labelcolor": PALETTE["ink"],
            "axes.titlecolor": PALETTE["ink"],
            "axes.titlesize": 12,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": cycler(
                color=[PALETTE[c] for c in ("vermilion", "teal", "ochre", "plum", "grey")]
            ),
            "text.color": PALETTE["ink"],
            "xtick.color": PALETTE["ink"],
            "ytick.color": PALETTE["ink"],
            "grid.color": PALETTE["rule"],
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "legend.frameon": False,
            "figure.constrained_layout.hspace": 0.08,
            "svg.fonttype": "path",
            "svg.hashsalt": "onesentence",
        }
    )
