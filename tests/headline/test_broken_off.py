"""A client that resets a connection in the handshake has changed its mind: whatever else happened comes first."""

from tcpstall import analyze
from tcpstall.findings import advice, findings, sentence
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
