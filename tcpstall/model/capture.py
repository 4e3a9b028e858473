"""One input: its packets, warnings and error."""

import dataclasses
import json
from collections.abc import Container, Mapping

from tcpstall import _core
from tcpstall.errors import ExitCode, about
from tcpstall.model.pick import pick
from tcpstall.records import record
from tcpstall.trust import CaptureTrust


@record(frozen=True, slots=True)
class CaptureWarning:
    """Something in an input that a reader of the report must know; `count` says how often."""

    code: str
    count: int
    message: str


@record(frozen=True, slots=True)
class Capture:
    """One input and the outcome of reading it. `skipped` counts the packets that were not analysed, by reason."""

    path: str
    exit_code: ExitCode
    error: str | None
    format: str | None = None
    compression: str | None = None
    link_types: tuple[str, ...] = ()
    stream: int | None = None
    """Captures of one number were read as one stream; None where it stands alone."""
    first_packet: int | None = None
    """In a stream of several captures the numbers of packets run on: that of this one's first packet."""
    packets: int = 0
    tcp_segments: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    warnings: tuple[CaptureWarning, ...] = ()
    skipped: Mapping[str, int] = dataclasses.field(default_factory=dict)
    trust: CaptureTrust = dataclasses.field(default_factory=CaptureTrust)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The warnings that the error does not say already."""
        return self.remarks_but(())

    def remarks_but(self, codes: Container[str]) -> tuple[str, ...]:
        """The same without the warnings of these codes."""
        said = self.error or ""
        return tuple(
            warning.message for warning in self.warnings if warning.message not in said and warning.code not in codes
        )

    @classmethod
    def from_status(cls, status: _core.CaptureStatus) -> "Capture":
        """From the native status."""
        row = json.loads(status.json)
        return pick(
            cls,
            row,
            path=status.path,
            exit_code=ExitCode(status.exit_code),
            error=status.error and about(status.path, status.error),
            link_types=tuple(row.get("link_types") or ()),
            warnings=tuple(pick(CaptureWarning, warning) for warning in row.get("warnings") or ()),
            trust=pick(CaptureTrust, row.get("trust") or {}),
        )
