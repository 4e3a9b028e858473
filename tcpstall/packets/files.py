"""Captures written natively, with the core's errors as ours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tcpstall import _core, keys
from tcpstall.errors import CannotOpen, ExitCode, NotACapture, TcpstallError, about
from tcpstall.model import Endpoint
from tcpstall.output import written

__all__ = ["CannotHold", "Progress", "Wish", "rewrite"]

Progress = Callable[[int, int | None], None]

_FORMS = {".pcap": "pcap", ".pcapng": "pcapng"}


class CannotHold(TcpstallError, ValueError):
    """The kind of file that was asked for cannot hold what is to be written, or the input holds no packets."""

    exit_code = ExitCode.USAGE


@dataclass(frozen=True, slots=True)
class Wish:
    """Packets to write: `stretches` of connections (None: everything), with remarks at packets or at their moments."""

    stretches: Sequence[tuple[Endpoint, Endpoint, int, int]] | None = None
    remarks: Sequence[tuple[int, str]] = ()
    moments: Sequence[tuple[int, Endpoint, Endpoint, str]] = ()
    about: str = ""
    payload: bool = True
    anonymise: bytes | None = field(default=None, repr=False)


def rewrite(source: str, output: Path, wish: Wish, *, progress: Progress | None = None) -> _core.Copied:
    """Writes what is wished of `source` to `output`, a pcap or a pcapng file by its name.

    Raises CannotOpen, NotACapture, CannotHold, OSError where the output cannot be written.
    """
    with written(output) as file:
        try:
            return _core.copy(
                source,
                file.fileno(),
                form=_FORMS[output.suffix.lower()],
                about=wish.about,
                stretches=_plain(wish.stretches),
                remarks=wish.remarks,
                moments=[(when, _end(one), _end(other), text) for when, one, other, text in wish.moments],
                payload=wish.payload,
                secret=None if wish.anonymise is None else keys.derived(wish.anonymise),
                progress=progress,
            )
        except TypeError as error:
            raise CannotHold(about(source, str(error))) from error
        except ValueError as error:
            raise NotACapture(about(source, str(error))) from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise CannotOpen(about(source, str(error))) from error


def _plain(
    stretches: Sequence[tuple[Endpoint, Endpoint, int, int]] | None,
) -> list[tuple[tuple[str, int], tuple[str, int], int, int]] | None:
    if stretches is None:
        return None
    return [(_end(one), _end(other), since, until) for one, other, since, until in stretches]


def _end(end: Endpoint) -> tuple[str, int]:
    return end.address, end.port
