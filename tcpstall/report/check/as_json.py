"""Captures checked against rules as one JSON object of the schema `tcpstall.check/1`, see docs/check.md."""

import json
from dataclasses import asdict
from typing import Any

from tcpstall import facts
from tcpstall.check import Checked, Grown, Verdict, Worst
from tcpstall.errors import ExitCode
from tcpstall.model import Capture
from tcpstall.report.check.words import Shows, headline, measured

__all__ = ["check_json"]

_SCHEMA = "tcpstall.check/1"


def check_json(checked: Checked, shows: Shows, code: ExitCode) -> str:
    """One line; `code` is the command's exit code."""
    report = {
        "schema": _SCHEMA,
        "exit_code": int(code),
        "summary": headline(checked),
        "flows": checked.flows,
        "confidence": checked.confidence,
        "captures": [_capture(capture) for capture in checked.captures],
        "rules": [_rule(verdict, checked, shows) for verdict in checked.verdicts],
    }
    return json.dumps(report)


def _capture(capture: Capture) -> dict[str, Any]:
    return {"path": capture.path, "error": capture.error, "packets": capture.packets, "format": capture.format}


def _rule(verdict: Verdict, checked: Checked, shows: Shows) -> dict[str, Any]:
    limit = verdict.rule.limit
    return {
        "rule": verdict.rule.text,
        "name": verdict.rule.name,
        "state": verdict.state,
        "sentence": measured(verdict, checked),
        "unit": limit.unit,
        "limit": float(limit.value),
        "value": None if verdict.value is None else float(verdict.value),
        "measured": verdict.items,
        "grown": [_grown(one) for one in verdict.grown],
        "worst": verdict.worst and _worst(verdict.worst, shows),
    }


def _grown(grown: Grown) -> dict[str, Any]:
    change, server = grown.change, grown.service.bad_service
    return {
        "cause": change.cause.value,
        "service": server and asdict(server),
        "good_ns": change.good_ns,
        "bad_ns": change.bad_ns,
        "own_ns": change.own_ns,
    }


def _worst(worst: Worst, shows: Shows) -> dict[str, Any]:
    flow, stall = worst.flow, worst.stall
    return {
        "flow": flow.id,
        "client": asdict(flow.client),
        "server": asdict(flow.server),
        "amount": worst.amount,
        "stall": stall
        and {
            "number": stall.number,
            "sender": stall.sender,
            "cause": stall.cause.value,
            "duration_ns": stall.duration_ns,
            "confidence": stall.confidence,
            "packets": facts.packets(stall),
        },
        "command": shows(flow, stall),
    }
