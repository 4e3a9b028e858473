"""A server that speaks of its own accord is not slow to answer, and messages have neither an answer nor a rate."""

import pytest

from tcpstall import analyze
from tcpstall.findings import Finding, findings
from tests.headline.captures import hello
from tests.scene import Scene


def found(scene: Scene, **how: object) -> dict[str, Finding]:
    return {row.kind: row for row in findings(analyze(scene.capture("client", **how)))}  # type: ignore[arg-type]


def pings(scene: Scene, *, rounds: int, every_ms: float, server: int, client: int) -> None:
    """The server says something every few seconds, and the client acknowledges it at once with a message of its own."""
    for number in range(rounds + 1):
        scene.wait_ms(every_ms + 37 * number)
        scene.server_sends(server)
        scene.client_sends(client)
        scene.server_acks()


@pytest.mark.parametrize(
    ("rounds", "every_ms", "server", "client"),
    [(1, 25_000, 25, 29), (1, 40_000, 70, 60), (3, 6_000, 72, 44)],
    ids=["a-masked-echo", "after-half-a-minute", "a-habit"],
)
def test_notices_of_a_server_over_tls_answer_nothing(
    scene: Scene, rounds: int, every_ms: float, server: int, client: int
) -> None:
    hello(scene)
    pings(scene, rounds=rounds, every_ms=every_ms, server=server, client=client)
    assert "server-slow" not in found(scene)


@pytest.mark.parametrize(
    ("rounds", "every_ms", "server", "client"),
    [(1, 3_000, 25, 29), (1, 25_000, 70, 60), (2, 6_000, 72, 44), (1, 40_000, 2_000, 60)],
    ids=["too-soon", "not-for-long-enough", "no-habit", "a-long-answer"],
)
def test_a_late_answer_over_tls_that_may_be_one_is_told(
    scene: Scene, rounds: int, every_ms: float, server: int, client: int
) -> None:
    """Where the client had been told something of the server's own accord, the line says that it may be an event."""
    hello(scene)
    pings(scene, rounds=rounds, every_ms=every_ms, server=server, client=client)
    assert {"server-slow", "server-silent"} & found(scene).keys()


def test_a_late_word_without_tls_is_told(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    pings(scene, rounds=1, every_ms=25_000, server=25, client=29)
    assert "server-silent" in found(scene)


def test_an_answer_is_no_slower_for_the_silence_before_the_first_message_of_the_capture(scene: Scene) -> None:
    """The capture begins with a bare ACK, twelve seconds before the first request."""
    scene.handshake(rtt_ms=20)
    scene.wait_ms(12_000)
    scene.download(5_000, think_ms=300)
    scene.closes()
    slow = found(scene, drop=(1, 2))["server-slow"]
    assert slow.time_ns == pytest.approx(300e6, rel=0.15)


def events(scene: Scene, *, times: int) -> None:
    """The client says that it is there; then the server tells two events, two seconds apart, when they happen."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    for number in range(times):
        scene.client_sends(54)
        scene.server_sends(40)
        scene.client_acks()
        scene.wait_ms(6_000 + 700 * number)
        scene.server_sends(4_000)
        scene.client_acks()
        scene.wait_ms(1_900 + 310 * number)
        scene.server_sends(4_000)
        scene.client_acks()


@pytest.mark.parametrize(("times", "pieces"), [(4, False), (2, True)], ids=["a-habit", "no-habit"])
def test_a_server_that_tells_events_does_not_send_an_answer_in_pieces(scene: Scene, times: int, pieces: bool) -> None:
    events(scene, times=times)
    assert ("sent-in-pieces" in found(scene)) == pieces


@pytest.mark.parametrize(("size", "rate"), [(92, False), (400, True)], ids=["messages", "writes"])
def test_a_terminal_with_messages_in_flight_all_the_while_has_no_rate(scene: Scene, size: int, rate: bool) -> None:
    scene.handshake(rtt_ms=100)
    for _ in range(4):
        scene.client_sends(36)
        scene.server_sends(36)
        scene.client_acks()
    scene.client_writes(*((9 * number, size) for number in range(120)), nodelay=True)
    scene.client_sends(36)
    scene.server_sends(36)
    scene.closes()
    assert ("rate-sender" in found(scene)) == rate


@pytest.mark.parametrize(("size", "slow"), [(56, False), (400, True)], ids=["messages", "requests"])
def test_events_after_a_small_message_are_no_slow_answers(scene: Scene, size: int, slow: bool) -> None:
    """The client says every 27 s that it is there; the server tells events of its own accord all the while."""
    scene.handshake(rtt_ms=40)
    scene.download(60_000)
    for number in range(5):
        scene.client_sends(size)
        scene.server_acks()
        for after in (2_300 + 410 * number, 7_100 + 170 * number, 9_700 - 330 * number):
            scene.wait_ms(after)
            scene.server_sends(200)
            scene.client_acks()
        scene.wait_ms(7_000)
    assert ("server-slow" in found(scene)) == slow


@pytest.mark.parametrize(("after_ms", "slow"), [(29_985, False), (29_000, True)], ids=["the-timer", "sooner"])
def test_an_idle_timer_of_half_a_minute_answers_nothing_however_long_the_path(
    scene: Scene, after_ms: float, slow: bool
) -> None:
    hello(scene)
    scene.client_sends(80)
    scene.server_acks()
    scene.wait_ms(after_ms)
    scene.server_sends(46)
    scene.client_acks()
    assert ("server-slow" in found(scene)) == slow


def tells_now_and_then(scene: Scene, *, heartbeats: int, large: int) -> dict[str, Finding]:
    """The server tells something every half second to two seconds; the client says now and then that it is there."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    before = len(scene.packets("client"))
    for number in range(24):
        scene.wait_ms(500 + 61 * (number * 7 % 23))
        scene.server_sends(7_000 if number % 12 < large else 90 + 37 * number)
        scene.client_acks()
        if number % 12 < heartbeats:
            scene.client_sends(54)
            scene.server_acks()
    return found(scene, drop=range(1, before + 1))


@pytest.mark.parametrize(
    ("heartbeats", "large", "pieces"),
    [(0, 1, False), (1, 1, False), (9, 5, True), (0, 9, True)],
    ids=["silent", "heartbeats", "a-talk", "large"],
)
def test_a_server_that_tells_far_more_often_than_its_client_speaks_does_not_send_in_pieces(
    scene: Scene, heartbeats: int, large: int, pieces: bool
) -> None:
    assert ("sent-in-pieces" in tells_now_and_then(scene, heartbeats=heartbeats, large=large)) == pieces


def reports(scene: Scene, *pauses_ms: float) -> dict[str, Finding]:
    """A client that sends 1.9 kB after each pause, which its server only acknowledges."""
    scene.handshake(rtt_ms=60)
    for pause_ms in pauses_ms:
        scene.client_sends(1_894)
        scene.server_acks()
        scene.wait_ms(pause_ms)
    scene.client_sends(1_894)
    scene.server_acks()
    return found(scene)


def test_a_client_that_reports_by_a_timer_is_not_slow_to_send(scene: Scene) -> None:
    """Its ticks come a little early or late, and a message comes between two of them at times."""
    pauses = (2_007, 1_910, 2_067, 140, 1_767, 2_047, 1_907, 2_110, 1_990, 1_160, 2_020, 1_840, 2_090, 1_960)
    assert "sent-in-pieces" not in reports(scene, *pauses)


def test_a_client_whose_pauses_have_any_length_is_slow_to_send(scene: Scene) -> None:
    pauses = (2_007, 1_310, 2_867, 140, 1_767, 1_047, 3_907, 2_610, 1_490, 1_160, 5_020, 1_640, 2_390, 1_260)
    assert "sent-in-pieces" in reports(scene, *pauses)


@pytest.mark.parametrize(
    ("pauses_ms", "slow"),
    [
        ((9_960, 9_910, 9_960, 9_960, 9_790, 9_960, 9_960, 9_920, 9_960), False),
        ((3_960, 9_910, 6_960, 15_960, 2_790, 4_960, 9_960, 21_920, 8_960), True),
    ],
    ids=["a-timer", "any-length"],
)
def test_a_client_that_asks_by_a_timer_is_not_slow_to_send_where_the_capture_lacks_an_answer(
    scene: Scene, pauses_ms: tuple[float, ...], slow: bool
) -> None:
    scene.handshake(rtt_ms=20)
    for pause_ms in pauses_ms:
        scene.client_sends(6_000)
        scene.server_acks()
        scene.server_sends(187)
        scene.client_acks()
        scene.wait_ms(pause_ms)
    scene.client_sends(6_000)
    scene.server_acks()
    scene.wait_ms(9_950)
    scene.client_sends(6_000)
    scene.server_acks()
    assert ("sent-in-pieces" in found(scene)) == slow
