"""One direction of data of one connection: the socket that sends it, what limited it, and the proof."""

import json
from collections import Counter
from typing import Any

from tests.tools.lab.hosts.program import Program
from tests.tools.lab.hosts.series import Series
from tests.tools.lab.hosts.tracing import acks, congestion_states
from tests.tools.lab.run import Recording
from tests.tools.lab.scenario import Scenario
from tests.tools.lab.truths.moments import Socket
from tests.tools.lab.truths.spans import Waits
from tests.tools.lab.truths.wire import read_wire

_CAPTURES = {"snd": "sender.pcap", "rcv": "receiver.pcap"}


def half_of(scenario: Scenario, recording: Recording, number: int, side: str) -> dict[str, Any] | None:
    """The half whose data the program on `side` sent; None if it never connected."""
    program = Program(_load(recording, f"{number}.{side}.app.json"))
    sampled = _load(recording, f"{number}.{side}.samples.json")
    ends = program.ends()
    if ends is None:
        return None
    (_, local), (_, peer) = ends
    wire = read_wire(recording.folder / _CAPTURES[side], local, peer)
    final = sampled["final"]
    series = Series(sampled["series"])
    minimum = final.get("min_rtt") or 2 * scenario.one_way_us
    min_rtt_ms = (minimum if minimum < 1 << 31 else 2 * scenario.one_way_us) / 1000
    threshold_ms = max(1.0, 0.3 * min_rtt_ms)
    socket = _socket(scenario, program, side)
    states = congestion_states(recording.trace, local, peer)
    waits = Waits(wire, series, program, socket, states, threshold_ms / 1e3)
    spans = waits.spans()
    calls = scenario.connections[number].upload == (side == "snd")
    fresh = wire.fresh
    totals: Counter[str] = Counter()
    for span in spans:
        totals[span["label"]] += span["t_end"] - span["t_start"]
    return {
        "local": ends[0],
        "peer": ends[1],
        "role": "client" if calls else "server",
        "bytes": sum(one.new for one in wire.sent),
        "t_syn": wire.t_syn,
        "t_established": wire.t_established,
        "t_first_data": fresh[0].t if fresh else None,
        "t_last_data": fresh[-1].t if fresh else None,
        "t_close": wire.t_close,
        "min_rtt_ms": min_rtt_ms,
        "threshold_ms": round(threshold_ms, 3),
        "dominant": totals.most_common(1)[0][0] if totals else None,
        "label_totals_ms": {label: round(1e3 * took, 3) for label, took in totals.most_common()},
        "spans": spans,
        "idle_restarts": waits.restarts,
        "retransmissions": waits.repairs,
        "syn_transmissions": wire.syns,
        "ca_states": states,
        "host": side,
        "main": side == "snd",
        "config": _config(socket),
        "capture_sender_side": _CAPTURES[side],
        "capture_receiver_side": _CAPTURES["rcv" if side == "snd" else "snd"],
        **_record(recording, sampled, program, local, peer),
    }


def _config(socket: Socket) -> dict[str, Any]:
    return {
        "ssai": int(socket.restarts),
        "nodelay": socket.nodelay,
        "paced": socket.paced,
        "cc": socket.congestion_control,
    }


def _record(recording: Recording, sampled: dict[str, Any], program: Program, local: int, peer: int) -> dict[str, Any]:
    """The raw material, for whoever wants to check a label."""
    return {
        "tcp_info_final": sampled["final"],
        "info_series": sampled["series"],
        "tcp_probe": acks(recording.trace, local, peer),
        "app_log": program.log,
    }


def _load(recording: Recording, name: str) -> Any:
    path = recording.folder / name
    return (
        json.loads(path.read_text(encoding="ascii"))
        if path.exists()
        else ([] if "app" in name else {"series": {}, "final": {}})
    )


def _socket(scenario: Scenario, program: Program, side: str) -> Socket:
    host = scenario.sender if side == "snd" else scenario.receiver
    control = program.option("cc", "cubic")
    paced = control == "bbr" or program.option("maxpacing", "0") != "0"
    restarts = str(host.sysctl.get("tcp_slow_start_after_idle", 1)) == "1" and control != "bbr"
    rate = scenario.rate_a if side == "snd" else scenario.rate_b
    bare_rtt_us = 2 * scenario.one_way_us if rate else 0
    return Socket(program.option("nodelay", "0") == "1", paced, restarts, control, bare_rtt_us)
