"""Colours, line widths and sizes of the pictures."""

from typing import Any

WIDTH_IN = 12.0
DPI = 150

INK = "#222222"
FAINT = "#8a8a8a"
LIFE = "#c9c9c9"
GRID = "#e4e4e4"

# Dark or saturated to stand out on any cause's tint, and told apart by lightness and shape as well as by hue.
DATA = "#16324f"
ACK = "#00796b"
EDGE = "#ee9f1c"
CWND = "#a3179b"
RETRANSMISSION = "#d7191c"
SACK = "#7b52ab"
BDP = "#6b5b00"
PROBE = "#f2d600"

TRAVEL = "#c3d3e3"
THINK = "#efe0b9"

BAND_TINT = 0.15
LANE_IN = 0.21
ENTRY_IN = 0.19  # of a legend, about

RC: dict[Any, Any] = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9.0,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",  # text that can be searched and read aloud
    "svg.hashsalt": "tcpstall",  # the same capture gives the same file
    "path.simplify": True,
    "agg.path.chunksize": 20_000,
}


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on `colour` (#rrggbb; WCAG's relative luminance, gamma taken as 2.2)."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return "white" if luminance < 0.3 else "black"
