"""Answers that come after their client has closed: it gave up, and nobody reads them."""

import pytest

from tcpstall.findings import sentence
from tests.headline.found import found
from tests.scene import Scene
from tests.scene.network import Tap

GET = b"GET /report HTTP/1.1\r\nHost: a\r\n\r\n"


def answers_late(
    scene: Scene,
    *,
    asks: bytes = GET,
    patience_ms: float = 1_000,
    late_ms: float = 2_000,
    reads: bool = False,
    server_resets: bool = False,
) -> None:
    """The client closes its side after `patience_ms`; the answer comes `late_ms` after that."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=asks)
    scene.server_acks()
    scene.wait_ms(patience_ms)
    scene.client_closes()
    scene.server_acks()
    scene.wait_ms(late_ms)
    scene.server_sends(900)
    if reads:
        scene.client_acks()
        scene.server_closes()
    elif server_resets:
        scene.server_resets()
    else:
        scene.client_resets(acks=False)


@pytest.mark.parametrize("tap", ["client", "server"])
@pytest.mark.parametrize("asks", [GET, b"\x02\x00\x01"])
def test_an_answer_after_the_client_had_closed_came_too_late(scene: Scene, tap: Tap, asks: bytes) -> None:
    answers_late(scene, asks=asks)
    rows = found(scene, tap)
    assert next(iter(rows)) == "no-answer"
    assert not {"reset", "server-slow"} & rows.keys()
    row = rows["no-answer"]
    assert row.time_ns == pytest.approx(1e9, rel=0.05)
    assert row.waits == 1
    told = sentence(row)
    assert told.startswith("10.0.0.2:80 answered 1 request too late: the client gave up after 1.0")
    assert ", the answer came after 3.0" in told


def test_a_client_that_had_sent_all_and_reads_on_did_not_give_up(scene: Scene) -> None:
    answers_late(scene, reads=True)
    assert next(iter(found(scene))) == "server-slow"


def test_a_client_that_quits_amid_its_requests_did_not_give_up(scene: Scene) -> None:
    """Timers of clients are whole seconds; a benchmark that ends closes sooner."""
    answers_late(scene, patience_ms=300)
    assert next(iter(found(scene))) == "server-slow"


@pytest.mark.parametrize("tap", ["client", "server"])
@pytest.mark.parametrize(("asks", "kind"), [(GET, "no-answer"), (b"\x02\x00\x01", "idle")])
def test_a_server_that_only_answers_the_close_need_not_be_slow(scene: Scene, tap: Tap, asks: bytes, kind: str) -> None:
    """HTTP always answers; a message of another protocol may have asked for an event."""
    answers_late(scene, asks=asks, late_ms=0)
    rows = found(scene, tap)
    assert next(iter(rows)) == kind
    assert "server-slow" not in rows


@pytest.mark.parametrize("tap", ["client", "server"])
def test_a_server_that_resets_behind_its_answer_says_nothing_of_its_client(scene: Scene, tap: Tap) -> None:
    answers_late(scene, server_resets=True)
    assert "no-answer" not in found(scene, tap)


@pytest.mark.parametrize("tap", ["client", "server"])
@pytest.mark.parametrize(("greets", "slow"), [(False, False), (True, True)], ids=["in-return", "of-its-own-accord"])
def test_a_server_that_was_asked_nothing_only_answers_the_close(
    scene: Scene, tap: Tap, greets: bool, slow: bool
) -> None:
    """A browser opens a spare connection and closes it unused; the server says that this was no request."""
    scene.handshake(rtt_ms=20)
    scene.wait_ms(5_000)
    if greets:
        scene.server_sends(187)
        scene.client_acks()
        scene.wait_ms(1_000)
    scene.client_closes()
    scene.server_acks()
    if not greets:
        scene.server_sends(187)
    scene.server_closes()
    scene.client_acks()
    assert ("server-slow" in found(scene, tap)) == slow
