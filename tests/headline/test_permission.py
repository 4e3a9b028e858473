"""A client that asks whether its content may follow, and is told nothing, waits for a timer (RFC 9110 §10.1.1)."""

import pytest

from tcpstall.findings import advice, sentence
from tests.headline.test_pushes import found
from tests.scene import Scene

HEAD = b"PUT /backup HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\nExpect: 100-continue\r\n\r\n"


def uploads(scene: Scene, head: bytes, *, says: bool = False, pause_ms: float = 0) -> None:
    """The client waits for a second after the head, and again in the middle of its content."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(len(head), content=head)
    scene.server_acks()
    scene.wait_ms(1_000)
    if says:
        scene.server_sends(25)
    scene.client_transfers(15_000)
    scene.wait_ms(pause_ms)
    scene.client_transfers(15_000)
    scene.server_sends(40)
    scene.client_acks()
    scene.closes()


def test_the_first_line_says_what_the_client_waited_for(scene: Scene) -> None:
    uploads(scene, HEAD)
    rows = found(scene)
    first = next(iter(rows.values()))
    assert first.kind == "no-permission"
    assert first.time_ns == pytest.approx(1e9, rel=0.05)
    assert sentence(first).startswith("client waiting for 100 Continue at 10.0.0.2:80 took 990")
    assert "Expect: 100-continue" in advice(first)


@pytest.mark.parametrize(
    ("head", "says", "kind"),
    [(HEAD.replace(b"Expect: 100-continue\r\n", b""), False, "sent-in-pieces"), (HEAD, True, "server-slow")],
    ids=["no-question", "a-late-permission"],
)
def test_a_client_that_pauses_and_a_late_permission_are_something_else(
    scene: Scene, head: bytes, says: bool, kind: str
) -> None:
    uploads(scene, head, says=says)
    assert next(iter(found(scene))) == kind


def test_a_later_pause_is_the_clients_own(scene: Scene) -> None:
    uploads(scene, HEAD, pause_ms=700)
    rows = found(scene)
    assert rows["no-permission"].time_ns == pytest.approx(1e9, rel=0.05)
    assert rows["sent-in-pieces"].time_ns == pytest.approx(0.7e9, rel=0.1)
