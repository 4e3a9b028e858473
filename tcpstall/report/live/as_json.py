"""The state of a live capture as a line of JSON of the schema `tcpstall.live/1`, described in docs/live.md."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tcpstall.findings import findings, findings_json
from tcpstall.live import Interval, Served, State
from tcpstall.model import Flow

__all__ = ["state_json"]

_SCHEMA = "tcpstall.live/1"
_SERVICES = 20


def state_json(state: State, *, final: bool = False) -> str:
    """One line; with `final` the findings too, and `type` is `report`."""
    capture, counts, totals = state.capture, state.counts, state.totals
    shown = most_lost(state.services)[:_SERVICES]
    row: dict[str, Any] = {
        "schema": _SCHEMA,
        "type": "report" if final else "interval",
        "interface": capture.path,
        "first_ns": capture.first_ns,
        "last_ns": capture.last_ns,
        "packets": capture.packets,
        "tcp_segments": capture.tcp_segments,
        "captured_packets": counts.captured,
        "received_packets": counts.received,
        "dropped_packets": counts.dropped,
        "flows": totals.flows,
        "open_flows": totals.open_flows,
        "parts": totals.parts,
        "bytes": totals.bytes,
        "lost_ns": state.lost_ns,
        "time_ns": state.time_ns,
        "interval": _interval(state.interval, state.every_ns),
        "services": [_served(one) for one in shown],
        "other": _other(state, shown),
        "further_services": max(len(state.services) - _SERVICES, 0),
        "flows_of_further_services": totals.further_flows,
        "worst_flows": [_flow(flow) for flow in state.flows],
    }
    if final:
        row["findings"] = json.loads(findings_json(findings(state.analysis())))
    return json.dumps(row)


def most_lost(services: tuple[Served, ...]) -> list[Served]:
    """Those first that lost most in the interval, then those that lost most before."""
    return sorted(services, key=lambda one: (-one.new_lost_ns, -one.lost_ns, one.address, one.port))


def _interval(interval: Interval, every_ns: int) -> dict[str, Any]:
    return {
        "every_ns": every_ns,
        "packets": interval.packets,
        "bytes": interval.bytes,
        "lost_ns": interval.lost_ns,
        "time_ns": dict(interval.time_ns),
    }


def _served(one: Served) -> dict[str, Any]:
    return {
        "address": one.address,
        "port": one.port,
        "connections": one.flows,
        "open_connections": one.open_flows,
        "bytes": one.bytes,
        "first_ns": one.first_ns,
        "last_ns": one.last_ns,
        "lost_ns": one.lost_ns,
        "time_ns": dict(one.time_ns),
        "interval": {"bytes": one.new_bytes, "lost_ns": one.new_lost_ns},
    }


def _other(state: State, shown: Sequence[Served]) -> dict[str, Any]:
    """All that the services shown do not have: further ones, those that left, and those without room."""
    totals, interval = state.totals, state.interval
    return {
        "connections": totals.flows - sum(one.flows for one in shown),
        "open_connections": totals.open_flows - sum(one.open_flows for one in shown),
        "bytes": totals.bytes - sum(one.bytes for one in shown),
        "lost_ns": state.lost_ns - sum(one.lost_ns for one in shown),
        "interval": {
            "bytes": interval.bytes - sum(one.new_bytes for one in shown),
            "lost_ns": interval.lost_ns - sum(one.new_lost_ns for one in shown),
        },
    }


def _flow(flow: Flow) -> dict[str, Any]:
    return {
        "id": flow.id,
        "client": asdict(flow.client),
        "server": asdict(flow.server),
        "start_ns": flow.start_ns,
        "end_ns": flow.end_ns,
        "state": flow.state,
        "lost_ns": flow.lost_ns,
        "time_ns": {owner: span for owner, span in flow.time_ns.items() if span},
    }
