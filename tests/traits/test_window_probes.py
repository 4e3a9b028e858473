"""Probes of a window that had opened again: a byte of data leaves alone as a timer fires, and its ACK lets more go."""

from tests.causes.triple import causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall, between
from tests.scene.network import Tap

SEGMENT = 1_448


def probed(scene: Scene, tap: Tap, *, size: int = 1, push: bool = False, after_ms: float = 1_300) -> list[Stall]:
    """Waits of a server that goes on not as the window opens, but later with so few bytes, and then more."""
    scene.handshake(rtt_ms=20, client_scale=0, client_window=14_480)
    scene.request()
    scene.server_sends(10 * SEGMENT, push=False)
    scene.client_acks(window=0)
    scene.client.now_ns += 40_000_000
    scene.client_acks(window=60_000)
    scene.wait_ms(after_ms)
    scene.server_sends(size, push=push)
    scene.client_acks()
    scene.server_sends(4 * SEGMENT, push=False)
    scene.client_acks()
    return scene.stalls("server", tap, over_ms=5)


@fires
def test_a_byte_that_ends_a_silence_after_a_shut_window_probes_it(scene: Scene, tap: Tap) -> None:
    """The update was lost on its way, or the stack did not heed it."""
    silence, answer = (stall for stall in probed(scene, tap) if stall.cause == "zero-window")
    assert silence == Stall("zero-window", between(1_300, 1_380))
    assert answer == Stall("zero-window", between(19, 21))


@near_miss
def test_a_byte_with_psh_is_a_write(scene: Scene, tap: Tap) -> None:
    probed(scene, tap, push=True)
    assert "zero-window" not in causes(scene, tap)


@near_miss
def test_no_timer_fires_so_soon(scene: Scene) -> None:
    first, *_ = (stall.cause for stall in probed(scene, "server", after_ms=100))
    assert first == "app-limited"


@look_alike
def test_two_bytes_are_no_probe(scene: Scene, tap: Tap) -> None:
    probed(scene, tap, size=2)
    assert "zero-window" not in causes(scene, tap)
