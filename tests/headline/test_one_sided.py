"""A capture that holds one end of a connection alone says so, whatever it began with, and blames no application."""

import pytest

from tests.headline.test_pushes import found
from tests.scene import Scene
from tests.scene.packet import SYN


def asks(scene: Scene, *, answers: bool = True) -> None:
    """A request every second or so, each with its answer."""
    scene.handshake(rtt_ms=20)
    for number in range(4):
        scene.client_sends(590 if number % 2 else 865)
        scene.server_acks()
        if answers:
            scene.server_sends(400)
            scene.client_acks()
        scene.wait_ms(1_500)


def absent(scene: Scene, *, server: bool) -> list[int]:
    """Numbers of the SYNs, and of all packets of the server, which the capture lacks."""
    said = enumerate((packet for _, packet in scene.packets("client")), 1)
    return [
        number for number, packet in said if packet.flags & SYN or (server and packet.source == scene.server.endpoint)
    ]


@pytest.mark.parametrize(("server", "answers"), [(True, True), (False, True), (True, False)])
def test_one_end_that_acknowledges_another_is_one_side(scene: Scene, server: bool, answers: bool) -> None:
    """Without an answer nothing shows that there is another end."""
    asks(scene, answers=answers)
    rows = found(scene, drop=absent(scene, server=server))
    assert ("one-sided" in rows) == (server and answers)
    assert not (server and answers and "sent-in-pieces" in rows)
