"""A program that talks TCP by script and notes what it was doing at every moment."""

import contextlib
import json
import select
import socket
import struct
import termios
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from typing import Any

from tests.tools.lab.hosts.sampler import Sampler

_TCP_WINDOW_CLAMP, _SO_MAX_PACING_RATE = 10, 47
_OPTIONS: dict[str, tuple[int, int]] = {
    "sndbuf": (socket.SOL_SOCKET, socket.SO_SNDBUF),
    "rcvbuf": (socket.SOL_SOCKET, socket.SO_RCVBUF),
    "maxpacing": (socket.SOL_SOCKET, _SO_MAX_PACING_RATE),
    "keepalive": (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    "keepidle": (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
    "keepintvl": (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL),
    "nodelay": (socket.IPPROTO_TCP, socket.TCP_NODELAY),
    "mss": (socket.IPPROTO_TCP, socket.TCP_MAXSEG),
    "clamp": (socket.IPPROTO_TCP, _TCP_WINDOW_CLAMP),
    "quickack": (socket.IPPROTO_TCP, socket.TCP_QUICKACK),
}
_BLANK = memoryview(b"x" * (1 << 20))


class Endpoint:
    """One end of a connection."""

    def __init__(self, script: str, folder: Path, name: str, sample_us: int) -> None:
        self._lines = [line.split() for line in script.splitlines() if line]
        self._folder, self._name = folder, name
        self._log: list[dict[str, Any]] = []
        self._options: list[tuple[str, str]] = []
        self._socket = socket.socket()
        self._listener: socket.socket | None = None
        self._sampler = Sampler(folder / f"{name}.samples.json", sample_us) if sample_us else None

    def run(self) -> None:
        """Every line in turn; a connection that breaks ends the script. What was done goes to `<name>.app.json`."""
        verbs: dict[str, Callable[..., object]] = {
            "opt": self._option, "listen": self._listen, "connect": self._connect, "write": self._write,
            "read": self._read, "readslow": self._read_slowly, "readeof": self._read_to_end, "sleep": self._sleep,
            "drain": self._drain, "shut": self._shut, "close": self._close,
        }  # fmt: skip
        try:
            for verb, *arguments in self._lines:
                began = time.time_ns()
                note = verbs[verb](*arguments)
                self._log.append({"ev": verb, "t": began / 1e9, "end": time.time_ns() / 1e9, "args": arguments})
                if isinstance(note, dict):
                    self._log[-1] |= note
        except OSError as broken:
            self._log.append({"ev": verb, "t": began / 1e9, "end": time.time_ns() / 1e9, "error": str(broken)})
        if self._listener:
            self._listener.close()
        if self._sampler:
            self._sampler.stop()
        (self._folder / f"{self._name}.app.json").write_text(json.dumps(self._log), encoding="ascii")

    def _open(self, address: str) -> socket.socket:
        opened = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for name, value in self._options:
            self._set(opened, name, value)
        return opened

    @staticmethod
    def _set(on: socket.socket, name: str, value: str) -> None:
        if name == "cc":
            on.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, value.encode())
        else:
            level, option = _OPTIONS[name]
            on.setsockopt(
                level, option, struct.pack("q", int(value)) if name == "maxpacing" else struct.pack("i", int(value))
            )

    def _option(self, name: str, value: str) -> None:
        self._options.append((name, value))
        if self._socket.fileno() >= 0 and self._log and self._log[-1]["ev"] not in {"opt"}:
            self._set(self._socket, name, value)

    def _listen(self, address: str, port: str) -> dict[str, Any]:
        """A script may listen again on the same port: who calls in between is kept waiting, not refused."""
        if self._listener is None:
            self._listener = self._open(address)
            self._listener.bind((address, int(port)))
            self._listener.listen(1)
            (self._folder / f"{self._name}.listening").touch()
        self._socket, _ = self._listener.accept()
        self._watch()
        return self._ends()

    def _connect(self, address: str, port: str) -> dict[str, Any]:
        self._socket = self._open(address)
        self._watch()
        self._socket.connect((address, int(port)))
        return self._ends()

    def _watch(self) -> None:
        """The sampler takes one socket only."""
        if self._sampler:
            self._sampler.watch(self._socket)

    def _ends(self) -> dict[str, Any]:
        return {"local": self._socket.getsockname()[:2], "peer": self._socket.getpeername()[:2]}

    def _write(self, size: str, chunk: str = "1048576", pause_ms: str = "0") -> dict[str, Any]:
        """Without a pause the program never leaves write() for longer than it takes to call it again."""
        left = int(size)
        pauses = []
        while left:
            step = min(left, int(chunk))
            self._socket.sendall(_BLANK[:step])
            left -= step
            if left and float(pause_ms):
                began = time.time_ns()
                self._sleep(pause_ms)
                pauses.append((began / 1e9, time.time_ns() / 1e9))
        return {"pauses": pauses} if pauses else {}

    def _read(self, size: str) -> None:
        left = int(size)
        while left:
            got = len(self._socket.recv(min(left, 1 << 18)))
            if not got:
                raise ConnectionError("the peer closed before all was read")
            left -= got

    def _read_slowly(self, size: str, chunk: str, pause_ms: str) -> None:
        left = int(size)
        while left:
            step = min(left, int(chunk))
            self._read(str(step))
            left -= step
            time.sleep(float(pause_ms) / 1e3)

    def _read_to_end(self) -> None:
        while self._socket.recv(1 << 18):
            pass

    @staticmethod
    def _sleep(ms: str) -> None:
        time.sleep(float(ms) / 1e3)

    def _drain(self, limit_ms: str) -> None:
        """Until the peer acknowledged everything."""
        deadline = time.monotonic() + float(limit_ms) / 1e3
        while time.monotonic() < deadline:
            answer = bytearray(4)
            ioctl(self._socket, termios.TIOCOUTQ, answer)
            if not any(answer):
                return
            select.select([], [], [], 0.0005)

    def _shut(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def _close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()
