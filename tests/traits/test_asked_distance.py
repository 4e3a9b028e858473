"""The tap's distance where only answers of an application measure it: without a handshake, timestamps, or bare ACKs."""

from tests.causes.triple import NOT_A_STALL_MS, SYNS, fires, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

THOUGHT_MS = 2
"""Before its first answer the server thinks for so long: the path to it looks as much longer."""


def asks(scene: Scene, *, rtt_ms: float = 40, think_ms: float = THOUGHT_MS) -> None:
    """The client's question, which nothing but the server's answer will acknowledge."""
    scene.handshake(rtt_ms=rtt_ms, timestamps=False)
    scene.client_sends(147)
    scene.wait_ms(rtt_ms / 2 + think_ms)


def waits(scene: Scene, tap: Tap) -> list[str]:
    """The causes of the server's waits after its first answer."""
    stalls = scene.stalls("server", tap, drop=SYNS, over_ms=NOT_A_STALL_MS)
    return [stall.cause for stall in stalls]


@fires
def test_data_that_goes_on_at_each_ack_shows_a_sender_nearer_than_its_thought(scene: Scene) -> None:
    asks(scene)
    scene.server_transfers(300_000, tso=1)
    found = waits(scene, "server")
    assert len(found) > 3
    assert set(found) == {"cwnd-limited"}, found


@near_miss
def test_data_a_part_of_the_silence_after_each_ack_may_be_the_applications(scene: Scene) -> None:
    asks(scene, think_ms=8)
    scene.server_writes(*((42 * i, 10 * 1_460) for i in range(6)), tso=1)
    found = waits(scene, "server")
    assert len(found) > 3
    assert "cwnd-limited" not in found, found


@fires
def test_rounds_that_grow_show_the_path_without_the_thought(scene: Scene) -> None:
    asks(scene)
    scene.server_transfers(1_000_000, tso=1)
    found = waits(scene, "client")
    assert found[-2:] == ["cwnd-limited"] * 2, found
