"""Merges findings of one kind at many services, because a list of them would hide their common cause."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tcpstall.findings.finding import FAILURES, IDLE, Finding
from tcpstall.model.losses import Losses

__all__ = ["together"]

_MANY_PORTS = 3
"""Ports of a host from which a common fault is the host's."""

_MANY_HOSTS = 6
"""Hosts from which a common fault is the client's, or that of the shared path."""

_NOBODYS = 2
"""Services from which time that no change can give back is told as one."""

_OF_THE_PATH = FAILURES | {
    "handshake-loss",
    "accept-queue",
    "handshake-slow",
    "handshake-distance",
    "loss",
    "reordering",
    "idle",
    "messages",
    "one-sided",
    "unexplained",
}
"""Kinds of faults of a host or a path; other kinds are a service's own."""

_ADDED_UP = (
    "flows",
    "waits",
    "time_ns",
    "counted",
    "attempts",
    "exchanges",
    "bytes",
    "segments",
    "retransmitted_bytes",
    "needless_retransmissions",
    "reordered_segments",
    "lasted_ns",
    "tls_handshake_ns",
    "reset_in_tls",
    "reset_unanswered",
    "services",
    "makes_most",
)
"""Fields of a finding that are sums already."""


def together(found: Iterable[Finding]) -> list[Finding]:
    """The findings, merged where many ports of a host, then many hosts share one."""
    rows = list(found)
    rows = _merged(rows, _MANY_PORTS, by_host=True)
    return _merged(rows, _MANY_HOSTS, by_host=False)


def _merged(rows: Sequence[Finding], least: int, *, by_host: bool) -> list[Finding]:
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for row in rows:
        key: tuple[str, ...] = (row.kind, row.side, row.address or "") if by_host else (row.kind, row.side)
        groups.setdefault(key, []).append(row)
    merged: list[Finding] = []
    for group in groups.values():
        several = len(group) >= (_NOBODYS if group[0].kind in IDLE else least) and group[0].kind in _OF_THE_PATH
        merged += [_sum(group, by_host=by_host)] if several else group
    return merged


def _sum(group: Sequence[Finding], *, by_host: bool) -> Finding:
    """The sum of findings, with the distribution and the example of the largest."""
    first = max(group, key=lambda row: (row.time_ns, row.flows))
    details: dict[str, int] = {}
    for row in group:
        for name, span in row.details:
            details[name] = details.get(name, 0) + span
    clients = {row.client for row in group}
    client = clients.pop() if len(clients) == 1 else None
    recoverable = [row.recoverable_ns for row in group if row.recoverable_ns is not None]
    return replace(
        first,
        address=first.address if by_host else None,
        port=None,
        client=client,
        of_several_clients=first.of_several_clients and client is not None,
        recoverable_ns=sum(recoverable) if recoverable else None,
        worst_ns=max(row.worst_ns for row in group),
        median_ns=_within(group, 0.5),
        p95_ns=_within(group, 0.95),
        tenths_ns=tuple(_within(group, tenth / 10) for tenth in range(1, 11)),
        confidence=_confidence(group),
        details=tuple(sorted(details.items(), key=lambda item: (-item[1], item[0]))),
        first_ns=min(row.first_ns for row in group),
        last_ns=max(row.last_ns for row in group),
        most_attempts=max(row.most_attempts for row in group),
        behind=None,
        losses=_losses([row.losses for row in group if row.losses]),
        further_services=any(row.further_services for row in group),
        **{name: sum(getattr(row, name) for row in group) for name in _ADDED_UP},
    )


def _losses(group: Sequence[Losses]) -> Losses | None:
    """The sums of counts; the delay of the most losses, and neither flight nor rate."""
    if not group:
        return None
    most = max(group, key=lambda losses: losses.counted)
    sums = {name: sum(getattr(losses, name) for losses in group) for name in ("counted", "queued", "unqueued")}
    return replace(most, limit_bytes=None, rate_bytes_per_s=None, **sums)


def _within(group: Sequence[Finding], part: float) -> int:
    """The quantile over all findings, to a tenth of each finding's own distribution."""
    values = sorted((value, row.counted / len(row.tenths_ns)) for row in group for value in row.tenths_ns)
    least, passed = part * sum(count for _, count in values), 0.0
    for value, count in values:
        passed += count
        if passed >= least - 1e-9:
            return value
    return 0


def _confidence(group: Sequence[Finding]) -> float | None:
    known = [(row.confidence, row.time_ns) for row in group if row.confidence is not None]
    weight = sum(span for _, span in known)
    if not known or not weight:
        return known[0][0] if known else None
    return sum(value * span for value, span in known) / weight
