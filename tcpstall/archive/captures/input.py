"""A capture that was found."""

from dataclasses import dataclass

from tcpstall.archive.captures.sent import Sent
from tcpstall.errors import ExitCode

__all__ = ["Input"]


@dataclass(frozen=True, slots=True)
class Input(Sent):
    """A capture that was found, or why what should be one cannot be read.

    `size` is in bytes as stored, in an archive as the archive says. `changed_ns` is when the file, or the archive, was
    last written, None where its place does not tell. `exit_code` is one of tcpstall.errors.ExitCode: CANNOT_OPEN where
    the system, a network or a driver refused, which says nothing of what is in it.
    """

    name: str
    size: int
    changed_ns: int | None
    format: str | None = None
    compression: str | None = None
    first_ns: int | None = None
    error: str | None = None
    exit_code: int = ExitCode.COMPLETE
