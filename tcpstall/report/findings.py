"""Findings on a page: two lines each, which drop parts where the terminal is narrow, and never break one."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from tcpstall.findings import Finding, advice, essence, evidence, gain, headline, remedy, where
from tcpstall.findings.words import flows_of, spread
from tcpstall.units import counted, duration

__all__ = ["MOST", "facts", "finding_lines", "findings_list", "heading", "told", "with_change"]

MOST = 8
"""Findings on the page."""

_INDENT = "   "


def findings_list(found: Sequence[Finding], *, width: int, most: int = MOST) -> Iterator[Text]:
    """The first `most` findings, and a line about the others."""
    for rank, finding in enumerate(found[:most], 1):
        yield from finding_lines(rank, finding, width)
    if (more := len(found) - most) > 0:
        yield Text(f"{_INDENT}and {counted(more, 'smaller finding')}: --format json lists them", "dim")


def finding_lines(rank: int, finding: Finding, width: int, *, numbered: bool = True) -> Iterator[Text]:
    """Time, kind, place, flows and distribution; then the evidence, what to change, and the flow that shows it.

    Evidence that does not fit into the second line stands at the end of the first, where that has room; else its
    essence does. `numbered` names the flow by its number, which says nothing where there are many analyses.
    """
    change = f"→ {advice(finding)}"
    title = f"{rank}  {_time(finding)}{headline(finding)}: {where(finding)}"
    parts = [flows_of(finding), *spread(finding)]
    room = max(width - cell_len(f"{_INDENT} {change}"), width - cell_len(", ".join([title, *parts])) - 2)
    told = evidence(finding) if cell_len(evidence(finding)) <= room else essence(finding)
    apart = cell_len(f"{_INDENT}{told} {change}") > width
    yield Text(_fitted(title, [*parts, *([told] if apart and told else [])], width), "bold")
    before = "" if apart or not told else f"{told} "
    example = finding.example if numbered and finding.flows > 1 else None
    extra = [f"flow {example.flow}" if example else "", gain(finding)]
    tail = _tail(f"{_INDENT}{before}{change}", [part for part in extra if part], width)
    yield Text.assemble(_INDENT, before, (change, "green"), (tail, "dim"))


def heading(finding: Finding) -> str:
    """`17.18 s server slow to answer: 192.0.2.1:80`."""
    return f"{_time(finding).replace('  ', ' ')}{headline(finding)}: {where(finding)}"


def told(finding: Finding) -> str:
    """The parts after the heading, for any width, with the example flow."""
    shown = f"; flow {finding.example.flow} shows it" if finding.example and finding.flows > 1 else ""
    return f"{with_change(finding)}{shown}"


def with_change(finding: Finding) -> str:
    """Flows, distribution and evidence, then what to change and what that could give back."""
    return f"{facts(finding)} → {remedy(finding)}"


def facts(finding: Finding) -> str:
    """Flows, distribution and evidence."""
    return ", ".join(part for part in (flows_of(finding), *spread(finding), evidence(finding)) if part)


def _time(finding: Finding) -> str:
    """The time that it took; nothing for a failure that took none."""
    return f"{duration(finding.time_ns)}  " if finding.time_ns else ""


def _fitted(line: str, parts: Sequence[str], width: int) -> str:
    """The line with those of the parts that fit, the first ones first."""
    for part in parts:
        longer = f"{line}, {part}"
        line = longer if cell_len(longer) <= width else line
    return line


def _tail(line: str, parts: list[str], width: int) -> str:
    """The parts in brackets, as many as fit behind the line."""
    while parts and cell_len(f"{line} ({', '.join(parts)})") > width:
        parts.pop()
    return f" ({', '.join(parts)})" if parts else ""
