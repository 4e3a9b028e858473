"""TCP tracepoints of the kernel: what each ACK found, each change of congestion state, each retransmission."""

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

_TRACEFS = Path("/sys/kernel/tracing")
_EVENTS = ("tcp_probe", "tcp_cong_state_set", "tcp_retransmit_skb")
_LINE = re.compile(r"^.*?\s(\d+\.\d+): (tcp_\w+): (.*)$")
_PAIR = re.compile(r"(\w+)=(\S+)")
_STATES = ("open", "disorder", "cwr", "recovery", "loss")


class Tracepoints:
    """A tracing instance of its own; without tracefs it records nothing and says so in `available`."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._path = _TRACEFS / "instances" / f"lab-{os.getpid()}"
        self._wanted = wanted
        self.available = False

    def __enter__(self) -> "Tracepoints":
        if not self._wanted:
            return self
        try:
            if not (_TRACEFS / "instances").exists():
                subprocess.run(["mount", "-t", "tracefs", "nodev", str(_TRACEFS)], capture_output=True, check=False)
            self._path.mkdir()
            self._set("trace_clock", "mono")
            self._set("buffer_size_kb", "16384")
            for event in _EVENTS:
                self._set(f"events/tcp/{event}/enable", "1")
            self.available = True
        except OSError:
            self.available = False
        return self

    def __exit__(self, *_: object) -> None:
        if self._path.exists():
            for event in _EVENTS:
                self._set(f"events/tcp/{event}/enable", "0")
            self._path.rmdir()

    def _set(self, name: str, value: str) -> None:
        (self._path / name).write_text(value, encoding="ascii")

    def events(self) -> list[dict[str, Any]]:
        """All events so far: `t` in seconds of the captures' clock, `ev`, and the tracepoint's own fields."""
        if not self.available:
            return []
        offset = time.time_ns() - time.monotonic_ns()
        found = []
        for line in (self._path / "trace").read_text(encoding="ascii").splitlines():
            if match := _LINE.match(line):
                fields: dict[str, Any] = dict(_PAIR.findall(match[3]))
                fields["t"] = float(match[1]) + offset / 1e9
                fields["ev"] = match[2]
                found.append(fields)
        self._set("trace", "")
        return found


def congestion_states(events: list[dict[str, Any]], local: int, peer: int) -> list[tuple[float, str]]:
    """(time, state) of the socket with these ports."""
    return [
        (event["t"], _STATES[int(event["cong_state"])])
        for event in events
        if event["ev"] == "tcp_cong_state_set" and (int(event["sport"]), int(event["dport"])) == (local, peer)
    ]


def acks(events: list[dict[str, Any]], local: int, peer: int) -> dict[str, list[Any]]:
    """Values of tcp_probe before each segment was processed, in columns."""
    columns: dict[str, list[Any]] = {
        key: [] for key in ("t", "snd_cwnd", "ssthresh", "snd_wnd", "srtt_us", "in_flight")
    }
    for event in events:
        if (
            event["ev"] != "tcp_probe"
            or not event["src"].endswith(f":{local}")
            or not event["dest"].endswith(f":{peer}")
        ):
            continue
        columns["t"].append(event["t"])
        for key in ("snd_cwnd", "ssthresh", "snd_wnd"):
            columns[key].append(int(event[key]))
        columns["srtt_us"].append(int(event["srtt"]))
        columns["in_flight"].append((int(event["snd_nxt"], 16) - int(event["snd_una"], 16)) & 0xFFFFFFFF)
    return columns
