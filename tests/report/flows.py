"""Flows and analyses written by hand, as small as a test needs them."""

import json
from array import array
from collections.abc import Sequence
from typing import Any

from rich.console import Console, RenderableType

from tcpstall import Analysis, Cause, Direction, Endpoint, Flow, Handshake, Stall, Vantage

MS = 1_000_000


def stall(cause: Cause, lasted_ms: float, *, at_ms: float = 10, **more: Any) -> Stall:
    start, length = int(at_ms * MS), int(lasted_ms * MS)
    values: dict[str, Any] = {
        "sender": "server",
        "ended": True,
        "detail": None,
        "confidence": 0.95,
        "also": (),
        "missing": (),
        "evidence": {},
        "advice": f"change what makes it {cause.value}",
    }
    return Stall(start_ns=start, end_ns=start + length, duration_ns=length, cause=cause, **(values | more))


def flow(*stalls: Stall, length_ms: float = 100, **more: Any) -> Flow:
    ledger: dict[str, int] = {"handshake": 10 * MS}
    for one in stalls:
        ledger[one.cause] = ledger.get(one.cause, 0) + one.duration_ns
    ledger["sending"] = int(length_ms * MS) - sum(ledger.values())
    values: dict[str, Any] = {
        "id": 0,
        "client": Endpoint("192.0.2.1", 40_000),
        "server": Endpoint("192.0.2.2", 443),
        "start_ns": 0,
        "end_ns": int(length_ms * MS),
        "segments": 20,
        "state": "closed",
        "vantage": Vantage("server", 0.9),
        "base_rtt_ns": 10 * MS,
        "handshake": Handshake(complete=True, duration_ns=10 * MS),
        "directions": {
            "client": Direction(bytes=100, segments=1),
            "server": Direction(bytes=1_000_000, segments=700, mss_bytes=1448, initial_window_bytes=14_480),
        },
    }
    return Flow(stalls=stalls, time_ns=ledger, **(values | more))


class _Table:
    def __init__(self, columns: dict[str, list[int]]) -> None:
        self._columns = columns

    def int64(self, name: str) -> bytes:
        return array("q", self._columns[name]).tobytes()


class _Status:
    def __init__(self, row: dict[str, Any]) -> None:
        self.path, self.exit_code, self.error = row["path"], row.get("exit_code", 0), row.get("error")
        self.json = json.dumps(row)


class _Report:
    """The part of the native report that a page looks at."""

    def __init__(self, flows: Sequence[Flow], captures: Sequence[dict[str, Any]]) -> None:
        self._flows = flows
        self.captures = [_Status(row) for row in captures]
        owners = [*Cause, "sending", "in-transit", "closing"]
        columns = {
            f"time_{owner.replace('-', '_')}_ns": [one.time_ns.get(owner, 0) for one in flows] for owner in owners
        }
        columns |= {
            "start_ns": [one.start_ns for one in flows],
            "end_ns": [one.end_ns for one in flows],
            "client_bytes": [one.directions["client"].bytes for one in flows],
            "server_bytes": [one.directions["server"].bytes for one in flows],
            "stalls": [len(one.stalls) for one in flows],
        }
        self.flows = _Table(columns)
        self.services_json = "[]"
        self.findings_json = "[]"
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._flows)

    def by_lost(self) -> list[int]:
        return sorted(range(len(self)), key=lambda row: self._flows[row].idle_ns - self._flows[row].lost_ns)


class Canned(Analysis):
    """An Analysis of flows that are there already."""

    def __init__(self, flows: Sequence[Flow], captures: Sequence[dict[str, Any]] = ()) -> None:
        report = _Report(flows, captures or [capture()])
        super().__init__(report)  # type: ignore[arg-type]
        self._flows = flows

    def __getitem__(self, row: int) -> Flow:
        return self._flows[row]


def capture(**more: Any) -> dict[str, Any]:
    return {"path": "a.pcap", "format": "pcap", "packets": 20, "tcp_segments": 20, "first_ns": 0, "last_ns": MS} | more


def text(*parts: RenderableType, width: int = 160) -> str:
    console = Console(width=width, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as written:
        for part in parts:
            console.print(part, crop=False)
    return "\n".join(line.rstrip() for line in written.get().splitlines())
