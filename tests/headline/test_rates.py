"""A window or a buffer that stops a sender once a round trip sets its rate, although it sends for most of the time."""

from typing import Any

import pytest

from tcpstall.findings import evidence
from tests.headline.test_kinds import found
from tests.scene import Reader, Scene

PACED = 2e6
"""Bytes a second: a window of 120 kB then takes 60 of the 100 ms of a round trip."""

RATES = {"rwnd-limited": "receive-window", "sndbuf-limited": "send-buffer"}


@pytest.mark.parametrize(
    ("limit", "kind"),
    [({"reader": Reader(buffer=120_000)}, "rwnd-limited"), ({"send_buffer": 120_000}, "sndbuf-limited"), ({}, None)],
    ids=["window", "buffer", "none"],
)
def test_what_stops_a_paced_sender_in_each_round_trip_sets_the_rate(
    scene: Scene, limit: dict[str, Any], kind: str | None
) -> None:
    scene.handshake(rtt_ms=100)
    scene.download(2_000_000, pace=PACED, **limit)
    scene.closes()
    rows = {row.kind: row for row in found(scene)}
    assert ("rate-sender" in rows or "rate-pacing" in rows) == (kind is None)
    assert scene.flow("client")["rate_set_by"] == RATES.get(kind or "", "sender")
    if kind is not None:
        assert rows[kind].time_ns > 1.3e9
        assert (rows[kind].recoverable_ns or 0) < rows[kind].time_ns


@pytest.mark.parametrize(("idle_ms", "has_rate"), [(0, True), (20_000, False)])
def test_waits_of_a_pace_name_its_rate_unless_the_flow_did_other_things(
    scene: Scene, idle_ms: int, has_rate: bool
) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, pace=155_000)
    scene.wait_ms(idle_ms)
    scene.closes()
    (pace,) = (row for row in found(scene) if row.kind == "pacing")
    assert ("waits at 1.2 Mbit/s" in evidence(pace)) == has_rate


def test_a_window_that_was_full_for_a_short_time_sets_no_rate(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.download(250_000, pace=PACED, reader=Reader(buffer=120_000))
    scene.server_transfers(3_000_000, pace=PACED)
    scene.closes()
    rows = {row.kind: row for row in found(scene)}
    assert rows["rwnd-limited"].time_ns < 0.2e9
    assert "rate-sender" in rows


def test_messages_that_come_late_one_by_one_show_no_rate_of_the_path(scene: Scene) -> None:
    """Live sound, a message each 20 ms: some were held before the tap, each alone on its way, and filled no queue."""
    scene.handshake(rtt_ms=10)
    for number in range(200):
        late = 30 if number % 9 == 8 else 0
        scene.wait_ms(14)
        scene.server.clock_ms -= late
        scene.wait_ms(late)
        scene.server_sends(210)
        scene.server.clock_ms += late
        scene.client_acks()
    assert "bandwidth-limited" not in {row.kind for row in found(scene)}
