"""All that was in flight is lost before the tap: the receiver sees a silence, and then a window of one segment."""

from collections import Counter

import pytest

from tests.scene import Scene

SEGMENT = 1_448


def goes_on(
    scene: Scene,
    *,
    lost: int = 0,
    beyond: bool = False,
    first: int = 1,
    push: bool = False,
    flights: tuple[int, ...] = (),
) -> Counter[str]:
    """Labels, at the client's tap, of a download that goes on after 400 ms with `first` segments and then with more.

    Before, flights of so many segments of one write arrive, with IP-IDs, or a download of 70 segments without.
    `lost` segments never pass the tap; after the first of them, sent again, comes the next or new data `beyond` them.
    """
    scene.handshake(rtt_ms=20)
    if flights:
        scene.request()
        for segments in flights:
            scene.server_sends(segments * SEGMENT, push=False)
            scene.client_acks()
    else:
        scene.download(70 * SEGMENT)
    if lost:
        scene.server_sends(lost * SEGMENT, lost=True)
        scene.server.nxt -= lost * SEGMENT
    scene.wait_ms(400)
    scene.server_sends(first * SEGMENT, push=push)
    scene.client_acks()
    if beyond:
        scene.server.nxt += (lost - 1) * SEGMENT
    scene.server_sends(2 * SEGMENT)
    scene.client_acks()
    return scene.lost_ms("server", "client", ipv6=not flights)


@pytest.mark.parametrize("beyond", [True, False])
def test_a_window_of_one_segment_after_a_silence_is_what_a_timeout_left(scene: Scene, *, beyond: bool) -> None:
    assert goes_on(scene, lost=20, beyond=beyond)["retransmission"] > 350


def test_a_message_of_one_segment_after_a_silence_shows_no_window(scene: Scene) -> None:
    assert goes_on(scene, push=True)["app-limited"] > 350


def test_an_idle_period_leaves_more_than_one_segment(scene: Scene) -> None:
    assert goes_on(scene, first=10)["app-limited"] > 350


def test_a_first_flight_of_several_segments_is_enough_to_know_the_initial_window(scene: Scene) -> None:
    assert goes_on(scene, lost=5, flights=(10, 5))["retransmission"] > 350


def test_a_connection_that_began_with_one_segment_may_restart_with_one(scene: Scene) -> None:
    assert goes_on(scene, flights=(1, 4))["app-limited"] > 350
