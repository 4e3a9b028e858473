"""Remedies as one JSON object of the schema `tcpstall.remedies/1`; every platform unless one was asked for."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from tcpstall.advice.needs import sizes
from tcpstall.advice.remedy import Platform, Remedy
from tcpstall.advice.sockets import Matched, Paste, held_against
from tcpstall.advice.treatment import Treatment
from tcpstall.model import Analysis
from tcpstall.report.remedies.as_markdown import Treated
from tcpstall.report.waits import main_sender

__all__ = ["remedies_json"]

_SCHEMA = "tcpstall.remedies/1"


def remedies_json(
    analysis: Analysis,
    flows: Sequence[Treated],
    *,
    platform: Platform | None,
    pasted: tuple[Paste, Matched] | None,
    link_bytes_per_s: int | None,
) -> str:
    """One line."""
    platforms = list(Platform) if platform is None else [platform]
    report = {
        "schema": _SCHEMA,
        "captures": [{"path": capture.path, "error": capture.error} for capture in analysis.captures],
        "ss": None if pasted is None else _pasted(*pasted),
        "flows": [_flow(treated, platforms, link_bytes_per_s) for treated in flows],
    }
    return json.dumps(report)


def _pasted(paste: Paste, matched: Matched) -> dict[str, Any]:
    return {
        "sockets": len(paste.sockets),
        "flows": len(matched.sockets),
        "of_no_flow": matched.strangers,
        "without_numbers": paste.unnamed,
        "ambiguous_flows": list(matched.ambiguous),
        "cut": paste.cut,
    }


def _flow(treated: Treated, platforms: Sequence[Platform], link_bytes_per_s: int | None) -> dict[str, Any]:
    flow, found, sockets = treated
    return {
        "id": flow.id,
        "client": dataclasses.asdict(flow.client),
        "server": dataclasses.asdict(flow.server),
        "duration_ns": flow.duration_ns,
        "lost_ns": flow.lost_ns,
        "findings": [_finding(one, platforms) for one in found],
        "sizes": [dataclasses.asdict(sized) for _, sized in sizes(flow, main_sender(flow), link_bytes_per_s)],
        "sockets": {
            side: {
                **{name: value for name, value in dataclasses.asdict(socket).items() if name not in ("local", "peer")},
                "held_against": [dataclasses.asdict(held) for held in held_against(flow, side, socket)],
            }
            for side, socket in sockets.items()
        },
    }


def _finding(treated: Treatment, platforms: Sequence[Platform]) -> dict[str, Any]:
    case = treated.case
    return {
        "cause": case.cause.value,
        "kind": case.kind or None,
        "sender": case.sender,
        "time_ns": case.time_ns,
        "stalls": len(case.stalls),
        "nothing_to_change": treated.nothing or None,
        "remedies": [_remedy(remedy, platforms) for remedy in treated.remedies],
        "confirm": [dataclasses.asdict(check) for check in treated.checks if check.platform in platforms],
        "kernel": [dataclasses.asdict(remark) for remark in treated.kernel],
    }


def _remedy(remedy: Remedy, platforms: Sequence[Platform]) -> dict[str, Any]:
    row = dataclasses.asdict(remedy)
    row["steps"] = {platform.value: dataclasses.asdict(remedy.steps[platform]) for platform in platforms}
    return row
