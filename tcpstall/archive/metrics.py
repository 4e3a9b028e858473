"""How scanning goes, for Prometheus and for logs that programs read."""

import json
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from tcpstall.archive.progress import Summary
from tcpstall.archive.work import Done
from tcpstall.errors import CannotWrite, ExitCode
from tcpstall.output import written

__all__ = ["Log", "Metrics"]

_EVERY_S = 5.0


class Metrics:
    """Writes a file in Prometheus' text format, whole each time, for node_exporter's textfile collector.

    Counters run as long as this process, gauges tell of the newest round.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written_s = 0.0
        self._sums: Counter[str] = Counter()
        self._errors: Counter[int] = Counter()
        self._pending = [0, 0]
        self._newest_ns: int | None = None
        self._finished: tuple[float, float] | None = None

    def planned(self, captures: int, size: int, known: int) -> None:
        """A round begins."""
        self._pending = [captures, size]
        self._sums["known"] = known
        self._write()

    def read(self, size: int) -> None:
        """Bytes count as they are read."""
        self._sums["bytes"] += size
        if time.monotonic() - self._written_s > _EVERY_S:
            self._write()

    def done(self, done: Done) -> None:
        """A task is committed."""
        rows = done.commit.captures
        self._sums.update(captures=len(rows), packets=done.packets, flows=done.flows)
        self._errors.update(row["exit_code"] for row in rows if row["exit_code"] != ExitCode.COMPLETE)
        self._errors[ExitCode.CANNOT_OPEN] += len(done.skipped)
        self._pending = [max(0, self._pending[0] - len(rows)), max(0, self._pending[1] - done.size)]
        newest = [row["last_ns"] for row in rows if row.get("last_ns") is not None]
        self._newest_ns = max([*newest, *([] if self._newest_ns is None else [self._newest_ns])], default=None)
        if time.monotonic() - self._written_s > _EVERY_S:
            self._write()

    def finished(self, summary: Summary) -> None:
        """A round is over."""
        self._pending = [0, 0]
        self._finished = (time.time(), summary.seconds)
        self._write()

    def _write(self) -> None:
        try:
            with written(self._path) as file:
                file.write("".join(self._lines()).encode())
        except OSError as error:
            raise CannotWrite(f"cannot write {self._path}: {error.strerror or error}") from error
        self._written_s = time.monotonic()

    def _lines(self) -> list[str]:
        sums, pending = self._sums, self._pending
        lines = [
            _metric("captures_total", "counter", "captures scanned", sums["captures"]),
            _metric("bytes_total", "counter", "bytes of captures read, as stored", sums["bytes"]),
            _metric("packets_total", "counter", "packets in the captures scanned", sums["packets"]),
            _metric("flows_total", "counter", "flows found", sums["flows"]),
            _metric("known_captures", "gauge", "captures that were in the store before the round", sums["known"]),
            _metric("pending_captures", "gauge", "captures still to be scanned in this round", pending[0]),
            _metric("pending_bytes", "gauge", "bytes still to be scanned in this round", pending[1]),
        ]
        codes = [code for code in ExitCode if code in self._errors or code in _CAPTURES_FAIL_WITH]
        errors = "".join(f'tcpstall_scan_errors_total{{exit_code="{code}"}} {self._errors[code]}\n' for code in codes)
        lines.append(_head("errors_total", "counter", "captures not read, or not to their end") + errors)
        if self._newest_ns is not None:
            lag = time.time() - self._newest_ns / 1e9
            lines.append(_metric("lag_seconds", "gauge", "age of the newest packet that was scanned", f"{lag:.3f}"))
        if self._finished is not None:
            when, took = self._finished
            lines += [
                _metric("finished_timestamp_seconds", "gauge", "when the newest round ended", f"{when:.3f}"),
                _metric("duration_seconds", "gauge", "how long it took", f"{took:.3f}"),
            ]
        return lines


_CAPTURES_FAIL_WITH = (ExitCode.DEFECT, ExitCode.CANNOT_OPEN, ExitCode.NOT_A_CAPTURE, ExitCode.DAMAGED)


def _head(name: str, kind: str, what: str) -> str:
    return f"# HELP tcpstall_scan_{name} {what}\n# TYPE tcpstall_scan_{name} {kind}\n"


def _metric(name: str, kind: str, what: str, value: int | str) -> str:
    return f"{_head(name, kind, what)}tcpstall_scan_{name} {value}\n"


class Log:
    """A JSON object a line: what was planned, each task done, each capture that failed or was skipped, the end."""

    def __init__(self, to: TextIO) -> None:
        self._to = to

    def planned(self, captures: int, size: int, known: int) -> None:
        """A round begins."""
        self._event("planned", captures=captures, bytes=size, known=known)

    def read(self, size: int) -> None:
        """Not worth a line."""

    def done(self, done: Done) -> None:
        """A task is committed."""
        rows = done.commit.captures
        for row in rows:
            if row["exit_code"] != ExitCode.COMPLETE:
                self._event("failed", capture=row["name"], exit_code=row["exit_code"], error=row["error"])
        for each in done.skipped:
            self._event("skipped", capture=each.name, error=each.why)
        self._event(
            "scanned", captures=len(rows), bytes=done.size, packets=done.packets, flows=done.flows, failed=done.failed
        )

    def finished(self, summary: Summary) -> None:
        """A round is over."""
        self._event(
            "finished",
            captures=summary.captures,
            known=summary.known,
            failed=summary.failed,
            skipped=len(summary.skipped),
            bytes=summary.bytes,
            packets=summary.packets,
            flows=summary.flows,
            seconds=round(summary.seconds, 3),
            not_continued=summary.not_continued,
        )

    def _event(self, event: str, **fields: object) -> None:
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            self._to.write(json.dumps({"time": when, "event": event, **fields}) + "\n")
            self._to.flush()
        except OSError as error:
            raise CannotWrite(f"cannot write the log: {error.strerror or error}") from error
