"""Answers that end before the length that their head announces."""

import pytest

from tcpstall.findings import sentence
from tests.headline.found import found
from tests.scene import Scene
from tests.scene.network import Tap

GET = b"GET /report HTTP/1.1\r\nHost: a\r\n\r\n"
HEAD = b"HEAD /report HTTP/1.1\r\nHost: a\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


def cut(scene: Scene, *, asks: bytes = GET, answers: bytes = ANSWER, size: int = 12_000, reset: bool = False) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(200, content=asks)
    scene.server_sends(len(answers) + 1_000, content=answers)
    scene.client_acks()
    while (size := size - 1_000) > 0:
        scene.server_sends(1_000)
        scene.client_acks()
    scene.wait_ms(300)
    if reset:
        scene.server_resets()
    else:
        scene.server_closes()
        scene.client_closes()


@pytest.mark.parametrize("tap", ["client", "between", "server"])
@pytest.mark.parametrize("reset", [False, True])
def test_a_server_that_closes_amid_an_answer_cut_it(scene: Scene, tap: Tap, reset: bool) -> None:
    cut(scene, reset=reset)
    rows = found(scene, tap)
    assert next(iter(rows)) == "cut-answer"
    assert "reset" not in rows
    assert sentence(rows["cut-answer"]) == "10.0.0.2:80 closed amid 1 answer: it was cut at 12.0 kB of 100.0 kB"


def test_an_answer_that_came_whole_is_not_cut(scene: Scene) -> None:
    cut(scene, size=100_000)
    assert "cut-answer" not in found(scene)


@pytest.mark.parametrize(
    "answers", [ANSWER.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"), ANSWER[:20]]
)
def test_without_a_length_nobody_can_tell(scene: Scene, answers: bytes) -> None:
    cut(scene, answers=answers)
    assert "cut-answer" not in found(scene)


def test_the_answer_to_head_has_no_content(scene: Scene) -> None:
    cut(scene, asks=HEAD)
    assert "cut-answer" not in found(scene)
