"""Acknowledgements that the path lost: the data had arrived, and a timer sent them again."""

import pytest

from tests.scene import Scene
from tests.whatif.played import played

SEGMENT = 1_448


def without_acks(scene: Scene, *, answered: bool = True) -> Scene:
    """The acknowledgements of twenty segments and of a probe are lost until a timeout's retransmission is answered."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(10 * SEGMENT)
    scene.client_acks()
    scene.server_sends(20 * SEGMENT)
    scene.wait_ms(44)
    scene.server_sends(SEGMENT)
    scene.wait_ms(228)
    scene.server_repeats(10 * SEGMENT, SEGMENT)
    scene.client_acks(sack=[(10 * SEGMENT, 11 * SEGMENT)] if answered else [])
    scene.server_sends(30 * SEGMENT)
    scene.client_acks()
    scene.closes()
    return scene


def test_their_timeout_is_replayed(scene: Scene) -> None:
    found = played(without_acks(scene), tap="server")
    assert found.captured_ms > 250
    assert found.replayed_ms == pytest.approx(found.captured_ms, rel=0.1)


def test_a_path_without_losses_has_no_such_timeout(scene: Scene) -> None:
    found = played(without_acks(scene), "loss=0", tap="server")
    assert found.after_ms < 0.5 * found.replayed_ms


def test_a_retransmission_that_no_report_calls_needless_is_of_lost_data(scene: Scene) -> None:
    found = played(without_acks(scene, answered=False), tap="server")
    assert found.forecast.refused == "does-not-fit"
