"""Captures that last for hours: a connection that goes on asking, services that come and go."""

from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path

from tests.properties.frames import ETHERNET, Frame
from tests.scene import Scene
from tests.scene.packet import frame

_SOURCE, _DESTINATION = slice(26, 30), slice(30, 34)
"""Position of the addresses of IPv4 over Ethernet."""


def _seen(scene: Scene) -> Iterator[Frame]:
    for time_ns, packet in scene.packets():
        data = frame(packet)
        yield Frame(time_ns, data, len(data), ETHERNET)


def asking(exchanges: int, every_ms: int = 4_000) -> list[Frame]:
    """One connection, whose server thinks for a part of a second each time."""
    scene = Scene(Path())
    scene.handshake(rtt_ms=20)
    for _ in range(exchanges):
        scene.request()
        scene.wait_ms(every_ms / 10)
        scene.server_sends(500)
        scene.client_acks()
        scene.wait_ms(every_ms)
    return list(_seen(scene))


def visiting(services: int, every_ns: int) -> list[Frame]:
    """One connection to each of so many servers, which think for a part of a second."""
    scene = Scene(Path())
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.wait_ms(200)
    scene.server_sends(500)
    scene.client_acks()
    scene.closes()
    visit = list(_seen(scene))
    server = visit[0].data[_DESTINATION]
    frames = []
    for number in range(services):
        other = (IPv4Address("10.9.0.0") + number).packed
        for one in visit:
            data = bytearray(one.data)
            data[_DESTINATION if data[_DESTINATION] == server else _SOURCE] = other
            frames.append(Frame(one.time_ns + number * every_ns, bytes(data), one.length, one.link))
    return sorted(frames, key=lambda one: one.time_ns)
