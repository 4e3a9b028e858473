"""The IP-ID: a counter of the connection's own shows packets that were lost before the tap; no other does."""

from typing import Literal

import pytest

from tests.causes.triple import fires, look_alike, near_miss
from tests.scene import Scene
from tests.traits.exchanges import SEGMENT, acknowledged


def lost_tail(scene: Scene, ip_ids: Literal["connection", "host", "zero"], *, lost: bool = True) -> list[str]:
    """The receiver's view of a silence of a timer's length, after which one segment comes alone, and then another."""
    scene.server.ip_ids = ip_ids
    edge = acknowledged(scene, rtt_ms=20)
    if lost:
        scene.server_sends(2 * SEGMENT, tso=1, lost=True)
    scene.wait_ms(200)
    for _ in range(2):
        scene.server_repeats(edge, SEGMENT)
        edge += SEGMENT
        scene.client_acks(upto=edge)
    scene.server_sends(2 * SEGMENT, tso=1)
    return [stall.cause for stall in scene.stalls("server", "client", over_ms=150)]


@fires
def test_missing_numbers_before_a_timeouts_segment_are_a_lost_flight(scene: Scene) -> None:
    assert lost_tail(scene, "connection") == ["retransmission"]


@near_miss
@pytest.mark.parametrize("lost", [True, False])
def test_without_numbers_nothing_shows_a_loss(scene: Scene, lost: bool) -> None:
    assert "retransmission" not in lost_tail(scene, "zero", lost=lost)


@look_alike
def test_numbers_that_other_connections_took_are_no_loss(scene: Scene) -> None:
    assert "retransmission" not in lost_tail(scene, "host", lost=False)
