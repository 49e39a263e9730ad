"""One style, one palette and the recurring chart types of the book. Knows arrays and text, no model.

A page says `plotting.use_style()` once, draws, and ends with `plotting.show(figure)`.
"""

from onesentence.plotting.beam_tree import BeamNode, draw_beam_tree
from onesentence.plotting.charts import bars, dots, heatmap, plane
from onesentence.plotting.curves import curves
from onesentence.plotting.diagrams import draw_roles, draw_tree
from onesentence.plotting.encoder_decoder import draw_encoder_decoder
from onesentence.plotting.figure import show
from onesentence.plotting.flow import draw_flow, flow_height
from onesentence.plotting.head_maps import draw_heads
from onesentence.plotting.layers import draw_layers
from onesentence.plotting.legend import legend
from onesentence.plotting.machine import draw_translator
from onesentence.plotting.merges import draw_merges
from onesentence.plotting.sequences import draw_sequences
from onesentence.plotting.style import PALETTE, use_style
from onesentence.plotting.table import Table, table
from onesentence.plotting.timeline import draw_timeline
from onesentence.plotting.unrolled import draw_unrolled
from onesentence.plotting.visible import visible
from onesentence.plotting.ways_back import draw_ways_back

__all__ = [
    "PALETTE",
    "BeamNode",
    "Table",
    "bars",
    "curves",
    "dots",
    "draw_beam_tree",
    "draw_encoder_decoder",
    "draw_flow",
    "draw_heads",
    "draw_layers",
    "draw_merges",
    "draw_roles",
    "draw_sequences",
    "draw_timeline",
    "draw_translator",
    "draw_tree",
    "draw_unrolled",
    "draw_ways_back",
    "flow_height",
    "heatmap",
    "legend",
    "plane",
    "show",
    "table",
    "use_style",
    "visible",
]
