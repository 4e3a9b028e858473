"""ACKs that reached the sender and are not in the capture: data that was never sent again counts as acknowledged."""

from typing import Any

import pytest

from tests.scene import Scene
from tests.scene.network import Tap
from tests.scene.packet import FIN, SYN

NEVER_ACKED = {"cwnd-limited", "sndbuf-limited", "idle-restart", "nagle", "delayed-ack", "retransmission"}


def rows(scene: Scene, tap: Tap, sender: str, **how: Any) -> list[dict[str, Any]]:
    """Waits of one sender in order of time, without the handshake."""
    found: list[dict[str, Any]] = scene.flow(tap, **how)["stalls"]
    return [row for row in found if row["sender"] == sender and row["cause"] != "handshake"]


def numbers(scene: Scene, tap: Tap, port: int, *, bare: bool = True) -> list[int]:
    """Packets that one end sent; the `bare` ones only: neither payload, SYN nor FIN."""
    seen = enumerate(scene.packets(tap), 1)
    return [
        number
        for number, (_, packet) in seen
        if packet.source.port == port and not (bare and (packet.payload or packet.flags & (SYN | FIN)))
    ]


def telemetry(scene: Scene) -> None:
    """A server that writes 112 bytes 60 times a second."""
    scene.handshake(rtt_ms=1)
    scene.client_sends(18)
    for _ in range(600):
        scene.server_sends(112)
        scene.client_acks()
        scene.wait_ms(16.7)


def test_a_periodic_writer_whose_acks_were_not_captured_waits_for_itself(scene: Scene) -> None:
    telemetry(scene)
    found = rows(scene, "server", "server", drop=numbers(scene, "server", 40_000)[1:])
    assert {row["cause"] for row in found} == {"app-limited"}
    assert max(row["confidence"] for row in found) < 0.8


def test_with_its_acks_the_same_writer_is_sure(scene: Scene) -> None:
    telemetry(scene)
    found = rows(scene, "server", "server")
    assert {row["cause"] for row in found} == {"app-limited"}
    assert min(row["confidence"] for row in found) >= 0.8


def test_an_ack_that_is_late_by_less_than_its_timers_is_no_missing_one(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(10 * 1_448)
    scene.wait_ms(700)
    scene.client_acks()
    scene.server_sends(10 * 1_448)
    scene.client_acks()
    assert [row["cause"] for row in rows(scene, "server", "server") if row["duration_ns"] > 100e6] == ["cwnd-limited"]


@pytest.mark.parametrize("port", [40_000, 80])
def test_of_one_direction_alone_no_window_and_no_buffer_is_blamed(scene: Scene, port: int) -> None:
    scene.handshake(rtt_ms=20)
    for size in (200, 3_000, 8, 40_000, 60):
        scene.client_sends(size)
        scene.server_acks()
        scene.wait_ms(1_500)
        scene.server_sends(size)
        scene.client_acks()
        scene.wait_ms(30)
    other, sender = (80, "client") if port == 40_000 else (40_000, "server")
    found = rows(scene, "client", sender, drop=numbers(scene, "client", other, bare=False))
    assert found
    assert not {row["cause"] for row in found} & NEVER_ACKED
    assert max(row["confidence"] for row in found) < 0.8


def test_a_repair_that_nothing_follows_was_acknowledged_whether_or_not_that_was_captured(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(226)
    scene.wait_ms(40)
    scene.server_repeats(0, 226)
    scene.client_acks()
    scene.wait_ms(11_000)
    scene.server_sends(31)
    found = rows(scene, "server", "server", drop=numbers(scene, "server", 40_000)[1:])
    assert [row["cause"] for row in found] == ["retransmission", "app-limited"]
    assert found[0]["duration_ns"] < 100e6
    assert found[1]["duration_ns"] > 10.9e9
    assert found[1]["confidence"] < 0.8


def test_data_missing_where_acks_are_missing_too_were_not_lost(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    for unseen in (False, True, False):
        scene.server_sends(1_448, unseen=unseen)
    scene.client_acks()
    scene.wait_ms(60_000)
    scene.server_sends(61)
    scene.client_acks()
    found = rows(scene, "client", "server", drop=numbers(scene, "client", 40_000)[1:])
    assert "retransmission" not in {row["cause"] for row in found}
    assert max(row["confidence"] for row in found if row["duration_ns"] > 1e9) < 0.8


@pytest.mark.parametrize("missing", [0, 1])
def test_an_idle_period_lowers_the_window_also_where_the_ack_before_it_is_missing(scene: Scene, missing: int) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000)
    before = len(scene.packets("server"))
    scene.wait_ms(3_000)
    scene.server_transfers(250_000)
    acks = [number for number in numbers(scene, "server", 40_000) if number <= before]
    found = rows(scene, "server", "server", drop=acks[len(acks) - missing :])
    after = [row["cause"] for row in found if row["start_ns"] > scene.start_ns + 2_900e6]
    assert after[0] == "idle-restart"


def test_data_sent_into_a_shut_window_shows_that_it_had_opened(scene: Scene) -> None:
    """The capture lacks the update that opened the window: what the sender waits for next is no closed window."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(14_600)
    scene.server_acks(window=0)
    scene.wait_ms(800)
    scene.server_acks(window=65_535)
    update = len(scene.packets("client"))
    scene.client_sends(14_600)
    scene.server_acks()
    scene.client_sends(14_600)
    whole, lacking = (rows(scene, "client", "client", drop=drop) for drop in ([], [update]))
    assert [row["cause"] for row in lacking].count("zero-window") == 1
    assert whole[-1]["start_ns"] == lacking[-1]["start_ns"]
    assert lacking[-1]["cause"] != "zero-window"


def answered_beyond_a_hole(scene: Scene, *, bare: bool) -> list[str]:
    """Causes of the client's waits over 500 ms in mid-life, at the server: a message passes unseen, and the answer, a
    second later, acknowledges all. The capture holds the ACKs without payload, or not."""
    scene.handshake(rtt_ms=20)
    before = len(scene.packets("server"))
    scene.server_sends(48)
    scene.client_sends(24)
    scene.wait_ms(22)
    scene.client_sends(113)
    scene.client_sends(365, unseen=True)
    scene.client_sends(2_500)
    if bare:
        scene.server_acks()
    scene.wait_ms(1_075)
    for _ in range(4):
        scene.server_sends(3)
        scene.wait_ms(246)
        scene.client_sends(3)
    ends = [] if bare else [*numbers(scene, "server", 40_000), *numbers(scene, "server", 80)]
    found = rows(scene, "server", "client", drop={*range(1, before + 1), *ends})
    return [row["cause"] for row in found if row["duration_ns"] > 500e6]


@pytest.mark.parametrize("bare", [False, True])
def test_a_hole_that_an_answer_acknowledges_is_the_captures(scene: Scene, bare: bool) -> None:
    """Without the bare ACKs nothing shows that the receiver had been silent about the hole."""
    assert answered_beyond_a_hole(scene, bare=bare) == ["app-limited"]
