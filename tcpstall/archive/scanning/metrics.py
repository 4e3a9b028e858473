"""Progress of scanning, for Prometheus and for logs that programs read."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from tcpstall.archive.asking.exporting import exported, last_exported, samples
from tcpstall.archive.scanning.progress import Summary
from tcpstall.archive.scanning.task import Done
from tcpstall.archive.storing.ledger import Ledger
from tcpstall.errors import CannotWrite, ExitCode
from tcpstall.metrics.exposition import Sample, exposed
from tcpstall.metrics.families import Family
from tcpstall.output import written

__all__ = ["Log", "Metrics"]

_EVERY_S = 5.0

_COUNTERS = {
    name: Family(f"tcpstall_scan_{name}", "counter", what)
    for name, what in (
        ("captures", "captures scanned"),
        ("bytes", "bytes of captures read, as stored"),
        ("packets", "packets in the captures scanned"),
        ("flows", "flows found"),
    )
}
_ERRORS = Family("tcpstall_scan_errors", "counter", "captures not read, or not to their end", labels=("exit_code",))
_CAPTURES_FAIL_WITH = (ExitCode.DEFECT, ExitCode.CANNOT_OPEN, ExitCode.NOT_A_CAPTURE, ExitCode.DAMAGED)

_COUNTED = re.compile(rf"tcpstall_scan_({'|'.join(_COUNTERS)})_total (\d+)")
_FAILED = re.compile(rf'{_ERRORS.sample}\{{exit_code="(\d+)"\}} (\d+)')


class Metrics:
    """Writes a file in Prometheus' text format, whole each time, for node_exporter's textfile collector.

    Counters go on from what the file says, gauges tell of the newest round. The metrics of the store are those of its
    newest round that ended.
    """

    def __init__(self, path: Path, store: str) -> None:
        self._path = path
        self._store = store
        self._ledger: Ledger | None = None
        self._written_s = 0.0
        self._sums, self._errors = _carried(path)
        self._known = 0
        self._pending = [0, 0]
        """Captures and bytes; below 0 until a round is planned to its end."""
        self._newest_ns: int | None = None
        self._finished: tuple[float, float] | None = None

    def begun(self) -> None:
        """A round begins."""
        self._pending = [0, 0]

    def planned(self, captures: int, size: int, known: int) -> None:
        """Less what is done already."""
        self._pending = [self._pending[0] + captures, self._pending[1] + size]
        self._known = known
        self._ledger = last_exported(self._store)
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
        self._pending = [self._pending[0] - len(rows), self._pending[1] - done.size]
        newest = [row["last_ns"] for row in rows if row.get("last_ns") is not None]
        self._newest_ns = max([*newest, *([] if self._newest_ns is None else [self._newest_ns])], default=None)
        if time.monotonic() - self._written_s > _EVERY_S:
            self._write()

    def finished(self, summary: Summary) -> None:
        """A round is over."""
        self._pending = [0, 0]
        self._finished = (time.time(), summary.seconds)
        self._ledger, _ = exported(self._store)
        self._write()

    def _write(self) -> None:
        of_the_store = () if self._ledger is None else samples(self._ledger)
        text = exposed([*self._families(), *of_the_store], "prometheus")
        try:
            with written(self._path) as file:
                file.write(text.encode())
        except OSError as error:
            raise CannotWrite(f"cannot write {self._path}: {error.strerror or error}") from error
        self._written_s = time.monotonic()

    def _families(self) -> Iterator[tuple[Family, list[Sample]]]:
        for name, family in _COUNTERS.items():
            yield family, [Sample(family.sample, str(self._sums[name]))]
        yield _gauge("known_captures", "captures that were in the store before the round", self._known)
        yield _gauge("pending_captures", "captures still to be scanned in this round", max(0, self._pending[0]))
        yield _gauge("pending_bytes", "bytes still to be scanned in this round", max(0, self._pending[1]))
        codes = [code for code in ExitCode if code in self._errors or code in _CAPTURES_FAIL_WITH]
        yield (
            _ERRORS,
            [Sample(_ERRORS.sample, str(self._errors[code]), {"exit_code": str(code.value)}) for code in codes],
        )
        if self._newest_ns is not None:
            lag = time.time() - self._newest_ns / 1e9
            yield _gauge("lag_seconds", "age of the newest packet that was scanned", f"{lag:.3f}")
        if self._finished is not None:
            when, took = self._finished
            yield _gauge("finished_timestamp_seconds", "when the newest round ended", f"{when:.3f}")
            yield _gauge("duration_seconds", "how long it took", f"{took:.3f}")


def _gauge(name: str, what: str, value: int | str) -> tuple[Family, list[Sample]]:
    family = Family(f"tcpstall_scan_{name}", "gauge", what)
    return family, [Sample(family.sample, str(value))]


def _carried(path: Path) -> tuple[Counter[str], Counter[int]]:
    """Counts of earlier runs, read from the file; nothing where there is no such file."""
    text = ""
    with suppress(OSError):
        if path.is_file():  # a pipe would wait for its writer
            text = path.read_text(errors="replace")
    sums = Counter({found[1]: int(found[2]) for found in map(_COUNTED.fullmatch, text.splitlines()) if found})
    errors = Counter({int(found[1]): int(found[2]) for found in map(_FAILED.fullmatch, text.splitlines()) if found})
    return sums, errors


class Log:
    """A JSON object a line: what was planned, each task done, each capture that failed or was skipped, the end."""

    def __init__(self, to: TextIO) -> None:
        self._to = to

    def begun(self) -> None:
        """Not worth a line."""

    def planned(self, captures: int, size: int, known: int) -> None:
        """All of a round is planned."""
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
