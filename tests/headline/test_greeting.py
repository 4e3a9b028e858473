"""A server that speaks first and does so late keeps a client waiting, however small its messages are."""

import pytest

from tcpstall import analyze
from tcpstall.findings import findings
from tests.headline.test_pushes import found
from tests.scene import Scene

LINE = 20
"""Bytes of a line of a protocol of text."""


def talks(scene: Scene, *, late_ms: float, then_ms: float = 0) -> None:
    """The server greets after that time; the client answers, later perhaps, and both say a few lines."""
    scene.handshake(rtt_ms=20)
    scene.wait_ms(late_ms)
    scene.server_sends(LINE)
    scene.client_acks()
    scene.wait_ms(then_ms)
    for _ in range(4):
        scene.client_sends(LINE)
        scene.server_sends(LINE)
    scene.client_acks()
    scene.closes()


def test_a_late_greeting_is_a_slow_answer(scene: Scene) -> None:
    talks(scene, late_ms=3_000)
    rows = found(scene)
    assert next(iter(rows)) == "server-slow"
    assert rows["server-slow"].time_ns == pytest.approx(3e9, rel=0.05)


@pytest.mark.parametrize(
    ("late_ms", "then_ms"), [(300, 0), (3_000, 20_000)], ids=["soon-enough", "before-the-client-has-anything-to-say"]
)
def test_a_greeting_that_nobody_waited_for_is_none(scene: Scene, late_ms: float, then_ms: float) -> None:
    talks(scene, late_ms=late_ms, then_ms=then_ms)
    assert "server-slow" not in found(scene)


@pytest.mark.parametrize("subflow", [False, True], ids=["alone", "one-of-several"])
def test_what_a_server_says_first_on_a_subflow_answers_what_came_on_another(scene: Scene, subflow: bool) -> None:
    """Linux's scheduler takes up a subflow once the others are full, 19 s after its handshake in a speed test."""
    talks(scene, late_ms=3_000)
    path = scene.capture("client", kind="text")
    if subflow:
        path.write_text(path.read_text().replace("options [mss", "options [mptcp join id 1 token 0x1 nonce 0x2,mss"))
    kinds = {row.kind for row in findings(analyze(path))}
    assert ("server-slow" in kinds) != subflow
