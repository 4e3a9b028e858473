"""Reads TCP captures and says why a sender waited."""

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
]

__version__ = _core.version()
