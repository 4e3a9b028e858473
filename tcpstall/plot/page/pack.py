"""Bokeh's models as text for a page: the same models give the same text."""

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from bokeh.document import Document
from bokeh.models import ColumnDataSource, Plot
from bokeh.util.paths import bokehjs_path
from numpy.typing import NDArray

__all__ = ["Column", "library", "packed"]

_ID = re.compile(r'"p(\d+)"')
"""Bokeh counts the models of a process through; a page counts its own."""


class Column(NamedTuple):
    """Values, whole numbers of `unit`; NaN is unknown."""

    values: NDArray[np.float64]
    unit: float


Columns = Mapping[str, Column]


def packed(name: str, plots: Sequence[Plot], elements: Sequence[str], data: Mapping[ColumnDataSource, Columns]) -> str:
    """The plots with the elements of the page that each is to stand in: JSON, deflated, in base64.

    Sources whose columns are in `data` take a tenth of the room that Bokeh's own form of them would.
    """
    document = Document()
    for plot in plots:
        document.add_root(plot)
    content = {
        "document": document.to_json(deferred=False),
        "roots": dict(zip((plot.id for plot in plots), elements, strict=True)),
        "columns": {source.id: _steps(columns) for source, columns in data.items()},
    }
    numbers: dict[str, int] = {}
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    text = _ID.sub(lambda found: f'"{name}-{numbers.setdefault(found[1], len(numbers))}"', text)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


@cache
def library() -> str:
    """BokehJS as one script; widgets, tables and WebGL, which a page has no use for, are not in it."""
    return (bokehjs_path() / "js" / "bokeh.min.js").read_text("utf-8")


def _steps(columns: Columns) -> dict[str, list[object]]:
    """Each column as its unit and the differences from value to value, null where it is unknown."""
    return {name: [column.unit, _differences(column.values)] for name, column in columns.items()}


def _differences(values: NDArray[np.float64]) -> list[int | None]:
    known = ~np.isnan(values)
    whole = np.rint(values[known]).astype(np.int64)
    written: list[int | None] = [None] * len(values)
    for place, step in zip(np.flatnonzero(known).tolist(), np.diff(whole, prepend=0).tolist(), strict=True):
        written[place] = step
    return written
