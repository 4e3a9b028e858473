"""Predicted gain of changes for one flow, for the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from tcpstall.report.whatif.tables import HEADINGS, outcome_row
from tcpstall.report.whatif.words import (
    bounded,
    chance,
    faster,
    fidelity,
    flows_told,
    reasons,
    refusal,
    sized,
    typical,
    unlisted,
)
from tcpstall.service_times import not_predicted, requests
from tcpstall.whatif import Forecast, WhatIf

__all__ = ["Foretold", "foretold", "of_service"]


@dataclass(frozen=True)
class Foretold:
    """Lines and a table; where nothing can be predicted, only why."""

    refused: str
    fidelity: str
    headings: tuple[str, ...]
    rows: list[list[str]]
    sizes: list[str]


def foretold(forecast: Forecast) -> Foretold:
    """The forecast in words."""
    if forecast.refused or forecast.captured is None or forecast.replayed is None:
        return Foretold(refusal(forecast), "", (), [], [])
    limits = (text for outcome in forecast.outcomes for text in (bounded(outcome), chance(outcome)))
    return Foretold(
        "",
        fidelity(forecast.captured, forecast.replayed, forecast.without_pace),
        HEADINGS,
        [outcome_row(outcome) for outcome in forecast.outcomes],
        [text for text in (unlisted(forecast), *limits, *map(sized, forecast.sizing)) if text],
    )


def of_service(forecasts: Sequence[Forecast]) -> tuple[str, list[str]]:
    """Heading and lines about flows of one server; no line where no change would save time."""
    found = WhatIf((), tuple(forecasts))
    before, totals = requests(found.told), found.totals
    heading = f"{forecasts[0].flow.server}, {flows_told(len(found.told), len(forecasts))} of this page"
    if before is None or not totals:
        return heading, []
    changed = [text for text in (faster(before, outcome) for outcome in totals) if text]
    return heading, [typical(before), *changed, *reasons(not_predicted(forecasts))]
