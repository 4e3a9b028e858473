"""Predicted gain of changes for one flow, for the page."""

from dataclasses import dataclass

from tcpstall.report.whatif.tables import HEADINGS, outcome_row
from tcpstall.report.whatif.words import bounded, fidelity, refusal, sized, unlisted
from tcpstall.whatif import Forecast

__all__ = ["Foretold", "foretold"]


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
    return Foretold(
        "",
        fidelity(forecast.captured, forecast.replayed, forecast.without_pace),
        HEADINGS,
        [outcome_row(outcome) for outcome in forecast.outcomes],
        [text for text in (unlisted(forecast), *map(bounded, forecast.outcomes), *map(sized, forecast.sizing)) if text],
    )
