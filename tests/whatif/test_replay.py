"""The model, unchanged, takes as long as the simulated transfer that it is given, at either end."""

import pytest

from tests.scene import Scene
from tests.scene.network import Tap
from tests.scene.plan import Reader
from tests.whatif.played import played


def fits(scene: Scene, tap: Tap, rtt_ms: float) -> bool:
    found = played(scene, tap=tap)
    return abs(found.replayed_ms - found.captured_ms) <= max(rtt_ms, 0.1 * found.captured_ms)


@pytest.mark.parametrize("size", [1_000, 14_480, 14_481, 100_000, 1_000_000])
def test_slow_start(scene: Scene, tap: Tap, size: int) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(size)
    scene.closes()
    assert fits(scene, tap, 2)


def test_an_upload(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=50)
    scene.client_transfers(300_000)
    scene.closes()
    assert fits(scene, tap, 5)


def test_requests_with_thought_between(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    for think_ms in (5, 80, 0, 30):
        scene.download(20_000, think_ms=think_ms)
        scene.wait_ms(40)
    scene.closes()
    assert fits(scene, tap, 2)


def test_a_small_receive_window(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=40, client_window=8_688)
    scene.download(150_000, reader=Reader(buffer=8_688))
    scene.closes()
    assert fits(scene, tap, 40)


def test_a_send_buffer(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, tso=1, send_buffer=20_000)
    scene.closes()
    assert fits(scene, tap, 20)


def test_a_writer_that_pauses(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_writes(*((50.0 * count, 3_000) for count in range(10)))
    scene.closes()
    assert fits(scene, tap, 2)


def test_an_idle_restart(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000)
    scene.wait_ms(3_000)
    scene.download(400_000)
    scene.closes()
    assert fits(scene, tap, 20)


def test_a_bottleneck(scene: Scene) -> None:
    scene.path(rtt_ms=20, server_mbit=10)
    scene.handshake()
    scene.download(1_000_000)
    scene.closes()
    assert fits(scene, "server", 20)


@pytest.mark.parametrize("lost", [(30_000,), (30_000, 90_000), (199_000,)], ids=str)
def test_losses(scene: Scene, lost: tuple[int, ...]) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000, lose=lost)
    scene.closes()
    assert fits(scene, "server", 40)


def test_a_lost_syn(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syns=1)
    scene.download(50_000)
    scene.closes()
    assert fits(scene, "client", 20)


def test_a_reader_that_sleeps(scene: Scene) -> None:
    scene.handshake(rtt_ms=10)
    scene.download(300_000, reader=Reader(buffer=65_536, pauses=((100_000, 2_000),)))
    scene.closes()
    found = played(scene)
    assert found.replayed_ms == pytest.approx(found.captured_ms, rel=0.1)
    assert found.replayed_ms > 2_000


def test_it_is_the_same_every_time(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, lose=(30_000, 200_000))
    scene.closes()
    assert played(scene, "initcwnd=40").forecast == played(scene, "initcwnd=40").forecast


@pytest.mark.parametrize("tap", ["client", "server"])
def test_a_full_window_is_acknowledged_when_the_reader_reads(scene: Scene, tap: Tap) -> None:
    """Linux acknowledges data that leave no room in the window when the reader has read (__tcp_cleanup_rbuf)."""
    scene.handshake(rtt_ms=1, client_window=14_480, client_scale=0)
    scene.client_sends(147)
    for busy_ms in (30, 0, 20, 0):
        for _ in range(10):
            scene.server_sends(1_448)
        scene.wait_ms(busy_ms)
        scene.client_acks(window=14_480)
    scene.closes()
    found = played(scene, tap=tap)
    assert found.captured_ms > 50
    assert found.replayed_ms == pytest.approx(found.captured_ms, rel=0.02)
