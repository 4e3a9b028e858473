"""One end of a connection."""

from typing import Literal, TypeAlias

from tcpstall.records import record

__all__ = ["Endpoint", "Side"]

Side: TypeAlias = Literal["client", "server"]
"""An end of a connection: the client sent the SYN."""


@record(frozen=True, slots=True)
class Endpoint:
    """One end of a connection; as text `192.0.2.1:80` or `[2001:db8::1]:80`."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"
