"""A route that becomes shorter early in a flow, seen away from the sender."""

from tests.causes.triple import NOT_A_STALL_MS, fires, look_alike, near_miss
from tests.scene import Scene

FLIGHTS = (10, 20, 40, 80, 160, 320, 640)


def transfer(scene: Scene, *, long: int) -> list[tuple[str, float]]:
    """After so many `long` flights a round trip takes 12 ms, not 50: causes and confidences of the server's waits."""
    for number, segments in enumerate(FLIGHTS):
        if number == long:
            scene.path(rtt_ms=12)
        scene.server_sends(segments * 1_448, push=False)
        scene.client_acks()
    rows = scene.flow("client")["stalls"]
    waits = [row for row in rows if row["sender"] == "server" and row["duration_ns"] > NOT_A_STALL_MS * 1e6]
    return [(row["cause"], row["confidence"]) for row in waits]


@fires
def test_a_second_answer_as_late_as_the_handshakes_shows_the_longer_route(scene: Scene) -> None:
    scene.handshake(rtt_ms=50, client_window=3_000_000)
    scene.request()
    assert [cause for cause, _ in transfer(scene, long=3)[:2]] == ["cwnd-limited"] * 2


@near_miss
def test_after_the_handshake_alone_the_first_answer_may_have_been_on_its_way(scene: Scene) -> None:
    scene.handshake(rtt_ms=50)
    scene.client_sends(147)
    scene.server.now_ns += 38_000_000
    scene.path(rtt_ms=12)
    (cause, confidence), *_ = transfer(scene, long=0)
    assert cause == "app-limited"
    assert confidence < 0.8


@look_alike
def test_a_server_that_thinks_for_longer_than_the_handshake_took_is_slow(scene: Scene) -> None:
    scene.handshake(rtt_ms=50)
    scene.client_sends(147)
    scene.wait_ms(150)
    scene.path(rtt_ms=12)
    (cause, confidence), *_ = transfer(scene, long=0)
    assert cause == "app-limited"
    assert confidence > 0.9
