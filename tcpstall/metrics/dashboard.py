"""A dashboard for Grafana over the metrics of a store."""

import json
from dataclasses import dataclass
from typing import Any

from tcpstall.causes import Cause
from tcpstall.metrics.families import (
    CAPTURES,
    FLOWS,
    LOST,
    NEWEST_PACKET,
    RTT,
    SCANNED,
    TTFB,
    UNREADABLE,
    WAITS,
    Family,
)

__all__ = ["PANELS", "Panel", "dashboard"]

_SOURCE = {"type": "prometheus", "uid": "${source}"}
_CHOSEN = 'service=~"$service"'
_CHOSEN_CAUSE = f'{_CHOSEN}, cause=~"$cause"'
_RATE = "[$__rate_interval]"
_COLUMNS = 24
_SCHEMA_VERSION = 39
"""Grafana 10.4; newer ones migrate it."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture: expressions by their legends, and its size in cells of a grid that is 24 wide."""

    title: str
    meaning: str
    kind: str
    unit: str
    expressions: dict[str, str]
    width: int
    height: int = 8
    stacked: bool = False


def _by(label: str, family: Family, chosen: str) -> dict[str, str]:
    return {f"{{{{{label}}}}}": f"sum by ({label}) (rate({family.sample}{{{chosen}}}{_RATE}))"}


def _quantiles(family: Family) -> dict[str, str]:
    rates = f"sum by (le) (rate({family.bucket}{{{_CHOSEN}}}{_RATE}))"
    return {f"{percent} %": f"histogram_quantile({percent / 100:g}, {rates})" for percent in (50, 95, 99)}


def _in_range(family: Family, chosen: str) -> str:
    return f"sum(increase({family.sample}{{{chosen}}}[$__range]))"


_PER_CONNECTION = (
    f"sum by (service) (rate({LOST.sample}{{{_CHOSEN_CAUSE}}}{_RATE})) "
    f"/ (sum by (service) (rate({FLOWS.sample}{{{_CHOSEN}}}{_RATE})) > 0)"
)

PANELS = (
    Panel("Lost", "Time that senders waited.", "stat", "s", {"": _in_range(LOST, _CHOSEN_CAUSE)}, 4, 4),
    Panel("Waits", "", "stat", "short", {"": _in_range(WAITS, _CHOSEN_CAUSE)}, 4, 4),
    Panel("Connections", "", "stat", "short", {"": _in_range(FLOWS, _CHOSEN)}, 4, 4),
    Panel(
        "Age of the newest packet",
        "How far scanning is behind.",
        "stat",
        "s",
        {"": f"time() - max({NEWEST_PACKET.sample})"},
        4,
        4,
    ),
    Panel("Age of the newest scan", "", "stat", "s", {"": f"time() - max({SCANNED.sample})"}, 4, 4),
    Panel(
        "Captures",
        "`tcpstall query 'SELECT * FROM errors'` says why some could not be read.",
        "stat",
        "short",
        {"all": f"sum({CAPTURES.sample})", "unreadable": f"sum({UNREADABLE.sample})"},
        4,
        4,
    ),
    Panel(
        "Lost time by cause",
        "Seconds of waits a second: `tcpstall explain CAUSE` says what a cause means.",
        "timeseries",
        "s",
        _by("cause", LOST, _CHOSEN_CAUSE),
        12,
        stacked=True,
    ),
    Panel(
        "Lost time by service",
        "Seconds of waits a second.",
        "timeseries",
        "s",
        _by("service", LOST, _CHOSEN_CAUSE),
        12,
        stacked=True,
    ),
    Panel(
        "Lost time a connection",
        "The mean of the connections: more traffic alone does not raise it.",
        "timeseries",
        "s",
        {"{{service}}": _PER_CONNECTION},
        12,
    ),
    Panel("Waits by cause", "A second.", "timeseries", "short", _by("cause", WAITS, _CHOSEN_CAUSE), 12, stacked=True),
    Panel(
        "Time to first byte",
        "From the start of a request, or of its connection, to the first byte of the response.",
        "timeseries",
        "s",
        _quantiles(TTFB),
        12,
    ),
    Panel("Round-trip time", "The smallest of each connection.", "timeseries", "s", _quantiles(RTT), 12),
)


def dashboard() -> str:
    """The dashboard that Grafana imports, as JSON. It asks which Prometheus to use."""
    panels, column, row = [], 0, 0
    for number, panel in enumerate(PANELS, start=1):
        if column + panel.width > _COLUMNS:
            column, row = 0, row + PANELS[number - 2].height
        panels.append(_panel(panel, number, {"x": column, "y": row, "w": panel.width, "h": panel.height}))
        column += panel.width
    content = {
        "title": "TCP stalls",
        "uid": "tcpstall",
        "description": "Why TCP senders waited, by tcpstall. Time counts when its capture is scanned.",
        "tags": ["tcp", "tcpstall"],
        "schemaVersion": _SCHEMA_VERSION,
        "timezone": "browser",
        "time": {"from": "now-24h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": [_source(), _values_of("service"), _values_of("cause")]},
        "panels": panels,
    }
    return json.dumps(content, indent=2) + "\n"


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    custom = {"fillOpacity": 60, "stacking": {"mode": "normal"}} if panel.stacked else {}
    return {
        "id": number,
        "title": panel.title,
        "description": panel.meaning,
        "type": panel.kind,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": 0, "custom": custom},
            "overrides": [_colour(cause) for cause in Cause if "{{cause}}" in panel.expressions],
        },
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
            for at, (legend, expression) in enumerate(panel.expressions.items())
        ],
    }


def _colour(cause: Cause) -> dict[str, Any]:
    """As pictures and pages draw the cause."""
    return {
        "matcher": {"id": "byName", "options": cause.value},
        "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": cause.colour}}],
    }


def _source() -> dict[str, Any]:
    return {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _values_of(label: str) -> dict[str, Any]:
    query = f"label_values({LOST.sample}, {label})"
    return {
        "name": label,
        "type": "query",
        "datasource": _SOURCE,
        "definition": query,
        "query": {"query": query, "refId": label},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }
