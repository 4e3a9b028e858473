"""The interactive plots of a page: linked, zoomable, drawn by Bokeh in the reader's browser without any network."""

from tcpstall.plot.page.drawing import Drawing, Entry, Panel, draw
from tcpstall.plot.page.pack import library

__all__ = ["Drawing", "Entry", "Panel", "draw", "library"]
