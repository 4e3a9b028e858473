"""Reads TCP captures and says why a sender waited."""

import importlib
from typing import TYPE_CHECKING, Any

from tcpstall import _core
from tcpstall.lazy import importer

if TYPE_CHECKING:
    from tcpstall.archive.scanning.scan import scan
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
        Losses,
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
    "Losses",
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


_ELSEWHERE = {
    "Cause": "causes",
    "CannotOpen": "errors",
    "NotACapture": "errors",
    "TcpstallError": "errors",
    "CaptureTrust": "trust",
    "Trust": "trust",
    "scan": "archive.scanning.scan",
}
"""Modules of the names that the model has not."""

_MODULES = frozenset({"causes", "errors", "model", "trust"})
"""Modules that `import tcpstall` gives, as if it had imported them."""

_importer = importer(__name__, {name: _ELSEWHERE.get(name, "model") for name in __all__})


def __getattr__(name: str) -> Any:
    """A public name, when it is asked for: each worker of a scan starts up, and few commands use the model."""
    return importlib.import_module(f"tcpstall.{name}") if name in _MODULES else _importer(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
