"""TLS's handshake that takes long, and the first answer behind a server's tickets."""

from dataclasses import replace

import pytest

from tcpstall import analyze
from tcpstall.findings import Finding, findings, sentence
from tests.scene import Scene
from tests.scene.network import Tap

HELLO = b"\x16\x03\x01\x01\x27\x01"
FLIGHT = b"\x16\x03\x03"


def found(scene: Scene, tap: Tap) -> Finding:
    return findings(analyze(scene.capture(tap)))[0]


def asks(
    scene: Scene,
    *,
    hello_ms: float = 1,
    client_ms: float = 0,
    request: int = 300,
    tickets: int = 250,
    answer_ms: float = 1,
    finish: bool = True,
) -> None:
    """A handshake, its end with a request, `tickets` bytes of the server at once and the answer `answer_ms` later."""
    scene.server.endpoint = replace(scene.server.endpoint, port=443)
    scene.handshake(rtt_ms=20)
    scene.client_sends(517, content=HELLO)
    scene.server_acks()
    scene.wait_ms(hello_ms)
    scene.server_sends(1_300, content=FLIGHT)
    scene.client_acks()
    scene.wait_ms(client_ms)
    scene.client_sends(request)
    scene.server_sends(tickets)
    scene.client_acks()
    if finish:
        scene.wait_ms(answer_ms)
        answers(scene)


def answers(scene: Scene) -> None:
    for _ in range(5):
        scene.server_sends(1_400)
        scene.client_acks()


@pytest.mark.parametrize("tap", ["client", "server"])
def test_a_late_first_flight_is_the_handshakes(scene: Scene, tap: Tap) -> None:
    asks(scene, hello_ms=3_000)
    row = found(scene, tap)
    assert row.kind == "server-slow"
    assert row.time_ns == pytest.approx(3e9, rel=0.03)
    assert sentence(row).startswith("10.0.0.2:443 is slow in TLS's handshake: ")


@pytest.mark.parametrize("tap", ["client", "server"])
def test_a_client_that_pauses_in_the_handshake_may_have_asked_a_person(scene: Scene, tap: Tap) -> None:
    asks(scene, client_ms=3_000)
    row = next(row for row in findings(analyze(scene.capture(tap))) if row.kind == "idle")
    assert row.side == "client"
    assert row.time_ns == pytest.approx(3e9, rel=0.03)
    told = sentence(row)
    assert told.startswith("the client paused in TLS's handshake at 10.0.0.2:443, ")
    assert told.endswith(" s in 1 flow: a person was asked, or it checked certificates")


@pytest.mark.parametrize("tap", ["client", "server"])
def test_a_pause_before_the_hello_is_not_the_handshakes(scene: Scene, tap: Tap) -> None:
    """Other words came before the hello, as of RDP."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(19)
    scene.wait_ms(2_000)
    scene.server_sends(19)
    scene.client_acks()
    scene.wait_ms(3_000)
    scene.client_sends(200, content=HELLO)
    scene.server_sends(1_300, content=FLIGHT)
    scene.client_acks()
    scene.closes()
    assert "TLS" not in " ".join(map(sentence, findings(analyze(scene.capture(tap)))))


@pytest.mark.parametrize(
    ("asked", "tickets", "kind"),
    [(300, 500, "server-slow"), (300, 1_400, "sent-in-pieces"), (120, 500, "server-silent")],
    ids=["answer", "pieces", "nothing-asked"],
)
@pytest.mark.parametrize("tap", ["client", "server"])
def test_the_first_answer_comes_after_the_tickets(scene: Scene, tap: Tap, asked: int, tickets: int, kind: str) -> None:
    asks(scene, request=asked, tickets=tickets, answer_ms=3_000)
    row = found(scene, tap)
    assert row.kind == kind
    assert "TLS" not in sentence(row)


@pytest.mark.parametrize(
    ("settings", "kind"), [(31, "server-slow"), (100, "sent-in-pieces")], ids=["settings", "a-message"]
)
@pytest.mark.parametrize("tap", ["client", "server"])
def test_a_client_that_acknowledges_the_servers_settings_still_waits_for_the_first_answer(
    scene: Scene, tap: Tap, settings: int, kind: str
) -> None:
    """The settings come with the tickets; the client acknowledges them in a message of its own."""
    asks(scene, request=500, tickets=550, finish=False)
    scene.client_sends(settings)
    scene.server_sends(60)
    scene.client_acks()
    scene.wait_ms(900)
    answers(scene)
    assert found(scene, tap).kind == kind


@pytest.mark.parametrize(
    ("request_size", "word", "kind"),
    [(400, 39, "server-slow"), (400, 90, "sent-in-pieces"), (90, 39, "sent-in-pieces")],
    ids=["an-acknowledgement", "a-piece", "nothing-asked"],
)
def test_an_acknowledgement_before_the_answer_is_no_piece_of_it(
    scene: Scene, request_size: int, word: int, kind: str
) -> None:
    """On a connection that is in use, the client sends a ping with its request; the server echoes the ping at once."""
    asks(scene)
    scene.download(3_000)
    scene.wait_ms(3_000)
    scene.client_sends(request_size)
    scene.server_sends(word)
    scene.client_acks()
    scene.wait_ms(900)
    answers(scene)
    assert found(scene, "client").kind == kind
