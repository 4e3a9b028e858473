"""Predicted gain of a change as one JSON object of the schema `tcpstall.whatif/1`."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tcpstall.model import Endpoint
from tcpstall.report.whatif.words import REFUSALS, UNOPENED, refusal, written
from tcpstall.service_times import Archived, after, not_predicted, requests
from tcpstall.whatif import Expected, Forecast, Outcome, WhatIf

__all__ = ["archived_json", "whatif_json"]

_SCHEMA = "tcpstall.whatif/1"
_ARCHIVED = "tcpstall.whatif-store/1"


def whatif_json(found: WhatIf) -> str:
    """One line. `totals` adds up the flows with a prediction."""
    report = {
        "schema": _SCHEMA,
        "captures": [{"path": capture.path, "error": capture.error} for capture in found.captures],
        "flows": [_flow(forecast) for forecast in found.forecasts],
        "flows_left_out": found.left_out,
        "totals": _totals(found, {}),
    }
    return json.dumps(report)


def archived_json(archived: Archived, by: str) -> str:
    """One line of the schema `tcpstall.whatif-store/1`, with the totals of each service or host."""
    report = {
        "schema": _ARCHIVED,
        "by": by,
        "parts": [
            {"name": part.name, "flows": part.flows, "totals": _totals(part.found, part.unopened)}
            for part in archived.parts
        ],
        "flows_left_out": archived.left_out,
    }
    return json.dumps(report)


def _totals(found: WhatIf, unopened: Mapping[str, int]) -> dict[str, Any]:
    told = [(one.captured, one.replayed) for one in found.told if one.captured and one.replayed]
    before = requests(found.told)
    return {
        "flows": len(found.told),
        "captured_transfer_ns": sum(captured.transfer_ns for captured, _ in told),
        "replayed_transfer_ns": sum(replayed.transfer_ns for _, replayed in told),
        "captured_exchanges_ns": sum(sum(captured.exchanges_ns) for captured, _ in told),
        "replayed_exchanges_ns": sum(sum(replayed.exchanges_ns) for _, replayed in told),
        "requests": asdict(before) if before else None,
        "outcomes": [_outcome(outcome) | _requests(outcome) for outcome in found.totals],
        "not_predicted": [
            {"refused": word, "reason": REFUSALS.get(word) or UNOPENED[word], "flows": flows}
            for word, flows in (not_predicted(found.forecasts) | dict(unopened)).items()
        ],
    }


def _requests(outcome: Outcome) -> dict[str, Any]:
    p50, p95 = after(outcome) or (None, None)
    return {name: span and _span(span, outcome) for name, span in (("p50", p50), ("p95", p95))}


def _span(span: Expected, outcome: Outcome) -> dict[str, int | None]:
    """Times of an outcome. If chance decides, no time is expected: the median of the possible ones has its own name."""
    expected, median = (None, span.expected_ns) if outcome.by_chance else (span.expected_ns, None)
    return {"expected_ns": expected, "low_ns": span.low_ns, "high_ns": span.high_ns, "median_ns": median}


def _flow(forecast: Forecast) -> dict[str, Any]:
    flow = forecast.flow
    return {
        "flow": flow.id,
        "client": _end(flow.client),
        "server": _end(flow.server),
        "rtt_ns": forecast.rtt_ns,
        "refused": forecast.refused,
        "reason": refusal(forecast) or None,
        "captured": asdict(forecast.captured) if forecast.captured else None,
        "replayed": asdict(forecast.replayed) if forecast.replayed else None,
        "without_pace": asdict(forecast.without_pace) if forecast.without_pace else None,
        "error_ns": forecast.error_ns,
        "exchanges_left_out": forecast.exchanges_left_out,
        "outcomes": [_outcome(outcome) for outcome in forecast.outcomes],
        "unpredicted": [
            {
                "set": [written(change) for change in one.changes],
                "refused": one.refused,
                "reason": REFUSALS[one.refused],
            }
            for one in forecast.unpredicted
        ],
        "sizing": [asdict(sizing) for sizing in forecast.sizing],
    }


def _end(end: Endpoint) -> dict[str, Any]:
    return {"address": end.address, "port": end.port}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "set": [written(change) for change in outcome.changes],
        "suggested": outcome.suggested,
        "transfer": _span(outcome.transfer, outcome),
        "exchanges": [_span(exchange, outcome) for exchange in outcome.exchanges],
        "by_chance": outcome.by_chance,
        "saved_ns": None if outcome.by_chance else outcome.saved_ns,
        "owned_ns": outcome.owned_ns,
        "bounded": outcome.bounded,
    }
