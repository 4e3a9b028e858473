"""Bokeh's models as text for a page: the same models give the same text."""

import base64
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache

from bokeh.document import Document
from bokeh.models import Plot
from bokeh.util.paths import bokehjs_path

__all__ = ["library", "packed"]

_ID = re.compile(r'"p(\d+)"')
"""Bokeh counts the models of a process through; a page counts its own."""


def packed(plots: Sequence[Plot], elements: Sequence[str]) -> str:
    """The plots with the elements of the page that each is to stand in: JSON, deflated, in base64."""
    document = Document()
    for plot in plots:
        document.add_root(plot)
    roots = dict(zip((plot.id for plot in plots), elements, strict=True))
    text = json.dumps({"document": document.to_json(deferred=False), "roots": roots}, separators=(",", ":"))
    numbers: dict[str, str] = {}
    text = _ID.sub(lambda found: f'"p{numbers.setdefault(found[1], str(len(numbers)))}"', text)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


@cache
def library() -> str:
    """BokehJS as one script; widgets, tables and WebGL, which a page has no use for, are not in it."""
    return (bokehjs_path() / "js" / "bokeh.min.js").read_text("utf-8")
