"""A client that resets a connection in the handshake has changed its mind: whatever else happened comes first."""

from dataclasses import replace

import pytest

from tcpstall import analyze
from tcpstall.findings import advice, findings, headline, sentence
from tests.headline.captures import server_slow
from tests.scene import Scene
from tests.scene.files import write


def broken_off(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_resets()


def test_a_handshake_that_the_client_broke_off_is_told_where_there_is_nothing_else(scene: Scene) -> None:
    broken_off(scene)
    packets = [(time, packet) for time, packet in scene.packets("client") if packet.flags & (2 | 4)]
    path = scene.folder / "broken_off.pcap"
    write(path, packets)
    (first,) = findings(analyze(path))
    assert first.kind == "aborted"
    assert "broke off 1 connection to 10.0.0.2:80" in sentence(first)
    assert advice(first).startswith("nothing")


def test_it_never_comes_before_another_connection(scene: Scene) -> None:
    other = Scene(scene.folder, client_port=40_001)
    broken_off(other)
    server_slow(scene)
    both = [*scene.packets("client"), *(row for row in other.packets("client") if row[1].flags & (2 | 4))]
    path = scene.folder / "both.pcap"
    write(path, sorted(both, key=lambda row: row[0]))
    kinds = [row.kind for row in findings(analyze(path))]
    assert kinds[0] == "server-slow"


def hello(scene: Scene, *, flight: bool, request: int) -> None:
    """A client's hello, the server's flight and the client's own with a request, as far as they come; then a RST."""
    scene.server.endpoint = replace(scene.server.endpoint, port=443)
    scene.handshake(rtt_ms=20)
    scene.client_sends(517, content=b"\x16\x03\x01\x01\x27\x01")
    scene.server_acks()
    if flight:
        scene.server_sends(1_300, content=b"\x16\x03\x03")
        scene.client_acks()
        scene.client_sends(126 + request)
        scene.server_acks()
    scene.server_resets()


@pytest.mark.parametrize(
    ("flight", "request_size", "amid"),
    [
        (False, 0, "in TLS's handshake"),
        (True, 0, "in TLS's handshake"),
        (True, 400, "before the answer came"),
    ],
)
def test_a_reset_tells_what_it_broke_off(scene: Scene, flight: bool, request_size: int, amid: str) -> None:
    hello(scene, flight=flight, request=request_size)
    first = findings(analyze(scene.capture("client")))[0]
    assert sentence(first) == f"the server reset 1 connection to 10.0.0.2:443 {amid}"
    assert headline(first) == f"reset {amid}"
    assert ("filter" in advice(first)) == ("TLS" in amid)


def test_a_reset_amid_an_answer_is_in_mid_transfer(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(4_000, push=False)
    scene.server_resets()
    first = findings(analyze(scene.capture("client")))[0]
    assert sentence(first) == "the server reset 1 connection to 10.0.0.2:80 in mid-transfer"


@pytest.mark.parametrize(("resets", "waits"), [(True, False), (False, True)], ids=["gone", "reads-on"])
def test_nobody_waits_for_what_comes_after_the_readers_reset(scene: Scene, resets: bool, waits: bool) -> None:
    """The client gives up in the middle of a download; the server's data goes on until it hears of that."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(5_000)
    scene.client_acks()
    if resets:
        scene.client_resets()
    for after_ms in (15, 15, 60):
        scene.wait_ms(after_ms)
        scene.server_sends(5_000)
        if resets:
            scene.client_resets(acks=False)
        else:
            scene.client_acks()
    flow = scene.flow("client")
    assert any(row["sender"] == "server" and row["duration_ns"] > 10e6 for row in flow["stalls"][1:]) == waits
    owned = sum(time for owner, time in flow["time_ns"].items() if owner not in {"sending", "in-transit", "closing"})
    assert (owned > 60e6) == waits
    first = findings(analyze(scene.capture("client")))[0]
    assert (first.kind == "reset") == resets
