"""tcpdump as a child process: its packets come through a pipe, its counts through its standard error."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from tcpstall.errors import CannotCapture

__all__ = ["Counts", "Tcpdump"]

_BUFFER_KIB = 65_536
"""Buffer of the kernel while nobody reads (-B): half a second of a million packets a second of 128 bytes."""

_PIPE_BYTES = 1 << 20
"""As much as Linux allows users that are not root (/proc/sys/fs/pipe-max-size)."""

_PATIENCE_S = 5
"""tcpdump ends at once when it is told to; one that does not is killed."""

_MOMENT_S = 0.1

_COUNT = re.compile(r"(\d+) packets? (captured|received by filter|dropped by (?:kernel|interface))")

_SAYS = "tcpdump: "

_SAID_TWICE = re.compile(r"(.+) \(\1\)$")
"""libpcap gives the kernel's words behind its own, also where they are the same."""

_HINTS = {
    "permi": "run as root, or give tcpdump the right: setcap cap_net_raw,cap_net_admin+eip $(which tcpdump)",
    "such device": "`tcpdump -D` lists the interfaces",
    "filter": "see pcap-filter(7) for --filter",
    "syntax error": "see pcap-filter(7) for --filter",
}
"""Advice on an error of tcpdump, by words in it."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Packets as tcpdump counts them: `received` by its filter, `captured` so far, `dropped` for want of room.

    On loopback interfaces `received` counts packets twice. What was received and not captured at the end is lost too.
    """

    captured: int = 0
    received: int = 0
    dropped: int = 0


class Tcpdump:
    """A tcpdump that captures from an interface. `pipe` is the descriptor that its pcap file comes through.

    At the end of its `with` it is stopped; where it failed by itself that raises CannotCapture.
    """

    def __init__(self, interface: str, *, snaplen: int, expression: str | None = None) -> None:
        """Starts it; `expression` is a filter (pcap-filter(7)). Raises CannotCapture with what tcpdump says."""
        program = shutil.which("tcpdump")
        if program is None:
            raise CannotCapture("cannot capture: there is no tcpdump on this machine; install it")
        options = ["-i", interface, "-s", str(snaplen), "-B", str(_BUFFER_KIB), "-U", "-w", "-"]
        self._interface = interface
        self.pipe, packets = os.pipe()
        errors, words = os.pipe()
        self._errors = open(errors, "rb")  # noqa: PTH123, SIM115 - a descriptor, closed in end()
        self._process = subprocess.Popen(  # noqa: S603 - the user's own tcpdump
            [program, *options, *(["--", expression] if expression else [])],
            stdin=subprocess.DEVNULL,
            stdout=packets,
            stderr=words,
            process_group=0,  # Ctrl-C is ours: it would end before its last packets are asked for
        )
        os.close(packets)
        os.close(words)
        self.counts = Counts()
        self._counted = threading.Event()
        self._said: list[str] = []
        self._stopped = False
        self._expect_listening()
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(OSError):
                fcntl.fcntl(self.pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self) -> None:
        """Asks for the counts of now, and gives tcpdump a moment for the answer: while it is busy, old ones stay."""
        self._counted.clear()
        self._process.send_signal(signal.SIGUSR1)
        self._counted.wait(_MOMENT_S)

    def stop(self) -> None:
        """Ends the capture: what it has still comes through the pipe, then the pipe's end."""
        if self._process.poll() is None:
            self._stopped = True
            self._process.send_signal(signal.SIGINT)

    def finish(self) -> None:
        """Waits until it has ended, for its last words are the counts of all; one that cannot write is killed."""
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.finish()
        os.close(self.pipe)
        self._errors.close()
        if self._process.returncode and not self._stopped:
            raise CannotCapture(f"the capture on {self._interface} ended: {self._reason()}")

    def _expect_listening(self) -> None:
        while line := self._line():
            if "listening on" in line:
                self._said.clear()
                return
        self._process.wait()
        self._errors.close()
        os.close(self.pipe)
        reason = self._reason()
        hint = next((hint for words, hint in _HINTS.items() if words in reason), "")
        raise CannotCapture(f"cannot capture on {self._interface}: {reason}{f'; {hint}' if hint else ''}")

    def _reason(self) -> str:
        said = _SAID_TWICE.sub(r"\1", " ".join(self._said).removeprefix(f"{self._interface}: "))
        return said or f"tcpdump ended with code {self._process.returncode} and said nothing"

    def _listen(self) -> None:
        while self._line():
            pass

    def _line(self) -> str:
        """The next line of its standard error, whose counts are taken; empty at the end."""
        line = self._errors.readline().decode(errors="replace")
        found = {what: int(count) for count, what in _COUNT.findall(line)}
        if found:
            counts, dropped = self.counts, sum(found.get(f"dropped by {who}", 0) for who in ("kernel", "interface"))
            self.counts = Counts(
                found.get("captured", counts.captured),
                found.get("received by filter", counts.received),
                max(dropped, counts.dropped),
            )
            self._counted.set()
        elif line.strip() and "suppressed" not in line:
            self._said = [*self._said[-2:], line.strip().removeprefix(_SAYS)]
        return line
