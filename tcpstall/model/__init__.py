"""The model of a result: an Analysis of flows, each with its stalls, and the function that makes one."""

from tcpstall.model.analysis import Analysis, Held, Sort, Table
from tcpstall.model.capture import Capture, CaptureWarning
from tcpstall.model.flow import (
    Attempt,
    Burst,
    Connection,
    Direction,
    Endpoint,
    Evidence,
    Exchange,
    Flow,
    Handshake,
    IdleClose,
    Part,
    RttSpike,
    Service,
    Side,
    Stall,
    Vantage,
)
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
