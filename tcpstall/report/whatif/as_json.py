"""Predicted gain of a change as one JSON object of the schema `tcpstall.whatif/1`."""

import json
from dataclasses import asdict
from typing import Any

from tcpstall.model import Endpoint
from tcpstall.report.whatif.words import REFUSALS, refusal, written
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
            "outcomes": [_outcome(outcome) for outcome in found.totals],
        },
    }
    return json.dumps(report)


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
        "error_ns": forecast.error_ns,
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
