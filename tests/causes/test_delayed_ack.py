"""`delayed-ack`: the receiver's delayed ACK held the sender."""

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_write_write_read_pays_the_peers_delayed_ack_timer(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=2)
    for _ in range(3):
        scene.client_sends(100)
        scene.wait_ms(40)
        scene.server_acks()
        scene.client_sends(100)
        scene.server_sends(50)
    stalls = scene.stalls("client", tap, over_ms=NOT_A_STALL_MS)
    assert stalls == 3 * [Stall("delayed-ack", between(39, 44))]


@near_miss
def test_an_ack_at_once_makes_it_nagles_alone(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.client_writes((0, 100), (0.1, 100))
        scene.server_sends(50)
    assert scene.lost_ms("client", tap)["delayed-ack"] == 0


@look_alike
def test_a_client_that_thinks_for_forty_milliseconds_is_the_application(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=2)
    for _ in range(4):
        scene.client_sends(100)
        scene.server_sends(50)
        scene.wait_ms(40)
    assert scene.lost_ms("client", tap)["delayed-ack"] == 0
    assert causes(scene, tap, sender="client") == ["app-limited"]


@near_miss
def test_a_long_path_that_scatters_a_little_delays_no_ack(scene: Scene) -> None:
    scene.handshake(rtt_ms=500)
    for jitter_ms in (0, 30, 60, 90, 40):
        scene.client_sends(100)
        scene.wait_ms(jitter_ms)
        scene.server_acks()
    scene.client_sends(100)
    assert scene.lost_ms("client", "client")["delayed-ack"] == 0
    assert scene.lost_ms("client", "client")["nagle"] > 2_500


def probed_with(scene: Scene, size: int) -> None:
    """The probe timer sends new data, 200 ms and two round trips after a single short segment."""
    scene.handshake(rtt_ms=2)
    scene.client_sends(100)
    scene.server_sends(50)
    scene.client_sends(100)
    scene.wait_ms(204)
    scene.client_sends(size)
    scene.server_acks()


@fires
def test_a_held_write_that_the_probe_timer_sends_before_the_delayed_ack_comes_shows_no_loss(scene: Scene) -> None:
    """A probe does not ask Nagle."""
    probed_with(scene, 60)
    assert scene.stalls("client", "client", over_ms=NOT_A_STALL_MS) == [Stall("delayed-ack", between(203, 206))]


@look_alike
def test_a_whole_segment_that_the_probe_timer_sends_was_not_held_by_nagle(scene: Scene) -> None:
    probed_with(scene, 1_448)
    assert scene.lost_ms("client", "client")["delayed-ack"] == 0


def single(scene: Scene, then: int) -> list[str]:
    """The client's waits: a short segment with a delayed ACK, from a sender that holds none back, then `then` bytes."""
    scene.handshake(rtt_ms=2)
    for _ in range(2):
        scene.client_sends(100)
        scene.client_sends(100)
        scene.server_acks()
    scene.client_sends(100)
    scene.wait_ms(40)
    scene.server_acks()
    scene.client_sends(then)
    return causes(scene, "client", sender="client")


@fires
def test_a_short_segment_after_a_delayed_ack_had_waited_for_it(scene: Scene) -> None:
    assert "delayed-ack" in single(scene, 100)


@look_alike
def test_no_delayed_ack_holds_a_whole_segment_back(scene: Scene) -> None:
    """One short segment is out, and the congestion window has room for nine: the application wrote only then."""
    assert "delayed-ack" not in single(scene, 1_448)


def whole_after_short(scene: Scene, flights: int, late_ms: float = 0) -> list[str]:
    """The client's waits: so often 344 bytes, an ACK 200 ms late, and `late_ms` after that ACK seven whole segments."""
    scene.handshake(rtt_ms=20)
    for _ in range(flights):
        scene.client_sends(7 * 1_448, tso=1, push=False)
        scene.server_acks()
        scene.client_sends(344)
        scene.wait_ms(200)
        scene.server_acks()
        scene.wait_ms(10 + late_ms)
    scene.client_sends(7 * 1_448, tso=1, push=False)
    return causes(scene, "client", sender="client")


@fires
def test_whole_segments_that_each_delayed_ack_lets_go_had_waited_for_it(scene: Scene) -> None:
    """A buffer with room for the next write only once it is empty."""
    assert "delayed-ack" in whole_after_short(scene, 5)


@near_miss
def test_whole_segments_that_delayed_acks_let_go_twice_are_no_habit(scene: Scene) -> None:
    assert "delayed-ack" not in whole_after_short(scene, 2)


@look_alike
def test_whole_segments_later_than_a_host_answers_waited_for_their_application(scene: Scene) -> None:
    assert "delayed-ack" not in whole_after_short(scene, 5, late_ms=30)


def by_turns(scene: Scene, *, alone: bool) -> set[bool]:
    """Sureness of the delayed ACKs of 188 bytes; after each of them a whole segment comes by itself, if not `alone`."""
    scene.handshake(rtt_ms=2)
    for _ in range(5):
        scene.client_sends(188)
        scene.wait_ms(190)
        scene.server_acks()
        scene.client_sends(188)
        scene.wait_ms(200)
        if not alone:
            scene.client_sends(1_448)
        scene.server_acks()
        scene.wait_ms(90)
    rows = scene.flow("client")["stalls"]
    return {row["confidence"] >= 0.8 for row in rows if row["cause"] == "delayed-ack"}


@near_miss
def test_a_writer_that_filled_a_segment_up_by_itself_may_have_written_late_in_the_wait(scene: Scene) -> None:
    assert by_turns(scene, alone=False) == {False}


@fires
def test_writes_that_only_acks_let_go_waited_for_the_delayed_ack(scene: Scene) -> None:
    assert by_turns(scene, alone=True) == {True}


@look_alike
@pytest.mark.parametrize("closes", [False, True])
def test_what_follows_a_fin_that_came_with_the_late_ack_may_answer_the_close(scene: Scene, closes: bool) -> None:
    scene.handshake(rtt_ms=50)
    scene.client_sends(800)
    scene.server.now_ns = scene.server.acts_ns() + 60_000_000
    scene.server_acks()
    if closes:
        scene.server.now_ns += 1_000_000
        scene.server_closes()
    scene.client_sends(42)
    last = scene.flow("server")["stalls"][-1]
    expected = ("app-limited", False, ["delayed-ack", "nagle"]) if closes else ("delayed-ack", True, ["nagle"])
    assert (last["cause"], last["confidence"] >= 0.8, last["also"]) == expected
