"""Two captures compared as one JSON object of the schema `tcpstall.diff/1`, see docs/diff.md."""

import json
from typing import Any

from tcpstall.diff import Change, Comparison, Facts, ServiceChange
from tcpstall.model import Capture, Endpoint
from tcpstall.report.diff.words import headline

__all__ = ["diff_json"]

_SCHEMA = "tcpstall.diff/1"


def diff_json(comparison: Comparison) -> str:
    """One line."""
    report = {
        "schema": _SCHEMA,
        "captures": {
            name: _capture(capture, dropped)
            for name, capture, dropped in zip(
                ("good", "bad"), comparison.captures, comparison.dropped_flows, strict=True
            )
        },
        "summary": headline(comparison),
        "overall": _service(comparison.overall),
        "services": [_service(service) for service in comparison.services],
        "only_good": [_alone(end, facts) for end, facts in comparison.only_good],
        "only_bad": [_alone(end, facts) for end, facts in comparison.only_bad],
    }
    return json.dumps(report)


def _capture(capture: Capture, dropped_flows: int) -> dict[str, Any]:
    told = {"path": capture.path, "error": capture.error, "packets": capture.packets, "format": capture.format}
    return told | ({"dropped_flows": dropped_flows} if dropped_flows else {})


def _service(service: ServiceChange) -> dict[str, Any]:
    return {
        "good_service": _end(service.good_service),
        "bad_service": _end(service.bad_service),
        "good": _facts(service.good),
        "bad": _facts(service.bad),
        "changes": [_change(change) for change in service.changes],
    }


def _end(end: Endpoint | None) -> dict[str, Any] | None:
    return None if end is None else {"address": end.address, "port": end.port}


def _alone(end: Endpoint, facts: Facts) -> dict[str, Any]:
    return {"service": _end(end), **_facts(facts)}


def _facts(facts: Facts) -> dict[str, Any]:
    return {
        "flows": facts.flows,
        "bytes": facts.bytes,
        "retransmitted_bytes": facts.retransmitted_bytes,
        "repairs": facts.repairs,
        "mean_duration_ns": facts.mean_duration_ns if facts.flows else None,
        "base_rtt_ns": facts.base_rtt_ns,
        "initial_window_segments": facts.initial_window_segments,
        "level_bytes": dict(facts.levels),
        "mean_time_ns": {owner: round(facts.of_flow(owner)) for owner in facts.time_ns},
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "cause": change.cause.value,
        "good_ns": change.good_ns,
        "bad_ns": change.bad_ns,
        "grew_ns": change.grew_ns,
        "own_ns": change.own_ns,
        "noise_ns": change.noise_ns,
        "proven": change.proven,
    }
