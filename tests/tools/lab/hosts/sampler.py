"""A process beside each endpoint that reads the kernel's state of its socket many times in a round trip."""

import array
import json
import os
import select
import socket
import time
from pathlib import Path
from typing import Any

from tests.tools.lab.hosts import kernel
from tests.tools.lab.network.children import spawn

KEPT = (
    "state", "ca_state", "backoff", "probes", "rto", "snd_mss", "unacked", "sacked", "lost", "retrans", "pif", "cwnd",
    "ssthresh", "rtt", "notsent", "unacked_bytes", "snd_wnd", "wmem_queued", "sndbuf", "total_retrans",
)  # fmt: skip
CHANGING = tuple(name for name in KEPT if name not in {"rtt", "rto"})
_CLOSED = 7
_PRIORITY = 12


class Sampler:
    """Handed the socket once it exists; ends with `stop` and leaves `<name>.samples.json`."""

    def __init__(self, path: Path, every_us: int) -> None:
        self._near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._child = spawn(None, _PRIORITY, lambda: _serve(far, path, every_us))
        far.close()

    def watch(self, of: socket.socket) -> None:
        """Sampling starts."""
        socket.send_fds(self._near, [b"w"], [of.fileno()])

    def stop(self) -> None:
        """Sampling ends; waits until the samples are written."""
        self._near.send(b"q")
        os.waitpid(self._child, 0)


def _serve(orders: socket.socket, path: Path, every_us: int) -> None:
    order, handles, _, _ = socket.recv_fds(orders, 1, 1)
    samples: list[dict[str, Any]] = []
    if order == b"w" and handles:
        with socket.socket(fileno=array.array("i", handles)[0]) as watched:
            samples = _sample(watched, orders, every_us / 1e6)
    table = {"t": [row["t"] for row in samples]} | {key: [row[key] for row in samples] for key in KEPT}
    path.write_text(json.dumps({"series": table, "final": samples[-1] if samples else {}}), encoding="ascii")


def _sample(watched: socket.socket, orders: socket.socket, every_s: float) -> list[dict[str, Any]]:
    """On change only: what is not there is as it was before."""
    rows: list[dict[str, Any]] = []
    before: tuple[Any, ...] = ()
    parent = os.getppid()
    while True:
        began = time.time_ns()
        row = kernel.read(watched)
        row["t"] = (began + time.time_ns()) / 2e9
        now = tuple(row[key] for key in CHANGING)
        ended = row["state"] == _CLOSED and bool(rows)
        if now != before and not ended:
            rows.append(row)
            before = now
        elif not ended and rows:
            rows[-1] |= {
                key: row[key] for key in ("rtt", "rto", "min_rtt", "busy_time", "rwnd_limited", "sndbuf_limited")
            }
        if ended or os.getppid() != parent or select.select([orders], [], [], every_s)[0]:
            return rows
