"""Predicted gain of a change, for reading."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from tcpstall.report.inputs import as_read, described
from tcpstall.report.style import figures, table, words
from tcpstall.report.whatif.words import (
    bounded,
    chance,
    faster,
    fidelity,
    flows_told,
    median_exchange,
    named,
    reasons,
    refusal,
    sized,
    typical,
    unlisted,
    unpredicted,
    waited,
)
from tcpstall.service_times import Archived, not_predicted, requests
from tcpstall.units import counted, duration
from tcpstall.whatif import Forecast, Outcome, Times, WhatIf

__all__ = ["HEADINGS", "outcome_row", "render_archived", "render_whatif"]

HEADINGS = ("change", "transfer", "between", "saved", "exchange")

_FLOWS = 10
"""Flows shown one by one; JSON has all."""

_PARTS = 20
"""Services or hosts of a store shown; JSON has all."""


def render_whatif(found: WhatIf, *, width: int) -> Iterator[RenderableType]:
    """The answer first, then what it was read from."""
    if len(found.forecasts) > 1 and len(found.told) != 1:
        told = flows_told(len(found.told), len(found.forecasts))
        yield from _totals(found, f"all of {told} together", not_predicted(found.forecasts), width)
        yield Text()
    for number, forecast in enumerate(found.forecasts[:_FLOWS]):
        if number:
            yield Text()
        yield from _flow(forecast, width)
    if (more := len(found.forecasts) - _FLOWS) > 0:
        yield Padding(Text(f"and {counted(more, 'more flow')}; JSON has them all", "dim"), (0, 0, 0, 1))
    if found.left_out:
        yield Padding(Text(f"{counted(found.left_out, 'more flow')} of the service left out", "dim"), (0, 0, 0, 1))
    yield Text()
    for members in as_read(found.captures):
        yield from described(members)


def render_archived(archived: Archived, *, width: int) -> Iterator[RenderableType]:
    """Services or hosts of a store, those first that the change saves most."""
    for number, part in enumerate(archived.parts[:_PARTS]):
        if number:
            yield Text()
        found = part.found
        without = not_predicted(found.forecasts) | dict(part.unopened)
        heading = f"{part.name}: {flows_told(len(found.told), part.flows)} together"
        yield from _totals(found, heading, without, width)
    if (more := len(archived.parts) - _PARTS) > 0:
        yield Padding(Text(f"and {more} more; JSON has them all", "dim"), (0, 0, 0, 1))
    if archived.left_out:
        more_flows = counted(archived.left_out, "more flow")
        text = f"{more_flows} that lost less time left out: the percentiles are of those that lost most"
        yield Padding(Text(text, "dim"), (0, 0, 0, 1))


def _totals(found: WhatIf, heading: str, not_told: Mapping[str, int], width: int) -> Iterator[RenderableType]:
    yield Text(heading, "bold")
    told = [(one.captured, one.replayed) for one in found.told if one.captured and one.replayed]
    without = reasons(not_told)
    if not told:
        yield _line("nothing can be predicted")
        yield from map(_line, without)
        return
    captured, replayed = (_sum([pair[which] for pair in told]) for which in (0, 1))
    yield _line(fidelity(captured, replayed))
    before = requests(found.told)
    if before:
        yield _line(typical(before))
    if found.totals:
        yield _outcomes(found.totals, width)
        if before:
            yield from (_line(text) for text in (faster(before, outcome) for outcome in found.totals) if text)
    else:
        yield _line("nothing that they waited for calls for a change that would save time")
    yield from map(_line, without)


def _sum(times: Sequence[Times]) -> Times:
    return Times(sum(time.transfer_ns for time in times), tuple(each for time in times for each in time.exchanges_ns))


def _flow(forecast: Forecast, width: int) -> Iterator[RenderableType]:
    flow = forecast.flow
    trip = "" if forecast.rtt_ns is None else f", round trip {duration(forecast.rtt_ns)}"
    yield Text(f"flow {flow.id}  {flow.client} → {flow.server}{trip}", "bold")
    if forecast.refused:
        yield _line(f"no prediction: {refusal(forecast)}")
    if forecast.captured and forecast.replayed:
        yield _line(fidelity(forecast.captured, forecast.replayed, forecast.without_pace))
        if forecast.refused and (text := waited(forecast.captured, forecast.replayed)):
            yield _line(text)
    if text := unlisted(forecast):
        yield _line(text)
    if forecast.outcomes:
        yield _outcomes(forecast.outcomes, width)
        yield from (
            _line(text) for outcome in forecast.outcomes for text in (bounded(outcome), chance(outcome)) if text
        )
    yield from (_line(text) for text in map(unpredicted, forecast.unpredicted))
    if not (forecast.refused or forecast.outcomes or forecast.unpredicted):
        yield _line("nothing that it waited for calls for a change that would save time")
    if not forecast.refused:
        yield from (_line(text) for text in map(sized, forecast.sizing) if text)


def _outcomes(outcomes: Sequence[Outcome], width: int) -> RenderableType:
    columns = [words(HEADINGS[0]), *figures(*HEADINGS[1:])]
    return table("", columns, [outcome_row(outcome) for outcome in outcomes], width, spare=HEADINGS[-1:])


def outcome_row(outcome: Outcome) -> list[str]:
    """One line, under HEADINGS."""
    transfer = outcome.transfer
    return [
        named(outcome.changes),
        f"median {duration(transfer.expected_ns)}" if outcome.by_chance else duration(transfer.expected_ns),
        f"{duration(transfer.low_ns)} – {duration(transfer.high_ns)}",
        "by chance" if outcome.by_chance else duration(outcome.saved_ns),
        median_exchange(outcome.exchanges),
    ]


def _line(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 2))
