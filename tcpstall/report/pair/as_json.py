"""Both ends as one JSON object of the schema `tcpstall.pair/1`, see docs/pair.md."""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tcpstall.model import Capture, Stall
from tcpstall.pair import Ends, Event, PairedFlow, Wait

__all__ = ["pair_json"]

_SCHEMA = "tcpstall.pair/1"


def pair_json(ends: Ends) -> str:
    """One line."""
    events: dict[int, list[Event]] = defaultdict(list)
    for event in ends.events:
        events[event.flow].append(event)
    report = {
        "schema": _SCHEMA,
        "captures": [_capture(capture) for capture in ends.captures],
        "swapped": ends.swapped,
        "clock": dataclasses.asdict(ends.clock),
        "unmatched_flows": list(ends.unmatched),
        "rewritten_flows": ends.rewritten,
        "left_out_packets": list(ends.left_out),
        "events_dropped": ends.events_dropped,
        "flows": [_flow(flow, events[flow.id]) for flow in ends.flows],
    }
    return json.dumps(report)


def _capture(capture: Capture) -> dict[str, Any]:
    return {"path": capture.path, "error": capture.error, "packets": capture.packets, "format": capture.format}


def _flow(flow: PairedFlow, events: Sequence[Event]) -> dict[str, Any]:
    return {
        **flow.row,
        "flow_in_capture": [None if view is None else view.id for view in flow.views],
        "waits": [_wait(wait) for wait in flow.both.waits],
        "events": [
            {name: value for name, value in dataclasses.asdict(event).items() if name != "flow"} for event in events
        ],
    }


def _wait(wait: Wait) -> dict[str, Any]:
    return {
        "sender": wait.sender,
        "start_ns": wait.start_ns,
        "duration_ns": wait.duration_ns,
        "cause": wait.cause.value,
        "agreed": wait.agreed,
        "near": _view(wait.near),
        "far": _view(wait.far),
        "network_ns": wait.network_ns,
        "sender_ns": wait.sender_ns,
        "receiver_ns": wait.receiver_ns,
        "loss_ns": wait.loss_ns,
    }


def _view(stall: Stall | None) -> dict[str, Any] | None:
    if stall is None:
        return None
    return {
        "cause": stall.cause.value,
        "detail": stall.detail,
        "confidence": stall.confidence,
        "start_ns": stall.start_ns,
        "duration_ns": stall.duration_ns,
        "evidence": dict(stall.evidence),
    }
