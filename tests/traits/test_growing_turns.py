"""First flights of answers that grow from one to the next, as a congestion window lets them."""

from tests.causes.triple import fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap


def turns(scene: Scene, *answers: tuple[int, ...]) -> list[tuple[str, bool]]:
    """(cause, sure) of the server's waits in answers of such flights, each let go by the ACK of the one before.

    The flights of the third answer and later ones begin with a write of 50 bytes.
    """
    scene.handshake(rtt_ms=80)
    for number, flights in enumerate(answers):
        scene.client_sends(30)
        scene.wait_ms(5)
        for at, flight in enumerate(flights):
            header = 50 if number > 1 and at == 0 else 0
            if header:
                scene.server_sends(header)
            scene.server_sends(flight - header, tso=1, push=at == len(flights) - 1)
            scene.client_acks()
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server" and row["duration_ns"] < 82e6]
    return [(row["cause"], row["confidence"] >= 0.8) for row in rows]


@look_alike
def test_a_full_buffer_that_holds_a_short_write_more_has_not_grown(scene: Scene) -> None:
    """Eight segments, then 50 bytes and the rest of as many: nine segments of the same bytes."""
    whole = 8 * 1_448
    found = turns(scene, (6 * 1_448, 500), (whole, whole, 5_792), (whole, whole, 5_792), (whole, whole, 5_792))
    assert ("cwnd-limited", True) not in found


@fires
def test_first_flights_that_grow_from_answer_to_answer_are_a_windows(scene: Scene) -> None:
    flights = [(count * 1_448, count * 1_448, 5_792) for count in (4, 5, 6, 7)]
    assert ("cwnd-limited", True) in turns(scene, *flights)


def by_a_segment(scene: Scene, tap: Tap, *, each: bool) -> list[bool]:
    """Sureness of the second and third waits of flights that grow by a segment; one ACK for all, or for `each`."""
    scene.handshake(rtt_ms=40)
    scene.request()
    sent = 0
    for segments in (3, 4, 5, 6):
        scene.server_sends(segments * 1_448, tso=1, push=False)
        for number in range(segments):
            sent += 1_448
            if each or number == segments - 1:
                scene.client_acks(upto=sent)
    scene.server_sends(6 * 1_448, tso=1, push=False)
    rows = [row for row in scene.flow(tap)["stalls"] if row["sender"] == "server"]
    assert {row["cause"] for row in rows[1:3]} == {"cwnd-limited"}
    return [row["confidence"] >= 0.8 for row in rows[1:3]]


@near_miss
def test_slow_start_grows_by_a_segment_for_each_ack(scene: Scene, tap: Tap) -> None:
    assert by_a_segment(scene, tap, each=True) == [False, False]


@fires
def test_where_one_ack_covers_a_flight_slow_start_grows_by_a_segment(scene: Scene, tap: Tap) -> None:
    assert by_a_segment(scene, tap, each=False) == [True, True]
