"""Behind a relay that acknowledges for the server, a round trip of the path behind it is no wait for the server."""

import pytest

from tcpstall import analyze
from tcpstall.findings import findings, sentence
from tcpstall.findings.finding import IDLE
from tests.headline.test_farewell import saved_ms
from tests.headline.test_pushes import found
from tests.scene import Scene


def near(scene: Scene, *, lost_syns: int = 0) -> None:
    """The SYN-ACK crosses 100 ms; all later ACKs come from a relay at 1 ms."""
    scene.handshake(rtt_ms=100, lost_syns=lost_syns)
    scene.path(rtt_ms=1)
    scene.wait_ms(60)


def asks(scene: Scene, *answers_ms: float) -> None:
    for late_ms in answers_ms:
        scene.client_sends(300)
        scene.server_acks()
        scene.wait_ms(late_ms)
        scene.server_sends(1_000)
        scene.client_acks()
        scene.wait_ms(20)


def test_answers_that_take_as_long_as_the_syn_ack_are_round_trips(scene: Scene) -> None:
    near(scene)
    asks(scene, 101, 104, 110)
    scene.closes()
    first = findings(analyze(scene.capture("client")))[0]
    assert first.kind in IDLE
    assert sentence(first).startswith("nothing to repair")


def test_only_what_is_beyond_the_round_trip_can_be_given_back(scene: Scene) -> None:
    near(scene)
    asks(scene, 101, 500)
    scene.closes()
    row = found(scene)["server-slow"]
    assert (row.kind, row.waits) == ("server-slow", 1)
    assert saved_ms(scene, "server-slow") == pytest.approx(400, rel=0.03)


@pytest.mark.parametrize(
    ("answers_ms", "lost_syns"), [((5, 104, 5, 110), 0), ((700,), 0), ((101, 104, 110), 1)],
    ids=["answers-come-sooner", "no-answer-agrees", "a-syn-was-lost"],
)  # fmt: skip
def test_a_handshake_that_alone_was_late_shows_no_relay(
    scene: Scene, answers_ms: tuple[float, ...], lost_syns: int
) -> None:
    near(scene, lost_syns=lost_syns)
    asks(scene, *answers_ms)
    scene.closes()
    rows = found(scene)
    assert {"handshake-slow", "handshake-loss"} & rows.keys()
    assert "server-slow" in rows


def test_a_quick_syn_ack_shows_no_relay(scene: Scene) -> None:
    scene.handshake(rtt_ms=1)
    asks(scene, 101, 104, 110)
    scene.closes()
    assert found(scene)["server-slow"].waits == 3


@pytest.mark.parametrize(("pause_ms", "kind"), [(300, "unexplained"), (2_000, "sent-in-pieces")])
def test_a_pause_of_some_round_trips_may_be_of_the_path_behind_the_relay(
    scene: Scene, pause_ms: float, kind: str
) -> None:
    near(scene)
    asks(scene, 101)
    scene.client_sends(300)
    scene.server_acks()
    scene.wait_ms(104)
    for _ in range(3):
        scene.server_sends(5_000)
        scene.client_acks()
        scene.wait_ms(pause_ms)
    scene.server_sends(5_000)
    scene.client_acks()
    scene.closes()
    rows = found(scene)
    assert kind in rows
    assert ("sent-in-pieces" in rows) == (kind == "sent-in-pieces")


def behind(scene: Scene, pause_ms: float, *, handshake_ms: float = 100) -> float:
    """Confidence that the server's pause amid its answer is its application's; its ACKs come within 1 ms."""
    scene.handshake(rtt_ms=handshake_ms)
    scene.path(rtt_ms=1)
    scene.wait_ms(60)
    asks(scene, 400)
    scene.client_sends(300)
    scene.server_acks()
    scene.wait_ms(300)
    scene.server_sends(10 * 1_448, push=True)
    scene.client_acks()
    scene.wait_ms(pause_ms)
    scene.server_sends(10 * 1_448)
    scene.client_acks()
    scene.closes()
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["detail"] == "idle"]
    (row,) = [row for row in rows if abs(row["duration_ns"] / 1e6 - pause_ms) < 2]
    assert row["cause"] == "app-limited"
    confidence: float = row["confidence"]
    return confidence


def test_a_pause_as_long_as_the_path_behind_a_relay_may_be_the_paths(scene: Scene) -> None:
    assert behind(scene, 98) <= 0.75


@pytest.mark.parametrize(("pause_ms", "handshake_ms"), [(250, 100), (98, 1)])
def test_a_longer_pause_or_one_without_a_relay_is_sure(scene: Scene, pause_ms: float, handshake_ms: float) -> None:
    assert behind(scene, pause_ms, handshake_ms=handshake_ms) >= 0.9
