"""Ranks findings by the time that a change could give back; time that no change can give back never leads."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tcpstall.findings.finding import FAILURES, IDLE, UNSURE, Finding, read
from tcpstall.findings.merging import together
from tcpstall.findings.words import where

if TYPE_CHECKING:
    from tcpstall.model import Analysis

__all__ = ["findings", "idle_ns", "ranked"]

_MOST_FLOWS = 2
"""A failure of at least one in so many connections comes first, however short each took."""

_NEVER_WORKED = FAILURES - {"reset", "cut-answer", "stale-connection"}

_NOBODYS = IDLE - {"handshake-distance"}

_LEAST = 100
"""A finding below this fraction (1/100) of the largest is left out, unless connections failed."""

_LITTLE = {"round-trips": 20, "server-silent": 30}
"""Plain round trips, and silences before what may be events, weigh this fraction (1/20, 1/30) of their time."""

_LEAST_NS = 1_000_000
"""A finding of less time is left out where there is another finding."""

_BROKEN_NS = 1_000_000_000
"""Weight of a connection that its server closed in the middle: clients try again after a second or later."""

_NOTHING_NS = 10_000_000
"""Findings of less time come after a silence that lasted `_LONGER` times as long."""

_LONGER = 1_000

_HOLLOW = 0.99
"""Share of missing data from which no loss is news."""

_OF_THE_WAIT = 4
"""A finding of less than this fraction (1/4) of a service's slow answers does not tell why it waited."""


def findings(analysis: "Analysis") -> list[Finding]:
    """The findings of an analysis, ranked."""
    return ranked(read(analysis.findings_facts), analysis.total, hollow=_is_hollow(analysis))


def _is_hollow(analysis: "Analysis") -> bool:
    """True where a capture of both directions holds hardly any of the data."""
    trusts = [capture.trust for capture in analysis.captures if 2 * capture.trust.flows_one_sided < capture.trust.flows]
    return any((trust.unseen_share or 0.0) > _HOLLOW for trust in trusts)


def idle_ns(analysis: "Analysis") -> int:
    """Part of the time that all flows lost in which nobody waited: pauses of applications, and small messages."""
    return sum(row.time_ns for row in read(analysis.findings_facts) if row.kind in _NOBODYS)


def ranked(found: Iterable[Finding], flows: int, *, hollow: bool = False) -> list[Finding]:
    """The findings of `flows` flows, merged where many services share a fault, and ranked.

    Losses of a `hollow` capture, which holds hardly any of the data, come last: what seems to be sent again is a part
    of what the capture lacks.
    """
    rows = together(_with_clients(list(found)))
    silence, pauses = _longest(rows, IDLE), _longest(rows, _NOBODYS)
    rows.sort(
        key=lambda finding: (_is_nothing(finding, silence), hollow and finding.kind == "loss", _place(finding, flows))
    )
    largest = max((_weight(finding) for finding in rows), default=0)
    kept = [finding for finding in rows if _is_worth(finding, largest, pauses, flows)]
    if not any(finding.is_lead for finding in kept):
        # A repair that cost next to nothing is news where there is nothing else.
        kept = [finding for finding in rows if finding.kind == "loss" or _is_worth(finding, largest, pauses, flows)]
    return _followed_back(kept) or rows[:1]


def _followed_back(rows: Sequence[Finding]) -> list[Finding]:
    """The findings, those of a service that a slow one waited for before that one's."""
    told = list(rows)
    for slow in rows:
        behind = next((row for row in told if _explains(row, slow)), None)
        if behind is None:
            continue
        place, own = told.index(behind), next(at for at, row in enumerate(told) if _is_same(row, slow))
        told[place] = replace(behind, awaited_by=tuple(dict.fromkeys((*behind.awaited_by, where(slow)))))
        if place > own:
            told.insert(own, told.pop(place))
    return told


def _explains(finding: Finding, slow: Finding) -> bool:
    """True where the slow service waited for that of the finding, whose time would be enough for it."""
    behind = slow.waited_for
    if behind is None or not finding.is_lead or finding.time_ns * _OF_THE_WAIT < slow.time_ns:
        return False
    return finding.address == behind.address and finding.port in (behind.port, None)


def _is_same(one: Finding, other: Finding) -> bool:
    return (one.kind, one.side, one.address, one.port) == (other.kind, other.side, other.address, other.port)


def _longest(rows: Iterable[Finding], kinds: frozenset[str]) -> int:
    return max((finding.time_ns for finding in rows if finding.kind in kinds), default=0)


def _with_clients(found: list[Finding]) -> list[Finding]:
    """The findings, those of one client marked where the service has others."""
    clients: dict[tuple[str | None, int | None], set[str | None]] = {}
    for row in found:
        clients.setdefault((row.address, row.port), set()).add(row.client)
    several = {service for service, of in clients.items() if len(of) > 1 or None in of}
    return [
        replace(row, of_several_clients=True) if row.client and (row.address, row.port) in several else row
        for row in found
    ]


def _weight(finding: Finding) -> int:
    """Weight of the finding; light kinds weigh less, so that repairs and slow answers come before them."""
    if finding.kind in ("reset", "cut-answer") and finding.side == "server":
        return finding.flows * _BROKEN_NS
    return finding.time_ns // _LITTLE[finding.kind] if finding.kind in _LITTLE else finding.weight_ns


def _is_nothing(finding: Finding, silence: int) -> bool:
    """True where milliseconds would lead a silence thousands of times as long, or microseconds a longer one."""
    repairs = finding.is_lead and not finding.is_failure and finding.kind != "loss"
    return repairs and finding.time_ns < max(min(_LEAST_NS, silence), min(_NOTHING_NS, silence // _LONGER))


def _place(finding: Finding, flows: int) -> tuple[int, int, int, int, str, str, int]:
    most = finding.kind in _NEVER_WORKED and finding.flows * _MOST_FLOWS >= flows and not finding.is_a_scan
    blind = finding.kind == "one-sided" and finding.flows * _MOST_FLOWS > flows
    group = 0 if most or blind else 1 if _weight(finding) >= _LEAST_NS else 2 if finding.is_failure else 3
    if finding.kind in IDLE | UNSURE and not blind:
        group = 4
    return (
        group,
        -_weight(finding),
        -finding.time_ns,
        -finding.flows,
        finding.kind,
        finding.address or "",
        finding.port or 0,
    )


def _is_worth(finding: Finding, largest: int, pauses: int, flows: int) -> bool:
    if finding.is_failure:
        return finding.flows * _LEAST >= flows or finding.weight_ns * _LEAST >= largest
    if finding.kind == "one-sided":
        return True
    if finding.kind in IDLE:
        # Round trips of handshakes are told where hardly anything else took time, the applications' pauses included.
        return finding.time_ns > (max(largest, pauses) if finding.kind == "handshake-distance" else largest)
    return finding.time_ns >= _LEAST_NS and finding.time_ns * _LEAST >= largest
