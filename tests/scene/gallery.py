"""Scenes with a name, for tests that need any stall rather than a particular one."""

from collections.abc import Callable

from tests.scene.plan import Reader
from tests.scene.scene import Scene

ROUND_TRIP_MS = 20


def slow_start(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(200_000)
    scene.closes()


def upload(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.client_transfers(200_000)
    scene.client_closes()


def small_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS, client_scale=0, client_window=8_688)
    scene.download(60_000, reader=Reader(buffer=8_688))
    scene.closes()


def closed_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(300_000, reader=Reader(buffer=65_536, pauses=((100_000, 800),)))
    scene.closes()


def send_buffer(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(300_000, tso=1, send_buffer=20_000)
    scene.closes()


def thinking(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    for _ in range(3):
        scene.download(5_000, think_ms=90)
    scene.closes()


def idle_restart(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(250_000)
    scene.wait_ms(3_000)
    scene.download(250_000)
    scene.closes()


def nagle(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.client_writes((0, 100), (0.1, 100))
    scene.server_sends(50)


def paced(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(90_000, pace=155_000.0)
    scene.closes()


def full_path(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.path(rtt_ms=ROUND_TRIP_MS, server_mbit=10)
    scene.download(200_000)
    scene.closes()


def moderated(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    for _ in range(8):
        scene.download(9_356, request=21, burst_cap=6)
    scene.closes()


def timeout(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(60_000, lose=tuple(range(14_480, 60_000, 1_448)))
    scene.closes()


def fast_retransmit(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(150_000, lose=(50_000, 80_000))
    scene.closes()


LOSSLESS: dict[str, Callable[[Scene], None]] = {
    act.__name__: act
    for act in (
        slow_start,
        upload,
        small_window,
        closed_window,
        send_buffer,
        thinking,
        idle_restart,
        nagle,
        paced,
        full_path,
        moderated,
    )
}
LOSSY: dict[str, Callable[[Scene], None]] = {act.__name__: act for act in (timeout, fast_retransmit)}
EVERYTHING = LOSSLESS | LOSSY
