"""Failures, and the exit code that each of them has."""

from enum import IntEnum
from typing import Self

from tcpstall.untrusted import in_terminal

__all__ = [
    "UNREAD",
    "BadRules",
    "CannotAnswer",
    "CannotCapture",
    "CannotOpen",
    "CannotWrite",
    "ExitCode",
    "NotACapture",
    "NothingToShow",
    "StoreInUse",
    "TcpstallError",
    "TwoTaps",
    "about",
]


class ExitCode(IntEnum):
    """Every exit code of the command line, with the sentence that help and README print."""

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Self:
        """A plain integer that carries its sentence."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    COMPLETE = 0, "the report is complete, warnings included"
    DEFECT = 1, "a defect in tcpstall, or the output could not be written (a full disk)"
    USAGE = 2, "the command line, or a file of rules, cannot be understood"
    CANNOT_OPEN = 3, "an input cannot be opened"
    NOT_A_CAPTURE = 4, "an input is not a capture"
    DAMAGED = 5, "an input is damaged; what could be read is reported"
    IN_USE = 6, "another scan is writing into the store"
    NOTHING_FITS = 7, "the inputs were read, and nothing in them fits what was asked for"
    BROKEN = 8, "the captures were checked, and a rule is broken"
    CANNOT_CAPTURE = 9, "packets cannot be captured: no such interface, no permission, no tcpdump"
    HUNG_UP = 129, "ended because the terminal went away (SIGHUP)"
    INTERRUPTED = 130, "interrupted (Ctrl-C)"
    CLOSED_PIPE = 141, "the reader of the output went away"
    TERMINATED = 143, "ended by SIGTERM"


UNREAD = (ExitCode.CANNOT_OPEN, ExitCode.NOT_A_CAPTURE)
"""Codes of inputs of which nothing could be read."""


class TcpstallError(Exception):
    """Base of everything that tcpstall raises on purpose; its text is one line that says what to do."""

    exit_code = ExitCode.DEFECT


class CannotOpen(TcpstallError, OSError):
    """An input cannot be opened or read."""

    exit_code = ExitCode.CANNOT_OPEN


class NotACapture(TcpstallError, ValueError):
    """An input is none of the formats that tcpstall reads."""

    exit_code = ExitCode.NOT_A_CAPTURE


class CannotCapture(TcpstallError, OSError):
    """Packets cannot be captured from an interface, or no longer."""

    exit_code = ExitCode.CANNOT_CAPTURE


class CannotWrite(TcpstallError, OSError):
    """The output cannot be written."""

    exit_code = ExitCode.DEFECT


class StoreInUse(TcpstallError):
    """Somebody else writes into the store: `owner`, in words."""

    exit_code = ExitCode.IN_USE

    def __init__(self, message: str, owner: str = "another process") -> None:
        super().__init__(message)
        self.owner = owner


class NothingToShow(TcpstallError, LookupError):
    """The capture holds no flow, or not the one that was asked for."""

    exit_code = ExitCode.NOTHING_FITS


class TwoTaps(TcpstallError, ValueError):
    """Captures that are to be merged were taken at two points of one path: they hold the same packets."""

    exit_code = ExitCode.USAGE


class CannotAnswer(TcpstallError, ValueError):
    """A question to a store is refused or not understood."""

    exit_code = ExitCode.USAGE


class BadRules(TcpstallError, ValueError):
    """A rule, or a file of rules, is not understood."""

    exit_code = ExitCode.USAGE


def about(path: str, message: str) -> str:
    """The message with its input's name in front, where it does not name it already."""
    return message if path in message or in_terminal(path) in message else f"{path}: {message}"
