"""The model of a result: an Analysis of flows, each with its stalls, and the function that makes one."""

from typing import TYPE_CHECKING

from tcpstall.lazy import importer

if TYPE_CHECKING:
    from tcpstall.model.analysis import Analysis, Held, Table
    from tcpstall.model.capture import Capture, CaptureWarning
    from tcpstall.model.endpoint import Endpoint, Side
    from tcpstall.model.flow import (
        Attempt,
        Burst,
        Connection,
        Direction,
        Evidence,
        Exchange,
        Flow,
        Handshake,
        IdleClose,
        Part,
        RttSpike,
        Service,
        Stall,
        Vantage,
    )
    from tcpstall.model.losses import Losses
    from tcpstall.model.order import Sort
    from tcpstall.model.reader import Path, Paths, analyze, raise_unreadable

__all__ = [
    "Analysis",
    "Attempt",
    "Burst",
    "Capture",
    "CaptureWarning",
    "Connection",
    "Direction",
    "Endpoint",
    "Evidence",
    "Exchange",
    "Flow",
    "Handshake",
    "Held",
    "IdleClose",
    "Losses",
    "Part",
    "Path",
    "Paths",
    "RttSpike",
    "Service",
    "Side",
    "Sort",
    "Stall",
    "Table",
    "Vantage",
    "analyze",
    "raise_unreadable",
]

_ELSEWHERE = {
    **dict.fromkeys(("Analysis", "Held", "Table"), "analysis"),
    **dict.fromkeys(("Capture", "CaptureWarning"), "capture"),
    **dict.fromkeys(("Endpoint", "Side"), "endpoint"),
    "Losses": "losses",
    "Sort": "order",
    **dict.fromkeys(("Path", "Paths", "analyze", "raise_unreadable"), "reader"),
}
"""Modules of the names that `flow` has not."""

__getattr__ = importer(__name__, {name: _ELSEWHERE.get(name, "flow") for name in __all__})
"""A question to a store needs an endpoint, and no analysis."""
