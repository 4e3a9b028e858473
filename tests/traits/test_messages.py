"""Data that the peer's messages let go: a window of the protocol above TCP, as of HTTP/2 and SSH."""

import pytest

from tcpstall import analyze
from tcpstall.advice.case import cases
from tcpstall.findings import findings, sentence
from tcpstall.report.answer import findings as answers
from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

SEGMENT = 1_448
WINDOW = 8
"""Segments: fewer than the initial window of RFC 6928, which therefore holds nothing back."""
UPDATE = 26
"""Bytes of two WINDOW_UPDATE frames (RFC 9113 §6.9)."""


def says(scene: Scene, size: int, *, upto: int) -> None:
    """The client sends a message that acknowledges up to a byte, although more has arrived."""
    heard = scene.client.rcv_nxt
    scene.client.rcv_nxt = scene.server.isn + 1 + upto
    scene.client_sends(size)
    scene.client.rcv_nxt = heard


def rounds(scene: Scene, count: int, *, message: bool = True, acks_say: int = 0) -> None:
    """Half a window at a time: ACKs of its first segments, then the ACK of the rest, with a message or without."""
    scene.handshake(rtt_ms=40)
    scene.request()
    scene.server_sends(WINDOW * SEGMENT, push=False)
    for number in range(count):
        acked = number * WINDOW // 2
        for more in (1, 3):
            if acks_say:
                says(scene, acks_say, upto=(acked + more) * SEGMENT)
            else:
                scene.client_acks(upto=(acked + more) * SEGMENT)
            scene.wait_ms(6)
        if message:
            says(scene, UPDATE, upto=(acked + WINDOW // 2) * SEGMENT)
        else:
            scene.client_acks(upto=(acked + WINDOW // 2) * SEGMENT)
        scene.server_sends(WINDOW // 2 * SEGMENT, push=False)


def details(scene: Scene, tap: Tap | None = None) -> list[str]:
    rows = scene.flow(tap)["stalls"]
    mine = [row for row in rows if row["sender"] == "server" and row["duration_ns"] > NOT_A_STALL_MS * 1e6]
    return [f"{row['cause']}/{row['detail']}" for row in mine if row["cause"] != "handshake"]


@fires
def test_data_that_follows_the_peers_messages_waits_for_the_applications_window(scene: Scene, tap: Tap) -> None:
    rounds(scene, 8)
    found = details(scene, tap)
    assert found.count("app-limited/application-window") >= 7
    assert not any(one.startswith(("sndbuf", "cwnd")) for one in found)


@fires
def test_the_time_is_lost_and_the_headline_names_the_window(scene: Scene) -> None:
    rounds(scene, 8)
    flow = scene.flow()
    waited = sum(row["duration_ns"] for row in flow["stalls"] if row["detail"] == "application-window")
    assert flow["time_ns"]["app-limited"] >= waited > 0
    first = findings(analyze(scene.capture()))[0]
    assert first.kind == "flow-control"
    assert "client's messages" in sentence(first)
    (told, *_) = answers(next(iter(analyze(scene.capture()))))
    assert told.summary == "the application's own window was full"
    assert "protocol above TCP" in told.advice
    assert cases(next(iter(analyze(scene.capture()))))[0].kind == "application-window"


@near_miss
@pytest.mark.parametrize(("count", "message"), [(8, False), (2, True)])
def test_acks_that_let_data_go_and_two_messages_show_no_such_window(scene: Scene, count: int, message: bool) -> None:
    rounds(scene, count, message=message)
    assert "app-limited/application-window" not in details(scene)


@look_alike
def test_a_peer_that_says_something_with_each_ack_lets_nothing_go(scene: Scene) -> None:
    rounds(scene, 8, acks_say=100)
    assert "app-limited/application-window" not in details(scene)
