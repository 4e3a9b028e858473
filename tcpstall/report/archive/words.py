"""An archive in sentences."""

from tcpstall.causes import Cause
from tcpstall.findings import Finding
from tcpstall.lost_time import Loss, Losses, Overview, Shown
from tcpstall.report.archive.trend import moment
from tcpstall.report.findings import facts, heading
from tcpstall.units import counted, duration, percent, size

__all__ = ["how", "told_overview", "what"]

_THROUGHOUT = 50
"""A loss that begins within this first fraction (1/50) of the time is not new."""

_NAMED = 3
"""Causes named in the paragraph at the top."""


def what(shown: Shown, about: Overview) -> str:
    """`2 h 31 min send buffer full: 10.0.3.7:443, since 2026-10-01 02:10`."""
    return f"{heading(shown.finding)}, {_since(shown.finding, about)}"


def how(shown: Shown, about: Overview) -> str:
    """`412 flows, worst 2.10 s, …; the last of it at 2026-10-05 23:58`."""
    finding = shown.finding
    still = about.last_ns is not None and not _ended(finding, about)
    return facts(finding) if still else f"{facts(finding)}; the last of it at {moment(finding.last_ns)}"


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
        told.append(_first(worst.rows[0], worst.all_ns))
    if about.errors:
        told.append(f"{counted(about.errors, 'file')} could not be read, or not whole.")
    return told


def _first(loss: Loss, all_ns: int) -> str:
    """The sentence for the service with most recoverable time; without that figure, for the one that lost most."""
    if loss.recoverable_ns:
        return f"Most could be given back at {loss.key}: up to {duration(loss.recoverable_ns)}."
    return f"Most was lost at {loss.key}, {duration(loss.lost_ns)} ({percent(loss.lost_ns, all_ns)})."


def _since(finding: Finding, about: Overview) -> str:
    if about.first_ns is None or about.last_ns is None:
        return f"since {moment(finding.first_ns)}"
    if (finding.first_ns - about.first_ns) * _THROUGHOUT < about.last_ns - about.first_ns:
        return "throughout" if not _ended(finding, about) else "from the beginning"
    return f"since {moment(finding.first_ns)}"


def _ended(finding: Finding, about: Overview) -> bool:
    """Long before the store's end."""
    assert about.first_ns is not None and about.last_ns is not None  # noqa: S101, PT018 a finding has flows
    return (about.last_ns - finding.last_ns) * _THROUGHOUT > about.last_ns - about.first_ns
