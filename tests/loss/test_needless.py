"""Copies of data that had arrived: a timer's, or perhaps the path's."""

import pytest

from tests.scene import Scene


@pytest.mark.parametrize(("after_ms", "sure"), [(0.4, False), (320, True)], ids=["sooner-than-any-timer", "by-a-timer"])
def test_a_needless_copy_right_behind_its_original_may_be_the_paths(scene: Scene, after_ms: float, sure: bool) -> None:
    scene.handshake(rtt_ms=40)
    scene.download(5_000)
    scene.wait_ms(500)
    scene.client_sends(200)
    scene.server_sends(800)
    scene.wait_ms(after_ms)
    scene.server_repeats(5_000, 800)
    scene.client_acks(sack=((5_000, 5_800),))
    scene.closes()
    rows = [row for row in scene.flow("client")["stalls"] if row["detail"] == "spurious"]
    assert [row["confidence"] >= 0.8 for row in rows] == [sure]
