"""The side file of a capture: its stalls by packet, for the dissector in Wireshark.

Lines of UTF-8 with columns between tabs. The first line has `tcpstall`, the format's version, the time of the capture's
first packet, the number of stalls and the capture's name; each other line has a stall. Wireshark gives a dissector no
file name, so the first packet's time names the side file, and a stall is shown only at a packet that has its number
and its time.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcpstall.errors import ExitCode, NothingToShow, TcpstallError, about
from tcpstall.model import Analysis, Endpoint
from tcpstall.packets.files import Progress
from tcpstall.packets.found import Found, find
from tcpstall.packets.places import Place, places
from tcpstall.units import counted
from tcpstall.untrusted import in_terminal

__all__ = ["Side", "TooMany", "cache_folder", "side_of"]

_VERSION = "1"
"""The dissector has the same: another one is refused."""

_MOST_BYTES = 64 << 20
"""The largest side file that the dissector reads, about 250,000 stalls: Wireshark keeps all of them in memory."""

_SECOND = 1_000_000_000


class TooMany(TcpstallError, ValueError):
    """The capture has more stalls than the dissector reads."""

    exit_code = ExitCode.USAGE


@dataclass(frozen=True, slots=True)
class Side:
    """A side file: the name by which the dissector finds it, its content, and how many stalls it has and has not."""

    name: str
    content: bytes
    stalls: int
    unplaced: int


def cache_folder() -> Path:
    """The user's folder of side files, where the dissector looks."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(cache) if cache.startswith("/") else Path(os.path.expanduser("~")) / ".cache"  # noqa: PTH111
    return folder / "tcpstall" / "wireshark"


def side_of(analysis: Analysis, source: str, name: str, *, progress: Progress | None = None) -> Side:
    """The side file of the capture in file `source`, which `analysis` is of and which users call `name`.

    Raises NothingToShow where the capture holds no packet, TooMany, and as `find` does.
    """
    stalls = [*places(analysis)]
    found = find(source, [*_numbers(stalls)], [*_moments(stalls)], progress=progress)
    if found.first_ns is None:
        raise NothingToShow(about(name, "has no first packet with a time, by which Wireshark could find its stalls"))
    placed = [_line(place, row, found) for row, place in enumerate(stalls) if _mark(row) in found.at]
    lines = [("tcpstall", _VERSION, _seconds(found.first_ns), str(len(placed)), in_terminal(name)), *placed]
    content = "".join("\t".join(line) + "\n" for line in lines).encode()
    if len(content) > _MOST_BYTES:
        many = f"has {counted(len(stalls), 'stall')}, more than Wireshark could keep in memory"
        raise TooMany(about(name, f"{many}: leave short ones out with --min-stall, or cut the capture"))
    return Side(f"{_seconds(found.first_ns)}.tcpstall", content, len(placed), len(stalls) - len(placed))


def _numbers(stalls: Sequence[Place]) -> Iterator[tuple[int, str]]:
    for row, place in enumerate(stalls):
        if place.packet is not None:
            yield place.packet, _mark(row)
        if place.begins_after is not None:
            yield place.begins_after, _mark_before(row)


def _moments(stalls: Sequence[Place]) -> Iterator[tuple[int, Endpoint, Endpoint, str]]:
    for row, place in enumerate(stalls):
        if place.packet is None:
            yield place.stall.end_ns, place.flow.client, place.flow.server, _mark(row)


def _mark(row: int) -> str:
    return str(row)


def _mark_before(row: int) -> str:
    return f"before {row}"


def _line(place: Place, row: int, found: Found) -> tuple[str, ...]:
    stall = place.stall
    texts = (stall.sender, stall.cause, stall.detail or "", place.heading, stall.advice or stall.cause.advice)
    return (
        *_number_and_time(found.at[_mark(row)]),
        *_number_and_time(found.at.get(_mark_before(row))),
        str(place.flow.id),
        str(stall.number),
        _seconds(stall.duration_ns),
        f"{stall.confidence:.2f}",
        *map(in_terminal, texts),
    )


def _number_and_time(packet: tuple[int, int] | None) -> tuple[str, str]:
    return ("", "") if packet is None else (str(packet[0]), _seconds(packet[1]))


def _seconds(time_ns: int) -> str:
    """As Wireshark's NSTime has it: whole seconds, rounded down, and nanoseconds."""
    return f"{time_ns // _SECOND}.{time_ns % _SECOND:09}"
