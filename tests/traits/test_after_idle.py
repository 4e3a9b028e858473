"""The window after an idle period, learnt from the climb that follows it."""

from tests.causes.triple import NOT_A_STALL_MS, SYNS, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap


@fires
def test_a_sender_that_goes_back_to_three_segments_after_an_idle_second(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000, initial_window=3, after_idle="initial")
    scene.wait_ms(1_000)
    scene.download(250_000, after_idle="initial")
    stalls = scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)
    idle = next(i for i, stall in enumerate(stalls) if stall.cause == "app-limited")
    assert stalls[idle + 1] == Stall("idle-restart", between(19, 21))
    assert stalls[idle + 2] == Stall("idle-restart", between(19, 21))


@near_miss
def test_a_sender_that_keeps_its_window_shows_no_restart(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000, initial_window=3, slow_start_after_idle=False)
    scene.wait_ms(1_000)
    scene.download(250_000, slow_start_after_idle=False)
    assert scene.lost_ms("server", tap)["idle-restart"] == 0


@look_alike
def test_the_climb_after_a_timeout_is_no_restart(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(250_000, tso=1, lose=tuple(range(100_000, 160_000, 1_448)))
    assert scene.lost_ms("server", tap)["idle-restart"] == 0


@fires
def test_a_timer_whose_whole_length_has_a_floor_of_200_ms_restarts_sooner(scene: Scene, tap: Tap) -> None:
    """Linux adds the floor to the round trip, RFC 6298 §2.4 has it for the whole: it outlasts 200 ms, not 250."""
    scene.handshake(rtt_ms=50)
    scene.download(250_000)
    scene.wait_ms(165)
    scene.server.congestion.cwnd, scene.server.congestion.most_out = 10, 0
    scene.download(250_000, slow_start_after_idle=False)
    assert scene.lost_ms("server", tap)["idle-restart"] > 90


@look_alike
def test_without_the_windows_scale_a_climb_may_be_the_peers_window(scene: Scene) -> None:
    """Away from the sender, without the handshake, nothing shows that the peer's window had room."""
    scene.handshake(rtt_ms=20)
    scene.download(250_000, initial_window=3, after_idle="initial")
    scene.wait_ms(1_000)
    scene.download(250_000, after_idle="initial")
    rows = scene.flow("client", drop=SYNS)["stalls"]
    found = [row["confidence"] for row in rows if row["cause"] in {"idle-restart", "cwnd-limited"}]
    assert found
    assert max(found) < 0.8


def climbs(scene: Scene, *flights: int) -> None:
    """Flights of so many segments, each acknowledged as a whole; the last one ends a write."""
    for flight in flights:
        scene.server_sends(flight * 1_448, tso=1, push=flight == flights[-1])
        scene.client_acks()


@fires
def test_some_restart_with_two_segments_although_they_began_with_ten(scene: Scene, tap: Tap) -> None:
    """4.4BSD's descendants restart with two segments, whatever their initial window (RFC 2581 §4.1 sets a maximum)."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    climbs(scene, 10, 20, 40)
    scene.wait_ms(1_500)
    climbs(scene, 2, 4, 8, 16, 32)
    assert scene.lost_ms("server", tap)["idle-restart"] in between(76, 84)


@near_miss
def test_a_climb_from_a_single_segment_is_that_after_a_timeout(scene: Scene, tap: Tap) -> None:
    """The retransmission timer leaves a segment (RFC 5681 §3.1), and the tap may not have seen what was lost."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    climbs(scene, 10, 20, 40)
    scene.wait_ms(1_500)
    climbs(scene, 1, 2, 4, 8, 16)
    assert scene.lost_ms("server", tap)["idle-restart"] == 0


def repairs_a_tail(scene: Scene, *, after_ms: float) -> None:
    """Two lost segments at the end of a flight, each sent again so long after the last ACK, and three idle seconds."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    climbs(scene, 4, 8, 16)
    sent = 28 * 1_448
    scene.server_sends(18 * 1_448, tso=1, push=False)
    scene.server_sends(2 * 1_448, tso=1, lost=True)
    for arrived in (18, 19):
        scene.client_acks(upto=sent + arrived * 1_448)
        scene.wait_ms(after_ms)
        scene.server_repeats(sent + arrived * 1_448, 1_448)
    scene.client_acks(upto=sent + 20 * 1_448)
    scene.wait_ms(3_000)
    climbs(scene, 2, 4, 8, 16)


@look_alike
def test_a_timer_below_200_ms_leaves_a_segment_as_well(scene: Scene) -> None:
    """Some stacks have timers of 100 ms: no report came, and the copy is of the first segment out, not of the last."""
    repairs_a_tail(scene, after_ms=60)
    assert scene.lost_ms("server", "server")["idle-restart"] == 0


@near_miss
def test_a_copy_sooner_than_a_round_trip_came_from_no_timer(scene: Scene) -> None:
    repairs_a_tail(scene, after_ms=2)
    assert scene.lost_ms("server", "server")["idle-restart"] in between(57, 63)


def climb_after_idle(scene: Scene, *before: int) -> list[float]:
    """How sure the waits of a climb from three segments are, after flights of so many and an idle second."""
    scene.handshake(rtt_ms=20, client_window=3_000_000)
    scene.request()
    if before:
        climbs(scene, *before)
        scene.wait_ms(1_000)
    climbs(scene, 3, 6, 12, 24)
    rows = [row for row in scene.flow("server")["stalls"] if row["cause"] == "cwnd-limited"]
    return [row["confidence"] for row in rows[-3:]]


@look_alike
def test_a_climb_may_lead_back_to_a_window_that_was_never_seen_full(scene: Scene) -> None:
    """Five segments were acknowledged before: the window had been eight, if it grew by each (RFC 5681 §3.1)."""
    assert [confidence < 0.8 for confidence in climb_after_idle(scene, 2, 3)] == [True, True, False]


@near_miss
def test_a_climb_from_the_first_flight_on_leads_back_to_nothing(scene: Scene) -> None:
    assert min(climb_after_idle(scene)) > 0.9


def after_a_lost_tail(scene: Scene, *, lost: bool) -> list[str]:
    """Causes at the receiver of flights of 3, 6 and 12 segments after an idle period, perhaps with a loss before."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for segments in (3, 6, 12):
        scene.server_sends(segments * 1_448, tso=1, push=False)
        scene.client_acks()
    scene.server_sends(21 * 1_448, tso=1)
    end = scene.server.nxt - scene.server.isn - 1
    heard = scene.client.heard_ns
    scene.server_sends(2 * 1_448, tso=1, lost=lost)
    scene.client.heard_ns = heard if lost else scene.client.heard_ns
    scene.client_acks()
    if lost:
        scene.wait_ms(2_900)
        for piece in range(2):
            scene.server_repeats(end + piece * 1_448, 1_448)
            scene.client_acks()
    scene.wait_ms(3_000)
    for segments in (3, 6, 12, 4):
        scene.server_sends(segments * 1_448, tso=1, push=segments == 4)
        scene.client_acks()
    rows = [row for row in scene.flow("client")["stalls"] if row["start_ns"] > scene.start_ns + 3_100_000_000]
    return [row["cause"] for row in rows if row["cause"] != "app-limited"]


@look_alike
def test_a_climb_after_an_idle_period_is_a_timeouts_if_the_tap_missed_the_first_copies(scene: Scene) -> None:
    """A timeout leaves a segment (RFC 5681 §3.1), and what it sent again opened the window to three."""
    assert "idle-restart" not in after_a_lost_tail(scene, lost=True)


@near_miss
def test_a_climb_after_an_idle_period_is_a_restart_if_nothing_was_lost(scene: Scene) -> None:
    assert "idle-restart" in after_a_lost_tail(scene, lost=False)
