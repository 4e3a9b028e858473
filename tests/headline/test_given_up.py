"""Clients that close while the server owes them an answer: their timers ran out."""

from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.findings import advice, findings, sentence
from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.headline.found import found
from tests.page.prose import prose
from tests.scene import Scene
from tests.scene.network import Tap

GET = b"GET /report HTTP/1.1\r\nHost: a\r\n\r\n"
HELLO = b"\x16\x03\x01\x01\x27\x01"
"""Begin of a TLS hello."""


def gives_up(scene: Scene, after_ms: float, *, asks: bytes = GET, reset: bool = False) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=asks)
    scene.server_acks()
    scene.wait_ms(after_ms)
    if reset:
        scene.client_resets()
    else:
        scene.client_closes()
        scene.server_acks()


@pytest.mark.parametrize("tap", ["client", "between", "server"])
@pytest.mark.parametrize("reset", [False, True])
def test_a_request_that_is_given_up_leads_with_the_time_that_its_client_waited(
    scene: Scene, tap: Tap, reset: bool
) -> None:
    gives_up(scene, 2_000, reset=reset)
    rows = found(scene, tap)
    assert next(iter(rows)) == "no-answer"
    assert "reset" not in rows
    row = rows["no-answer"]
    assert row.time_ns == pytest.approx(2e9, rel=0.02)
    assert sentence(row).startswith("10.0.0.2:80 left 1 request without an answer: the client gave up after 2.0")
    assert "the client's timeout" in advice(row)


def test_the_page_says_so_too(here: Run, scene: Scene, tmp_path: Path) -> None:
    gives_up(scene, 2_000)
    page = tmp_path / "page.html"
    here("report", scene.capture("server"), "-o", page)
    text = prose(page.read_text())
    assert "1 request had no answer" in text
    assert "nobody waited longer" not in text


def test_several_that_wait_equally_long_have_one_timer(scene: Scene) -> None:
    gives_up(scene, 2_000)
    others = []
    for port in (40_001, 40_002):
        others.append(Scene(scene.folder, client_port=port))
        gives_up(others[-1], 2_010)
    row = findings(analyze(scene.capture(beside=others)))[0]
    assert sentence(row) == "10.0.0.2:80 left 3 requests without an answer: the client gave up after 2.02 s each"
    gives_up(late := Scene(scene.folder, client_port=40_003), 4_000)
    row = findings(analyze(scene.capture(beside=[*others, late])))[0]
    assert "gave up after up to 4.0" in sentence(row)


def test_who_closes_at_once_did_not_wait(scene: Scene) -> None:
    gives_up(scene, 500)
    assert "no-answer" not in found(scene)


def test_messages_without_answers_wait_for_nothing(scene: Scene) -> None:
    gives_up(scene, 5_000, asks=b"<34>1 host app - - message")
    assert "no-answer" not in found(scene)


def test_a_request_that_comes_a_line_at_a_time_is_not_whole(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(20, content=GET[:20])
    for _ in range(3):
        scene.client_sends(30)
        scene.server_acks()
    scene.wait_ms(5_000)
    scene.client_closes()
    assert "no-answer" not in found(scene)


def test_what_was_answered_before_the_client_closed_is_not_given_up(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=GET)
    scene.server_sends(900)
    scene.client_acks()
    scene.wait_ms(3_000)
    scene.client_closes()
    assert "no-answer" not in found(scene)


def test_a_server_that_closes_first_answered_nothing_but_nobody_gave_up(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=GET)
    scene.server_acks()
    scene.wait_ms(3_000)
    scene.closes()
    assert "no-answer" not in found(scene)


def test_a_request_that_never_arrived_is_lost(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=GET, lost=True)
    for after in (250, 500, 1_000):
        scene.wait_ms(after)
        scene.client_repeats(0, 200, lost=True)
    scene.client_closes()
    assert "no-answer" not in found(scene)


def test_an_upgraded_connection_may_carry_messages(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=GET)
    scene.server_sends(150, content=b"HTTP/1.1 101 Switching Protocols")
    scene.client_acks()
    scene.client_sends(300)
    scene.server_acks()
    scene.wait_ms(3_000)
    scene.client_closes()
    assert "no-answer" not in found(scene)


@pytest.mark.parametrize(("bytes_asked", "given_up"), [(400, True), (60, False)])
@pytest.mark.parametrize("after_ms", [2_000, 8_000])
def test_over_tls_the_farewell_comes_after_the_wait(
    scene: Scene, bytes_asked: int, given_up: bool, after_ms: float
) -> None:
    scene.server.endpoint = replace(scene.server.endpoint, port=443)
    scene.handshake(rtt_ms=20)
    scene.client_sends(300, content=HELLO)
    scene.server_sends(3_000, content=b"\x16\x03\x03")
    scene.client_acks()
    scene.client_sends(bytes_asked)
    scene.server_acks()
    scene.wait_ms(after_ms)
    scene.client_sends(24)
    scene.client_closes()
    rows = found(scene)
    assert ("no-answer" in rows) is given_up
    assert "sent-in-pieces" not in rows
