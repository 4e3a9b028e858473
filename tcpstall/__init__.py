"""Reads TCP captures and says why a sender waited."""

from typing import TYPE_CHECKING, Any

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.errors import CannotOpen, NotACapture, TcpstallError
from tcpstall.model import (
    Analysis,
    Burst,
    Capture,
    CaptureWarning,
    Connection,
    Direction,
    Endpoint,
    Evidence,
    Exchange,
    Flow,
    Handshake,
    IdleClose,
    Part,
    Service,
    Stall,
    Vantage,
    analyze,
)
from tcpstall.trust import CaptureTrust, Trust

if TYPE_CHECKING:
    from tcpstall.archive.scan import scan

__all__ = [
    "Analysis",
    "Burst",
    "CannotOpen",
    "Capture",
    "CaptureTrust",
    "CaptureWarning",
    "Cause",
    "Connection",
    "Direction",
    "Endpoint",
    "Evidence",
    "Exchange",
    "Flow",
    "Handshake",
    "IdleClose",
    "NotACapture",
    "Part",
    "Service",
    "Stall",
    "TcpstallError",
    "Trust",
    "Vantage",
    "__version__",
    "analyze",
    "scan",
]

__version__ = _core.version()


def __getattr__(name: str) -> Any:
    """`scan`, when it is asked for: the command line's start-up does not pay for what few commands use."""
    if name != "scan":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tcpstall.archive.scan import scan

    return scan
