"""What an archive shows, in sentences."""

from tcpstall.causes import Cause
from tcpstall.losses import Losses, Overview, Pattern
from tcpstall.report.archive.trend import moment
from tcpstall.units import counted, duration, number, percent, size

__all__ = ["advice", "finding", "how_much", "told_overview"]

_THROUGHOUT = 50
"""What begins within the first fiftieth of the time was there before."""

_NAMED = 3
"""So many causes are named in the paragraph at the top."""


def finding(pattern: Pattern, about: Overview) -> str:
    """`412 flows to 10.0.3.7 sndbuf-limited at 64.0 kB since 2026-10-01 02:10`."""
    where = "to" if pattern.side == "server" else "from"
    kind = pattern.cause.value
    if pattern.detail and pattern.level is None:
        kind += f" ({pattern.detail})"
    return f"{counted(pattern.flows, 'flow')} {where} {pattern.host} {kind}{_level(pattern)} {_since(pattern, about)}"


def how_much(pattern: Pattern, about: Overview) -> str:
    """`2 h 31 min lost in 61,123 waits, 12 % of all; the last of them at 2026-10-05 23:58`."""
    lost = f"{duration(pattern.lost_ns)} lost in {counted(pattern.waits, 'wait')}"
    still = about.last_ns is not None and not _ended(pattern, about)
    return lost if still else f"{lost}, the last of them at {moment(pattern.last_ns)}"


def advice(pattern: Pattern) -> str:
    """What to change."""
    return pattern.cause.advice


def told_overview(about: Overview, causes: dict[Cause, int], worst: Losses) -> list[str]:
    """The paragraph at the top."""
    if about.first_ns is None or about.last_ns is None:
        return ["The store holds no flow."]
    told = [
        f"{counted(about.flows, 'flow')} to {counted(about.services, 'service')}, {size(about.bytes)}, from "
        f"{moment(about.first_ns)} to {moment(about.last_ns)} UTC, out of {counted(about.captures, 'capture')}."
    ]
    lost = sum(causes.values())
    if not lost:
        return [*told, "Nobody ever waited longer than a round trip."]
    named = [f"{duration(span)} to {cause.value} ({percent(span, lost)})" for cause, span in [*causes.items()][:_NAMED]]
    told.append(f"Their waits add up to {duration(lost)}: {', '.join(named)}.")
    if worst.rows:
        first = worst.rows[0]
        share = percent(first.lost_ns, worst.all_ns)
        told.append(f"Most was lost at {first.key}, {duration(first.lost_ns)} ({share}).")
    if about.errors:
        told.append(f"{counted(about.errors, 'file')} could not be read, or not whole.")
    return told


def _level(pattern: Pattern) -> str:
    if pattern.level is None:
        return ""
    value = pattern.level.value
    return f" at {size(value)}" if pattern.level.unit == "bytes" else f" at {number(value)} segments"


def _since(pattern: Pattern, about: Overview) -> str:
    if about.first_ns is None or about.last_ns is None:
        return f"since {moment(pattern.first_ns)}"
    if (pattern.first_ns - about.first_ns) * _THROUGHOUT < about.last_ns - about.first_ns:
        return "throughout" if not _ended(pattern, about) else "from the beginning"
    return f"since {moment(pattern.first_ns)}"


def _ended(pattern: Pattern, about: Overview) -> bool:
    """Long before the store's end."""
    assert about.first_ns is not None and about.last_ns is not None  # noqa: S101, PT018 a pattern has flows
    return (about.last_ns - pattern.last_ns) * _THROUGHOUT > about.last_ns - about.first_ns
