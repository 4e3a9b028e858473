"""The orders in which flows are ranked."""

from typing import Literal, TypeAlias

__all__ = ["Sort"]

Sort: TypeAlias = Literal["lost", "duration", "bytes", "start", "stalls"]
"""Keys that flows are ranked by: largest first, except `start`, which is earliest first."""
