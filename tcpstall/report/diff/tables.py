"""Two captures compared, for reading: what changed, in all and by service."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.diff import Change, Comparison, Facts, ServiceChange
from tcpstall.model import Endpoint
from tcpstall.report.diff.words import headline, left_out, named, sentence, surroundings
from tcpstall.report.inputs import described
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.units import counted, duration, number, share, size

__all__ = ["HEADINGS", "change_row", "facts_row", "render_diff"]

HEADINGS = ("flows", "bytes a flow", "length", "round trip", "first burst", "sent again")

_SERVICES = 10
_ONLY = 10


def render_diff(comparison: Comparison, *, width: int) -> Iterator[RenderableType]:
    """The page from top to bottom."""
    yield Text(headline(comparison), "bold")
    yield Padding(
        Text(
            "times are those of a flow on average; what a longer way or more data explains is no change of a cause",
            "dim",
        ),
        (0, 0, 0, 2),
    )
    yield Text()
    for capture, name, dropped in zip(comparison.captures, ("good", "bad"), comparison.dropped_flows, strict=True):
        yield Text(f"{name}:", "dim")
        yield from described([capture])
        if warning := left_out(dropped):
            yield Padding(Text(warning, "yellow"), (0, 0, 0, 2))
    shown = comparison.services[:_SERVICES]
    if len(comparison.services) > 1:
        shown = (comparison.overall, *shown)
    for service in shown:
        yield from _service(service, width)
    more = len(comparison.services) - _SERVICES
    if more > 0:
        yield Padding(Text(f"and {counted(more, 'more service')}; JSON has them all", "dim"), (0, 0, 0, 1))
    for name, only in (("good", comparison.only_good), ("bad", comparison.only_bad)):
        yield from _alone(name, only)


def _service(service: ServiceChange, width: int) -> Iterator[RenderableType]:
    yield Text()
    yield Text(named(service), "bold")
    for line in (*surroundings(service), *(sentence(change, service) for change in service.proven)):
        yield Padding(Text(line), (0, 0, 0, 2))
    if not service.proven:
        yield Padding(Text("no cause changed beyond noise"), (0, 0, 0, 2))
    yield _facts(service, width)
    if service.changes:
        yield _changes(service, width)


def _facts(service: ServiceChange, width: int) -> RenderableType:
    columns = [words(""), *figures(*HEADINGS)]
    rows = [[name, *facts_row(facts)] for name, facts in (("good", service.good), ("bad", service.bad))]
    return table("", columns, rows, width)


def facts_row(facts: Facts) -> list[str]:
    """A service in one capture, under HEADINGS."""
    window = facts.initial_window_segments
    return [
        number(facts.flows),
        size(round(facts.bytes_of_flow)),
        duration(facts.mean_duration_ns),
        "?" if facts.base_rtt_ns is None else duration(facts.base_rtt_ns),
        "?" if window is None else counted(window, "segment"),
        share(facts.lost_share),
    ]


def _changes(service: ServiceChange, width: int) -> RenderableType:
    columns = [words("cause"), *figures("good", "bad", "change", "of its own"), words("")]
    rows: list[list[str | Text]] = [[cause_text(change.cause), *change_row(change)[1:]] for change in service.changes]
    return table("", columns, rows, width)


def change_row(change: Change) -> list[str]:
    """A cause: of good and of bad, how much it grew, of that by itself, and whether that is proven."""
    return [
        change.cause.value,
        duration(change.good_ns),
        duration(change.bad_ns),
        _signed(change.grew_ns),
        _signed(change.own_ns),
        "changed" if change.proven else "explained" if not change.own_ns and change.grew_ns else "noise",
    ]


def _signed(span_ns: int) -> str:
    return f"+{duration(span_ns)}" if span_ns > 0 else duration(span_ns)


def _alone(name: str, only: tuple[tuple[Endpoint, Facts], ...]) -> Iterator[RenderableType]:
    if not only:
        return
    yield Text()
    yield Text(f"only in {name}", "bold")
    for end, facts in only[:_ONLY]:
        yield Padding(Text(f"{end}  {counted(facts.flows, 'flow')}, {size(facts.bytes)}"), (0, 0, 0, 2))
    if len(only) > _ONLY:
        yield Padding(Text(f"and {counted(len(only) - _ONLY, 'more service')}", "dim"), (0, 0, 0, 2))
