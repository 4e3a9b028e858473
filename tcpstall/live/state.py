"""State after an interval: figures of all that was read, and what the interval added."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tcpstall import _core
from tcpstall.causes import Cause
from tcpstall.live.tcpdump import Counts
from tcpstall.model import Analysis, Capture, CaptureWarning, Flow, Held
from tcpstall.trust import CaptureTrust

__all__ = ["TOP", "Interval", "Served", "State", "continued", "served"]

TOP = 10
"""Flows that are held: those that lost most."""

_OF_FLOWS = frozenset({"unseen-data", "clock-steps", "options-cut"})
"""Codes of warnings that add up what flows lack: the trust of the whole tells them."""

Ledger = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Served:
    """The flows of one service since `first_ns`: services without a segment for ten minutes leave, and begin anew.

    `time_ns` is their ledgers added up; `new_bytes` and `new_lost_ns` are what the interval added.
    """

    address: str
    port: int
    flows: int
    open_flows: int
    bytes: int
    first_ns: int
    last_ns: int
    time_ns: Ledger
    new_bytes: int
    new_lost_ns: int

    @property
    def lost_ns(self) -> int:
        """Time that some cause owns."""
        return lost(self.time_ns)

    @property
    def main_cause(self) -> Cause | None:
        """The cause with most time; None where none has any."""
        cause = max(Cause, key=lambda one: self.time_ns.get(one, 0))
        return cause if self.time_ns.get(cause, 0) else None


@dataclass(frozen=True, slots=True)
class Interval:
    """Figures that an interval added. A figure below zero corrects an earlier one of a wait that went on."""

    packets: int = 0
    bytes: int = 0
    time_ns: Ledger = dataclasses.field(default_factory=dict)

    @property
    def lost_ns(self) -> int:
        """Time that some cause owns."""
        return lost(self.time_ns)


@dataclass(frozen=True)
class State:
    """After an interval."""

    capture: Capture
    counts: Counts
    totals: _core.Totals
    services: tuple[Served, ...]
    interval: Interval
    every_ns: int

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """Those in which somebody waited longest, the first one longest."""
        analysis = Analysis(self.totals.worst())
        return tuple(analysis[row] for row in analysis.ranked())

    @cached_property
    def time_ns(self) -> Ledger:
        """The ledgers of all flows added up."""
        return dict(self.totals.time_ns)

    @property
    def lost_ns(self) -> int:
        """Time of all flows that some cause owns."""
        return lost(self.time_ns)

    def analysis(self) -> Analysis:
        """The diagnosis of all that was read, as `tcpstall.analyze` gives it."""
        analysis = Analysis(self.totals.report(), held=Held(TOP, "lost"))
        analysis.captures = (self.capture,)
        return analysis


def lost(time_ns: Ledger) -> int:
    """Time in a ledger that causes own."""
    return sum(time_ns.get(cause, 0) for cause in Cause)


def served(totals: _core.Totals, before: Mapping[tuple[str, int], Served]) -> Iterator[Served]:
    """The services of the totals; `before` are those of the interval before, by address and port."""
    table = totals.services
    owners = _core.owners()
    ledgers = zip(*(table.column(f"time_{owner.replace('-', '_')}_ns") for owner in owners), strict=True)
    names = ("address", "port", "flows", "open_flows", "bytes", "first_ns", "last_ns")
    rows = zip(*(table.column(name) for name in names), strict=True)
    for (address, port, flows, open_flows, size, first_ns, last_ns), spans in zip(rows, ledgers, strict=True):
        time_ns = {owner: span for owner, span in zip(owners, spans, strict=True) if span}
        earlier = before.get((address, port))
        yield Served(
            address,
            port,
            flows,
            open_flows,
            size,
            first_ns,
            last_ns,
            time_ns,
            new_bytes=size - (earlier.bytes if earlier else 0),
            new_lost_ns=lost(time_ns) - (earlier.lost_ns if earlier else 0),
        )


def continued(before: Capture | None, status: _core.CaptureStatus, totals: _core.Totals, counts: Counts) -> Capture:
    """The capture with one more interval, as one: what all its flows lack, and what was dropped."""
    new = Capture.from_status(status)
    if before is not None:
        times = [at for one in (before, new) for at in (one.first_ns, one.last_ns) if at is not None]
        new = dataclasses.replace(
            new,
            exit_code=max(before.exit_code, new.exit_code),
            error=before.error or new.error,
            packets=before.packets + new.packets,
            tcp_segments=before.tcp_segments + new.tcp_segments,
            first_ns=min(times, default=None),
            last_ns=max(times, default=None),
            skipped={why: count + before.skipped.get(why, 0) for why, count in new.skipped.items()},
            warnings=_together((*before.warnings, *new.warnings)),
        )
    facts = json.loads(totals.trust_json)
    known = {field.name: facts[field.name] for field in dataclasses.fields(CaptureTrust) if field.name in facts}
    trust = CaptureTrust(**known | {"dropped_packets": counts.dropped})
    warnings = tuple(warning for warning in new.warnings if warning.code not in {*_OF_FLOWS, "capture-drops"})
    if counts.dropped:
        message = f"the capture dropped {counts.dropped} packets; waits near them may be mislabelled"
        warnings += (CaptureWarning("capture-drops", counts.dropped, message),)
    return dataclasses.replace(new, stream=None, first_packet=None, trust=trust, warnings=warnings)


def _together(warnings: tuple[CaptureWarning, ...]) -> tuple[CaptureWarning, ...]:
    """One of each code, in the words of the last."""
    found: dict[str, CaptureWarning] = {}
    for warning in warnings:
        count = warning.count + (found[warning.code].count if warning.code in found else 0)
        found[warning.code] = dataclasses.replace(warning, count=count)
    return tuple(found.values())
