"""Servers by port, at one address or at any."""

from dataclasses import dataclass

__all__ = ["ServedAt"]


@dataclass(frozen=True, slots=True)
class ServedAt:
    """The end that flows must have as their server; no address is any."""

    address: str | None
    port: int

    def serves(self, address: str, port: int) -> bool:
        """True of that server."""
        return port == self.port and self.address in (None, address)
