"""Many flows or exchanges: one row each."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from tcpstall import units
from tcpstall.causes import Cause
from tcpstall.model import Analysis, Exchange, Flow
from tcpstall.plot import bands, choice, parts, style, title
from tcpstall.plot.terminal import axes, lanes
from tcpstall.plot.terminal.axes import GUTTER
from tcpstall.plot.terminal.screen import Screen

__all__ = ["exchanges", "timeline"]

_LATENCY = 22
"""Columns behind a bar: its latency, and that in round trips."""


def timeline(analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None, screen: Screen) -> Iterator[Text]:
    """The waits of the flows that lost most; nothing where there is no flow between the two times."""
    flows = choice.costliest(analysis, rows, start_ns, end_ns)
    if not flows:
        return
    zero_ns = min((capture.first_ns for capture in analysis.captures if capture.first_ns is not None), default=0)
    left_ns = (min(flow.start_ns for flow in flows) if start_ns is None else start_ns) - zero_ns
    right_ns = (max(flow.end_ns for flow in flows) if end_ns is None else end_ns) - zero_ns
    right_ns = max(right_ns, left_ns + 1)
    for line in title.flows(analysis, flows, lambda line: len(line) <= screen.width):
        yield screen.text(line)
    sums = {cause: sum(flow.time_ns.get(cause, 0) for flow in flows) for cause in Cause}
    yield from lanes.legend(((cause, span_ns) for cause, span_ns in sums.items() if span_ns), screen)
    for flow in flows:
        since_ns = flow.start_ns - zero_ns
        waits = bands.shifted(bands.row_of(flow), since_ns)
        life = (since_ns, since_ns + flow.duration_ns)
        lane = lanes.lane(waits, left_ns, right_ns, screen.columns(GUTTER), life)
        yield screen.text(f"{'':{GUTTER}}{'  '.join(reversed(title.flow(flow)))}", "dim")
        yield Text.assemble((f"{f'flow {flow.id}':>{GUTTER - 1}} ", ""), lane, no_wrap=True)
    yield from axes.below(left_ns, right_ns, axes.in_time, screen, "time since the capture's first packet")


def exchanges(
    analysis: Analysis, rows: int, start_ns: int | None, end_ns: int | None, screen: Screen
) -> Iterator[Text]:
    """The slowest exchanges as stacked bars; nothing where there is none."""
    every_ns = choice.latencies_ns(analysis, start_ns, end_ns)
    chosen = choice.slowest(analysis, rows, start_ns, end_ns)
    if not chosen:
        return
    for line in title.exchanges(len(chosen), every_ns, analysis):
        yield screen.text(line)
    signs = _signs(chosen)
    yield from _legend(chosen, signs, screen)
    longest_ns = max(1, *(exchange.latency_ns for _, exchange in chosen))
    for flow, exchange in chosen:
        yield screen.text(f"{'':{GUTTER}}{': '.join(title.exchange(flow, exchange))}", "dim")
        bar = _bar(exchange, longest_ns, screen.columns(GUTTER + _LATENCY), signs)
        yield Text.assemble(f"{'':{GUTTER}}", bar, f" {screen.shown(title.latency(exchange))}", no_wrap=True)


def _signs(chosen: Sequence[tuple[Flow, Exchange]]) -> dict[parts.Look, str]:
    """A letter for each kind of part: a cause's own, small ones for what has none and for requests."""
    letters = {cause.value: lanes.letter(cause) for cause in Cause}
    signs: dict[parts.Look, str] = {}
    for _, exchange in chosen:
        for look, _, _ in parts.stacked(exchange):
            leg, _, cause = look.name.partition(": ")
            known = letters.get(cause, "")
            wanted = (known.lower() if leg == "request" else known) + "-" if known else f"{look.name.lower()}-+=~"
            signs.setdefault(look, next((one for one in wanted if one not in signs.values()), "?"))
    return signs


def _legend(chosen: Sequence[tuple[Flow, Exchange]], signs: dict[parts.Look, str], screen: Screen) -> Iterator[Text]:
    sums_ns: dict[parts.Look, int] = {}
    for _, exchange in chosen:
        for look, _, length_ns in parts.stacked(exchange):
            sums_ns[look] = sums_ns.get(look, 0) + length_ns
    entries = [
        Text.assemble((signs[look], _solid(look)), screen.shown(f" {look.name} {units.duration(span_ns)}"))
        for look, span_ns in sorted(sums_ns.items(), key=lambda row: -row[1])
        if span_ns
    ]
    yield from lanes.wrapped(entries, screen)


def _bar(exchange: Exchange, longest_ns: int, columns: int, signs: dict[parts.Look, str]) -> Text:
    bar, drawn = Text(no_wrap=True), 0
    for look, start_ns, length_ns in parts.stacked(exchange):
        until = round((start_ns + length_ns) / longest_ns * columns)
        bar.append(signs[look] * (until - drawn), _solid(look))
        drawn = max(drawn, until)
    return bar


def _solid(look: parts.Look) -> str:
    return f"{style.ink_on(look.colour)} on {look.colour}"
