"""Captures written natively beside the name that they will have, with the core's errors as ours."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tcpstall import _core, keys
from tcpstall.errors import CannotOpen, ExitCode, NotACapture, TcpstallError, about
from tcpstall.model import Endpoint

__all__ = ["CannotHold", "Progress", "Wish", "replaced", "rewrite"]

Progress = Callable[[int, int | None], None]

_FORMS = {".pcap": "pcap", ".pcapng": "pcapng"}


class CannotHold(TcpstallError, ValueError):
    """The kind of file that was asked for cannot hold what is to be written, or the input holds no packets."""

    exit_code = ExitCode.USAGE


@dataclass(frozen=True, slots=True)
class Wish:
    """What to write: `stretches` of connections (None: everything), with remarks at packets or at their moments."""

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
    with replaced(output) as unfinished, unfinished.open("wb") as file:
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


@contextmanager
def replaced(output: Path) -> Iterator[Path]:
    """A file beside `output` that takes its name when all went well, so that a failure leaves no half a capture."""
    if output.exists() and not output.is_file():
        yield output
        return
    unfinished = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)


def _plain(
    stretches: Sequence[tuple[Endpoint, Endpoint, int, int]] | None,
) -> list[tuple[tuple[str, int], tuple[str, int], int, int]] | None:
    if stretches is None:
        return None
    return [(_end(one), _end(other), since, until) for one, other, since, until in stretches]


def _end(end: Endpoint) -> tuple[str, int]:
    return end.address, end.port
