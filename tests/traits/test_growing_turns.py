"""First flights of answers that grow from one to the next, as a congestion window lets them."""

from tests.causes.triple import fires, look_alike
from tests.scene import Scene


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
