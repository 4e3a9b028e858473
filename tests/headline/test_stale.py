"""Requests on connections that the server had closed or forgotten: a RST answers them."""

import pytest

from tcpstall.findings import advice, sentence
from tests.headline.found import found
from tests.scene import Scene
from tests.scene.network import Tap

GET = b"GET /report HTTP/1.1\r\nHost: a\r\n\r\n"


def asks_again(scene: Scene, after_ms: float, *, closed: bool = False, asks: bytes = GET, think_ms: float = 0) -> None:
    """A request with its answer, and another one `after_ms`, which a RST answers."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=asks)
    scene.server_acks()
    scene.server_sends(300)
    scene.client_acks()
    scene.wait_ms(after_ms)
    if closed:
        scene.server_closes()
    scene.client_sends(200, content=asks)
    scene.wait_ms(think_ms)
    scene.server_resets()


@pytest.mark.parametrize("tap", ["client", "between", "server"])
@pytest.mark.parametrize("closed", [False, True])
def test_a_request_after_an_idle_time_that_a_reset_answers_met_a_stale_connection(
    scene: Scene, tap: Tap, closed: bool
) -> None:
    asks_again(scene, 3_000, closed=closed)
    rows = found(scene, tap)
    assert next(iter(rows)) == "stale-connection"
    assert "reset" not in rows
    row = rows["stale-connection"]
    assert sentence(row).startswith("10.0.0.2:80 reset 1 request on idle connections: it had closed them")
    assert "before the server does" in advice(row)


def test_a_request_soon_after_an_answer_met_no_idle_connection(scene: Scene) -> None:
    asks_again(scene, 300)
    assert list(found(scene))[:1] == ["reset"]


def test_a_server_that_thought_before_its_reset_had_the_request(scene: Scene) -> None:
    asks_again(scene, 3_000, think_ms=400)
    assert "stale-connection" not in found(scene)


def test_a_farewell_that_a_reset_answers_lost_nothing(scene: Scene) -> None:
    asks_again(scene, 3_000, closed=True, asks=b"\x17\x03\x03\x00\x13")
    assert "stale-connection" not in found(scene)
