"""Predicted gain of a change as one JSON object of the schema `tcpstall.whatif/1`."""

import json
from dataclasses import asdict
from typing import Any

from tcpstall.model import Endpoint
from tcpstall.report.whatif.words import REFUSALS, refusal, written
from tcpstall.service_times import after, not_predicted, requests
from tcpstall.whatif import Forecast, Outcome, WhatIf

__all__ = ["whatif_json"]

_SCHEMA = "tcpstall.whatif/1"


def whatif_json(found: WhatIf) -> str:
    """One line. `totals` adds up the flows with a prediction."""
    told = [(one.captured, one.replayed) for one in found.told if one.captured and one.replayed]
    report = {
        "schema": _SCHEMA,
        "captures": [{"path": capture.path, "error": capture.error} for capture in found.captures],
        "flows": [_flow(forecast) for forecast in found.forecasts],
        "flows_left_out": found.left_out,
        "totals": {
            "flows": len(found.told),
            "captured_transfer_ns": sum(captured.transfer_ns for captured, _ in told),
            "replayed_transfer_ns": sum(replayed.transfer_ns for _, replayed in told),
            "captured_exchanges_ns": sum(sum(captured.exchanges_ns) for captured, _ in told),
            "replayed_exchanges_ns": sum(sum(replayed.exchanges_ns) for _, replayed in told),
            "requests": asdict(before) if (before := requests(found.told)) else None,
            "outcomes": [_outcome(outcome) | _requests(outcome) for outcome in found.totals],
            "not_predicted": [
                {"refused": word, "reason": REFUSALS.get(word, word), "flows": flows}
                for word, flows in not_predicted(found.forecasts).items()
            ],
        },
    }
    return json.dumps(report)


def _requests(outcome: Outcome) -> dict[str, Any]:
    p50, p95 = after(outcome) or (None, None)
    return {"p50": asdict(p50) if p50 else None, "p95": asdict(p95) if p95 else None}


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
        "transfer": asdict(outcome.transfer),
        "exchanges": [asdict(exchange) for exchange in outcome.exchanges],
        "saved_ns": outcome.saved_ns,
        "owned_ns": outcome.owned_ns,
        "bounded": outcome.bounded,
    }
