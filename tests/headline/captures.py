"""Captures of our own, one for each kind of finding that must be told apart."""

from collections.abc import Callable

from tests.scene import Reader, Scene

BACKED_OFF = (200, 400, 800, 1_600)


def unreachable(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syns=3, answered=False)


def refused(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, refused=True)


def peer_gone(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(1_000, lost=True)
    for after in BACKED_OFF:
        scene.wait_ms(after)
        scene.client_repeats(0, 1_000, lost=True)


def handshake_loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syns=1)
    scene.download(5_000)
    scene.closes()


def server_slow(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.download(5_000, think_ms=700)
    scene.closes()


def sent_in_pieces(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes(*((300 * number, 5_000) for number in range(6)))
    scene.closes()


def slow_start(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000)
    scene.closes()


def small_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, client_scale=0, client_window=8_688)
    scene.download(100_000, reader=Reader(buffer=8_688))
    scene.closes()


def closed_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000, reader=Reader(buffer=65_536, pauses=((100_000, 2_000),)))
    scene.closes()


def loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=tuple(range(14_480, 60_000, 1_448)))
    scene.closes()


def full_path(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.path(rtt_ms=20, server_mbit=10)
    scene.download(1_500_000)
    scene.closes()


def reset(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.wait_ms(5)
    scene.server_resets()


def terminal(scene: Scene) -> None:
    """A person who types, and a host that echoes."""
    scene.handshake(rtt_ms=20)
    for pause in (900, 400, 2_500, 300, 4_000, 700):
        scene.client_sends(36)
        scene.server_sends(36)
        scene.client_acks()
        scene.wait_ms(pause)
    scene.closes()


def keep_alive(scene: Scene) -> None:
    """Two requests with half a minute between them."""
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(30_000)
    scene.download(5_000)
    scene.closes()


def one_after_another(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    for _ in range(60):
        scene.download(1_000)
    scene.closes()


KINDS: dict[str, tuple[Callable[[Scene], None], float | None]] = {
    "unreachable": (unreachable, 7.0),
    "refused": (refused, None),
    "peer-gone": (peer_gone, 3.0),
    "handshake-loss": (handshake_loss, 1.0),
    "server-slow": (server_slow, 2.1),
    "sent-in-pieces": (sent_in_pieces, None),
    "cwnd-limited": (slow_start, None),
    "rwnd-limited": (small_window, None),
    "zero-window": (closed_window, 2.0),
    "loss": (loss, None),
    "bandwidth-limited": (full_path, None),
    "reset": (reset, None),
    "round-trips": (one_after_another, None),
}
"""By the kind that must come first: the capture, and the time in seconds where the scene says it."""


def heartbeat(scene: Scene) -> None:
    """A session with one large answer, then both ends say every five seconds that they are there."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    for pause in (4_820, 4_833, 4_826, 4_831, 4_834, 4_828):
        scene.wait_ms(170)
        scene.client_sends(8)
        scene.server_acks()
        scene.wait_ms(pause)
        scene.server_sends(8)
        scene.client_acks()
    scene.closes()


def feed(scene: Scene) -> None:
    """After one large answer the server tells news of a line or two, when there are any."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    for pause in (900, 3_100, 1_700, 5_300, 2_400):
        scene.wait_ms(pause)
        scene.server_sends(61)
        scene.client_acks()
    scene.closes()


def there(scene: Scene) -> None:
    """A message of 53 bytes every four seconds, answered by as many some time later; then an upload."""
    scene.handshake(rtt_ms=20)
    scene.download(367, request=310)
    for late in (960, 1_715, 670):
        scene.wait_ms(4_000)
        scene.client_sends(53)
        scene.server_acks()
        scene.wait_ms(late)
        scene.server_sends(53)
        scene.client_acks()
    scene.wait_ms(2_000)
    scene.client_transfers(14_000)
    scene.closes()


def telemetry(scene: Scene) -> None:
    """Once asked, the server sends what it measured every 2.77 seconds."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes(*((2_770 * number, 5_924) for number in range(9)))
    scene.closes()


def closed_after_idling(scene: Scene) -> None:
    """Half a minute after the answer the client closes, with more window than before, and the server says goodbye."""
    scene.handshake(rtt_ms=20, client_window=60_000)
    scene.download(6_000, reader=Reader(buffer=60_000))
    scene.wait_ms(30_000)
    scene.client_acks(window=120_000)
    scene.client_closes()
    scene.server_sends(31)
    scene.server_closes()
    scene.client_resets()


def long_polls(scene: Scene) -> None:
    """The server answers after half a minute each time, and is asked again at once."""
    scene.handshake(rtt_ms=20)
    for late in (30_012, 30_014, 30_013, 30_016, 30_011):
        scene.download(5_000, think_ms=late)
    scene.closes()


def hello(scene: Scene) -> None:
    """A TLS handshake in outline: the client's hello and the server's answer."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(517, content=bytes((22, 3, 1, 2, 0, 1)))
    scene.server_sends(4_000)
    scene.client_sends(300)
    scene.server_sends(900)


def closes_what_is_idle(scene: Scene) -> None:
    """The client acknowledges the server's settings; ten seconds later the server says goodbye and closes."""
    hello(scene)
    scene.client_sends(38)
    scene.server_acks()
    scene.wait_ms(10_000)
    scene.server_sends(46)
    scene.server_sends(31)
    scene.closes()


def goodbye(scene: Scene) -> None:
    """Ten seconds after its last answer the server says goodbye and closes."""
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(10_000)
    scene.server_sends(37)
    scene.closes()


def goodbye_after_a_word(scene: Scene) -> None:
    """The client had the last word, which wanted no answer; minutes later the server says goodbye and closes."""
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.download(5_000)
    scene.client_sends(31)
    scene.server_acks()
    scene.wait_ms(240_000)
    scene.server_sends(73)
    scene.closes()


def kept_for_later(scene: Scene) -> None:
    """After an answer the client says a word that wants none, and uses the connection again two minutes later."""
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.client_sends(172)
    scene.server_acks()
    scene.wait_ms(120_000)
    scene.client_transfers(7_083)
    scene.server_sends(176)
    scene.closes()


NOBODYS: dict[str, Callable[[Scene], None]] = {
    "terminal": terminal,
    "keep-alive": keep_alive,
    "heartbeat": heartbeat,
    "telemetry": telemetry,
    "still-there": there,
    "idle-until-closed": closed_after_idling,
    "long-polls": long_polls,
    "goodbye": goodbye,
    "kept-for-later": kept_for_later,
    "goodbye-after-a-word": goodbye_after_a_word,
    "closes-what-is-idle": closes_what_is_idle,
}
"""Time that must never lead."""
