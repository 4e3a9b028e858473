"""Counts of tshark in a capture beside those of tcpstall, packet by packet."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tcpstall import _core, analyze
from tcpstall.errors import ExitCode

TSHARK = shutil.which("tshark")

_FIELDS = ("frame.number", "frame.protocols")
_QUOTED = (":icmp:", ":icmpv6:", ":sflow:")
"""Errors and samples quote packets; those TCP headers passed nobody here."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Packets in all, and the numbers of those that hold TCP."""

    packets: int
    tcp: frozenset[int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`ours` or `theirs` is None where a capture cannot be read; then `error` or `their_error` says why."""

    path: Path
    exit_code: ExitCode
    error: str | None
    ours: Counts | None
    theirs: Counts | None
    their_error: str

    @property
    def agrees(self) -> bool:
        return self.ours is None or self.theirs is None or self.ours == self.theirs

    @property
    def only_ours(self) -> list[int]:
        return sorted(self.ours.tcp - self.theirs.tcp) if self.ours and self.theirs else []

    @property
    def only_theirs(self) -> list[int]:
        return sorted(self.theirs.tcp - self.ours.tcp) if self.ours and self.theirs else []


def compare(path: Path, *decode_as: str) -> Comparison:
    """Reads the capture with both; `decode_as` are what tshark's `-d` takes, for what it has to be told."""
    (capture,) = analyze(path, strict=False).captures
    ours = None
    if capture.packets:
        table, _ = _core.segments(str(path))
        ours = Counts(capture.packets, frozenset(table.column("packet")))
    theirs, their_error = _by_tshark(path, decode_as)
    return Comparison(path, capture.exit_code, capture.error, ours, theirs, their_error)


def _by_tshark(path: Path, decode_as: Sequence[str]) -> tuple[Counts | None, str]:
    assert TSHARK
    # Each packet for itself: what is reassembled would count where its last part is.
    command = [TSHARK, "-n", "-r", str(path), "-T", "fields", *(part for field in _FIELDS for part in ("-e", field))]
    command += ["-o", "tcp.desegment_tcp_streams:FALSE", "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"]
    command += [part for rule in decode_as for part in ("-d", rule)]
    done = subprocess.run(command, capture_output=True, check=False)
    lines = [line.split("\t") for line in done.stdout.decode(errors="replace").splitlines()]
    errors = [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("tshark:")]
    error = errors[-1] if errors else ""
    if not lines:
        return None, error
    holding = (int(number) for number, protocols in lines if _holds_tcp(protocols))
    return Counts(len(lines), frozenset(holding)), error


def _holds_tcp(protocols: str) -> bool:
    before, found, _ = f"{protocols}:".partition(":tcp:")
    return bool(found) and not any(quoted in f"{before}:" for quoted in _QUOTED)


def streams(path: Path) -> dict[int, frozenset[int]]:
    """Wireshark's `tcp.stream` numbers, each with the ports of its ends."""
    assert TSHARK
    fields = ("tcp.stream", "tcp.srcport", "tcp.dstport")
    command = [TSHARK, "-n", "-r", str(path), "-Y", "tcp", "-T", "fields"]
    command += [part for name in fields for part in ("-e", name)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    numbers = (line.split("\t") for line in done.stdout.splitlines())
    return {int(stream): frozenset((int(source), int(target))) for stream, source, target in numbers}
