"""The side file of a capture: its stalls by packet, for the dissector in Wireshark.

Lines of UTF-8 with columns between tabs. The first line has `tcpstall`, the format's version, the time of the capture's
first packet, the number of stalls and the capture's name; each other line has a stall. Wireshark gives a dissector no
file name, so the first packet's time names the side file, and a stall is shown only at a packet that has its number
and its time.
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcpstall import _core
from tcpstall.errors import ExitCode, NothingToShow, TcpstallError, about
from tcpstall.model import Analysis
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


def side_of(analysis: Analysis, source: str, name: str) -> Side:
    """The side file of the capture in file `source`, which `analysis` is of and which users call `name`.

    Raises NothingToShow where the capture holds no packet, TooMany.
    """
    first_ns = _core.peek(source).first_ns
    if first_ns is None:
        first_ns = analysis.captures[0].first_ns
    if first_ns is None:
        raise NothingToShow(about(name, "holds no packet with a time, by which Wireshark could find its stalls"))
    stalls = [*places(analysis)]
    packet_of, time_of = _lookup(source, stalls)
    placed = [_line(place, packet, time_of) for place in stalls if (packet := packet_of(place)) is not None]
    lines = [("tcpstall", _VERSION, _seconds(first_ns), str(len(placed)), in_terminal(name)), *placed]
    content = "".join("\t".join(line) + "\n" for line in lines).encode()
    if len(content) > _MOST_BYTES:
        many = f"has {counted(len(stalls), 'stall')}, more than Wireshark could keep in memory"
        raise TooMany(about(name, f"{many}: leave short ones out with --min-stall, or cut the capture"))
    return Side(f"{_seconds(first_ns)}.tcpstall", content, len(placed), len(stalls) - len(placed))


def _line(place: Place, packet: int, time_of: Callable[[int], str]) -> tuple[str, ...]:
    stall, before = place.stall, place.begins_after
    texts = (stall.sender, stall.cause, stall.detail or "", place.heading, stall.advice or stall.cause.advice)
    return (
        str(packet),
        time_of(packet),
        "" if before is None else str(before),
        "" if before is None else time_of(before),
        str(place.flow.id),
        str(stall.number),
        _seconds(stall.duration_ns),
        f"{stall.confidence:.2f}",
        *map(in_terminal, texts),
    )


def _lookup(source: str, stalls: Sequence[Place]) -> tuple[Callable[[Place], int | None], Callable[[int], str]]:
    """The number of a stall's packet, and the time of a packet by its number."""
    segments, _ = _core.segments(source)
    numbers, times, sources, destinations = (
        array("q", segments.int64(name)) for name in ("packet", "time_ns", "source_port", "destination_port")
    )
    wanted = {place.stall.end_ns for place in stalls if place.packet is None}
    at: dict[tuple[int, frozenset[int]], int] = {}
    for row, time_ns in enumerate(times):
        if time_ns in wanted:
            at.setdefault((time_ns, frozenset((sources[row], destinations[row]))), numbers[row])

    def packet_of(place: Place) -> int | None:
        if place.packet is not None:
            return place.packet
        return at.get((place.stall.end_ns, frozenset((place.flow.client.port, place.flow.server.port))))

    def time_of(packet: int) -> str:
        return _seconds(times[bisect_left(numbers, packet)])

    return packet_of, time_of


def _seconds(time_ns: int) -> str:
    """As Wireshark's NSTime has it: whole seconds, rounded down, and nanoseconds."""
    return f"{time_ns // _SECOND}.{time_ns % _SECOND:09}"
