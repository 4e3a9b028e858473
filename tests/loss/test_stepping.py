"""ACKs that step on after a timeout: a whole flight was late, not lost (F-RTO)."""

import pytest

from tests.scene import Scene
from tests.scene.network import Tap

SEGMENT = 1_460
FLIGHT = 4 * SEGMENT


def details(scene: Scene, tap: Tap = "server") -> list[str]:
    rows = scene.flow(tap)["stalls"]
    return [row["detail"] for row in rows if row["cause"] == "retransmission"]


def times_out(scene: Scene, *, timestamps: bool = False) -> None:
    scene.client.sack = scene.server.sack = True
    scene.handshake(rtt_ms=100, timestamps=timestamps)
    scene.request()
    scene.server_sends(FLIGHT, tso=1)
    scene.wait_ms(1_200)
    scene.server_repeats(0, SEGMENT)
    scene.wait_ms(80)


def goes_on(scene: Scene) -> None:
    scene.server_sends(FLIGHT)
    scene.client_acks()
    scene.closes()


@pytest.mark.parametrize(("first", "detail"), [(1, "spurious"), (4, "timeout")], ids=["step-by-step", "all-at-once"])
def test_acks_that_step_on_after_the_only_copy_are_of_the_originals(scene: Scene, first: int, detail: str) -> None:
    """A receiver that had lacked the first segment alone would have acknowledged all with its copy."""
    times_out(scene)
    for segments in range(first, 5):
        scene.client_acks(upto=segments * SEGMENT)
    goes_on(scene)
    assert details(scene) == [detail]


def test_a_flight_that_is_sent_again_segment_by_segment_was_lost(scene: Scene) -> None:
    times_out(scene)
    for segments in range(1, 4):
        scene.client_acks(upto=segments * SEGMENT)
        scene.server_repeats(segments * SEGMENT, SEGMENT)
    scene.client_acks()
    goes_on(scene)
    assert "spurious" not in details(scene)


@pytest.mark.parametrize("reported", [False, True])
def test_a_report_of_a_loss_amid_the_steps_says_that_something_was_lost(scene: Scene, reported: bool) -> None:
    times_out(scene)
    scene.client_acks(upto=SEGMENT)
    scene.client_acks(upto=2 * SEGMENT, sack=((3 * SEGMENT, FLIGHT),) if reported else ())
    scene.client_acks()
    goes_on(scene)
    assert ("spurious" in details(scene)) != reported


@pytest.mark.parametrize(("echo", "needless"), [(None, True), (63, False)], ids=["of-the-original", "never-sent"])
def test_an_echo_that_the_sender_never_sent_shows_no_original(scene: Scene, echo: int | None, needless: bool) -> None:
    """Some experiments put other numbers into the echo (RFC 3522 needs stamps that the sender chose)."""
    scene.server.clock_ms = 1_000_000
    scene.handshake(rtt_ms=100)
    scene.request()
    scene.server_sends(FLIGHT, tso=1)
    original = scene.client.peer_clock
    scene.wait_ms(1_200)
    scene.server_repeats(0, scene.server.segment_bytes())
    scene.wait_ms(80)
    scene.client.peer_clock = original if echo is None else echo
    scene.client_acks()
    goes_on(scene)
    assert details(scene) == ["spurious" if needless else "timeout"]
