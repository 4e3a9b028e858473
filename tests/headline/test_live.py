"""Many short pauses amid what an end sends may be those of live media or of a remote screen: the answer says so."""

import pytest

from tcpstall.findings import sentence
from tcpstall.findings.changes import advice
from tests.headline.test_pushes import found
from tests.scene import Scene


@pytest.mark.parametrize(
    ("pauses", "every_ms", "live"),
    [(40, 60, True), (10, 60, False), (40, 600, False)],
    ids=["frames", "a-few", "seldom"],
)
def test_frames_may_be_live(scene: Scene, pauses: int, every_ms: float, live: bool) -> None:
    scene.handshake(rtt_ms=4)
    scene.request()
    scene.server_writes(*((number * every_ms, 3_000) for number in range(pauses + 1)))
    scene.closes()
    row = found(scene)["sent-in-pieces"]
    assert row.waits == pauses
    assert ("as of live media or a slow application" in sentence(row)) == live
    assert advice(row).startswith("nothing if it sends as things happen") == live
