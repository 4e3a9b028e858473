"""Data echoes the stamp of the last ACK that its sender had received (RFC 7323 §4.3): an older one released nothing."""

from collections.abc import Callable
from typing import Any

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

WRITE = 2_000
ROUNDS = 12


def writes_in_step(
    scene: Scene, met: Callable[[int], bool], tap: Tap = "server", *, echoes_acks: bool = True
) -> list[dict[str, Any]]:
    """Waits of a server whose writes follow ACKs by 50 µs; in the rounds of `met` a write left before the ACK came."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(WRITE)
    scene.server_sends(WRITE)
    heard = scene.server.peer_clock
    for number in range(ROUNDS):
        scene.client_acks(upto=(number + 1) * WRITE)
        came = scene.server.peer_clock
        if met(number) or not echoes_acks:
            scene.server.peer_clock = heard
        scene.server_sends(WRITE)
        heard = scene.server.peer_clock = came if echoes_acks else heard
    rows: list[dict[str, Any]] = scene.flow(tap)["stalls"]
    return [row for row in rows if row["sender"] == "server" and row["duration_ns"] > 15e6]


@fires
def test_writes_that_left_before_their_acks_came_are_the_application_s(scene: Scene) -> None:
    rows = writes_in_step(scene, lambda number: True)
    assert {row["cause"] for row in rows[2:]} == {"app-limited"}


@near_miss
def test_away_from_the_sender_such_writes_are_no_sure_buffer(scene: Scene) -> None:
    rows = writes_in_step(scene, lambda number: True, "client")
    assert [row["cause"] for row in rows if row["confidence"] >= 0.8] == []


@near_miss
def test_writes_that_echo_their_acks_are_a_full_buffer_s(scene: Scene) -> None:
    rows = writes_in_step(scene, lambda number: False)
    assert {row["cause"] for row in rows} == {"sndbuf-limited"}
    assert all(row["confidence"] >= 0.9 for row in rows)


@fires
def test_a_writer_that_often_met_its_acks_is_never_surely_a_full_buffer(scene: Scene) -> None:
    rows = writes_in_step(scene, lambda number: number % 3 == 0)
    assert {row["cause"] for row in rows if row["confidence"] >= 0.8} == {"app-limited"}


@look_alike
def test_a_stack_that_takes_stamps_from_data_alone_tells_nothing(scene: Scene) -> None:
    """RFC 1323 §3.4: the segment must hold the byte after the last ACK: an ACK without payload changes no echo."""
    rows = writes_in_step(scene, lambda number: False, echoes_acks=False)
    assert {row["cause"] for row in rows} == {"sndbuf-limited"}


@look_alike
def test_one_write_that_met_its_ack_may_be_an_accident_of_the_host(scene: Scene) -> None:
    rows = writes_in_step(scene, lambda number: number == 8)
    assert [row["confidence"] >= 0.9 for row in rows].count(True) == ROUNDS - 1
    assert {row["cause"] for row in rows if row["confidence"] >= 0.8} == {"sndbuf-limited"}


@look_alike
def test_acks_that_come_while_words_of_the_peer_are_unacknowledged_change_no_echo(scene: Scene) -> None:
    """RFC 7323 §4.3: a receiver takes no stamp from a segment beyond its last ACK."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(20 * WRITE)
    heard = scene.server.peer_clock
    scene.client_sends(100)
    scene.wait_ms(3)
    scene.client_acks()
    scene.server.peer_clock = heard + 20
    scene.server_sends(40 * WRITE)
    assert "app-limited" not in causes(scene, "server")


def grown_path(scene: Scene, *, heard: bool) -> list[str]:
    """Causes of a wait at the receiver, after whole segments; the next data echoes their ACK, or an older one."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for count in (4, 8, 10):
        before = scene.server.peer_clock
        for _ in range(count):
            scene.server_sends(1_448, tso=1, push=False)
        scene.client_acks()
    if not heard:
        scene.server.peer_clock = before
    scene.wait_ms(70)
    scene.server_sends(1_448, tso=1, push=False)
    rows = scene.flow("client")["stalls"]
    return [row["cause"] for row in rows if row["sender"] == "server" and row["duration_ns"] > 60e6]


@near_miss
def test_away_from_the_sender_data_that_left_before_the_acks_came_shows_a_longer_path(scene: Scene) -> None:
    """By the usual distance the sender had nothing in flight; by the echo it had, so its silence says nothing."""
    assert grown_path(scene, heard=False) == ["unexplained"]


@look_alike
def test_data_that_echoes_the_last_ack_left_long_after_it(scene: Scene) -> None:
    assert grown_path(scene, heard=True) == ["app-limited"]
