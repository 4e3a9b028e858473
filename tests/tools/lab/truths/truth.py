"""Writes truth.json: every wait of every sender with the limit that its kernel was at."""

import json
from pathlib import Path
from typing import Any

from tests.tools.lab.run import Recording
from tests.tools.lab.scenario import Scenario
from tests.tools.lab.truths.halves import half_of

_NEEDED_EVENTS = ("t", "ev", "why", "dir", "sport", "dport", "off", "len", "flags")


def truth_of(scenario: Scenario, recording: Recording) -> dict[str, Any]:
    """The whole record of one scenario."""
    return {
        "scenario": scenario.name,
        "why": scenario.why,
        "expect": list(scenario.expect),
        "params": scenario.parameters(),
        "kernel": Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip(),
        "disturbed": recording.disturbed,
        "network_events": recording.forwarder["events"],
        "forwarder": [recording.forwarder["stats"]],
        "connections": [_connection(scenario, recording, number) for number in range(len(scenario.connections))],
    }


def _connection(scenario: Scenario, recording: Recording, number: int) -> dict[str, Any]:
    plan = scenario.connections[number]
    halves = [half_of(scenario, recording, number, side) for side in ("snd", "rcv")]
    own, other = halves
    if own is None or other is None:
        return {"port": plan.port, "error": "not connected"}
    client, server = (own, other) if plan.upload else (other, own)
    return {
        "port": plan.port,
        "client": client["local"],
        "server": server["local"],
        "server_script": plan.receiver if plan.upload else plan.sender,
        "client_script": plan.sender if plan.upload else plan.receiver,
        "halves": halves,
    }


def write_truth(scenario: Scenario, recording: Recording) -> dict[str, Any]:
    """Derives the truth and leaves it beside the captures."""
    truth = truth_of(scenario, recording)
    (recording.folder / "truth.json").write_text(json.dumps(truth, indent=1), encoding="ascii")
    return truth
