"""One style, one palette and the recurring chart types of the book. Knows arrays and text, no model.

A page says `plotting.use_style()` once, draws, and ends with `plotting.show(figure)`.
"""

from onesentence.plotting.charts import bars, dots, heatmap, plane
from onesentence.plotting.diagrams import draw_roles, draw_tree
from onesentence.plotting.figure import show
from onesentence.plotting.merges import draw_merges
from onesentence.plotting.style import PALETTE, use_style
from onesentence.plotting.table import Table, table
from onesentence.plotting.timeline import draw_timeline
from onesentence.plotting.unrolled import draw_unrolled

__all__ = [
    "PALETTE",
    "Table",
    "bars",
    "dots",
    "draw_merges",
    "draw_roles",
    "draw_timeline",
    "draw_tree",
    "draw_unrolled",
    "heatmap",
    "plane",
    "show",
    "table",
    "use_style",
]
