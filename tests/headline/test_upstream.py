"""A slow service that waited for another one: the report leads to the one behind, and says who waited for it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.findings import Finding, advice, evidence, finding_row, findings, sentence
from tests.scene import Scene
from tests.scene.files import write
from tests.scene.network import Tap
from tests.scene.packet import Endpoint, Packet
from tests.scene.scene import START_NS

FRONT, BEHIND = Endpoint("10.0.0.2", 80), Endpoint("10.0.0.3", 6379)
OWED_MS = 800
"""Time that the front takes for its answer; it has the request 30 ms after the capture's start."""


def front(folder: Path, tap: Tap = "server") -> Scene:
    scene = Scene(folder, tap=tap)
    scene.handshake(rtt_ms=20)
    scene.download(5_000, think_ms=OWED_MS)
    scene.closes()
    return scene


def behind(
    folder: Path, *, after_ms: float = 40, rtt_ms: float = 2, tap: Tap = "client", host: str = "", port: int = 50_000
) -> Scene:
    """A connection of the front's host, begun so long after the capture."""
    scene = Scene(folder, tap=tap, start_ns=START_NS + round(after_ms * 1_000_000))
    scene.client.endpoint, scene.server.endpoint = Endpoint(host or FRONT.address, port), BEHIND
    scene.handshake(rtt_ms=rtt_ms)
    return scene


def told(folder: Path, *scenes: Scene, move: Endpoint = FRONT) -> list[Finding]:
    """The findings of a capture of all these connections; the front listens at `move`."""

    def moved(packet: Packet) -> Packet:
        ends = (packet.source, packet.destination)
        source, destination = (move if end == FRONT else end for end in ends)
        return replace(packet, source=source, destination=destination)

    packets: Iterable[tuple[int, Packet]] = (sight for scene in scenes for sight in scene.packets())
    path = folder / "both.pcap"
    write(path, sorted(((time, moved(packet)) for time, packet in packets), key=lambda sight: sight[0]))
    return findings(analyze(path))


def test_the_service_behind_leads_and_the_one_in_front_waited_for_it(tmp_path: Path) -> None:
    back = behind(tmp_path)
    back.download(5_000, think_ms=700)
    first, second = told(tmp_path, front(tmp_path), back)[:2]
    assert sentence(first).startswith("10.0.0.3:6379 is slow to answer: 70")
    assert sentence(first).endswith("; 10.0.0.2:80 waited for it")
    assert (second.kind, second.address) == ("server-slow", "10.0.0.2")
    assert second.time_ns > first.time_ns
    assert "while it waited for 10.0.0.3:6379" in evidence(second)
    assert advice(second) == "look at 10.0.0.3:6379 first: it waited for that"
    row = finding_row(2, second)
    assert row["waited_for"] == {"address": "10.0.0.3", "port": 6379, "share": pytest.approx(0.89, abs=0.03)}


@pytest.mark.parametrize(("rtt_ms", "tap"), [(12, "client"), (12, "server")])
def test_many_small_requests_behind_are_one_wait(tmp_path: Path, rtt_ms: float, tap: Tap) -> None:
    back = behind(tmp_path, rtt_ms=rtt_ms, tap=tap)
    for _ in range(60):
        back.client_sends(60)
        back.server_sends(200)
    back.client_acks()
    found = told(tmp_path, front(tmp_path), back)
    assert found[0].kind == "round-trips"
    assert sentence(found[0]).endswith("10.0.0.2:80 waited for it")


def test_a_connection_for_each_request_behind_is_the_same(tmp_path: Path) -> None:
    scenes = []
    for number in range(30):
        scenes.append(behind(tmp_path, after_ms=40 + number * 25, rtt_ms=10, port=50_000 + number))
        scenes[-1].download(500, think_ms=1)
        scenes[-1].closes()
    found = told(tmp_path, front(tmp_path), *scenes)
    assert sentence(found[0]).startswith("10.0.0.2:80 is slow to answer")
    assert sentence(found[0]).endswith("while it waited for 10.0.0.3:6379")


def test_a_service_behind_that_is_gone_leads(tmp_path: Path) -> None:
    back = Scene(tmp_path, tap="client", start_ns=START_NS + 40_000_000)
    back.client.endpoint, back.server.endpoint = Endpoint(FRONT.address, 50_000), BEHIND
    back.handshake(rtt_ms=2, lost_syns=1, answered=False)
    late = Scene(tmp_path, tap="server")
    late.handshake(rtt_ms=20)
    late.download(300, think_ms=3_000)
    late.closes()
    first = told(tmp_path, late, back)[0]
    assert first.kind == "unreachable"
    assert first.awaited_by == ("10.0.0.2:80",)


def test_an_answer_sent_in_pieces_waits_for_the_pieces_behind(tmp_path: Path) -> None:
    pieces = [(150.0 * number, 4_000) for number in range(6)]
    late = Scene(tmp_path, tap="server")
    late.handshake(rtt_ms=20)
    late.request()
    late.server_writes(*pieces)
    late.closes()
    back = behind(tmp_path, after_ms=25)
    back.request()
    back.server_writes(*pieces)
    found = told(tmp_path, late, back)
    slow = next(row for row in found if row.kind == "sent-in-pieces" and row.address == "10.0.0.2")
    assert slow.waited_for is not None
    assert found[0].address == "10.0.0.3"


def test_own_work_between_two_requests_is_its_own(tmp_path: Path) -> None:
    back = behind(tmp_path)
    back.download(200)
    back.wait_ms(600)
    back.download(200)
    found = told(tmp_path, front(tmp_path), back)
    assert sentence(found[0]).startswith("10.0.0.2:80 is slow to answer")
    assert all(row.waited_for is None for row in found)


@pytest.mark.parametrize("think_ms", [300, 550])
def test_less_than_three_quarters_do_not_explain_it(tmp_path: Path, think_ms: float) -> None:
    back = behind(tmp_path)
    back.download(5_000, think_ms=think_ms)
    assert all(row.waited_for is None for row in told(tmp_path, front(tmp_path), back))


def test_what_another_host_asked_does_not_count(tmp_path: Path) -> None:
    back = behind(tmp_path, host="10.0.0.9", tap="between")
    back.download(5_000, think_ms=700)
    assert all(row.waited_for is None for row in told(tmp_path, front(tmp_path), back))


def test_a_question_older_than_the_request_is_not_for_it(tmp_path: Path) -> None:
    back = behind(tmp_path, after_ms=1)
    back.download(5_000, think_ms=760)
    assert all(row.waited_for is None for row in told(tmp_path, front(tmp_path), back))


@pytest.mark.parametrize(
    ("front_tap", "behind_tap", "same_host"), [("server", "client", True), ("client", "server", False)]
)
def test_addresses_of_several_cards_are_one_host_where_it_was_captured(
    tmp_path: Path, front_tap: Tap, behind_tap: Tap, same_host: bool
) -> None:
    back = behind(tmp_path, tap=behind_tap, rtt_ms=4)
    back.download(5_000, think_ms=700)
    found = told(tmp_path, front(tmp_path, front_tap), back, move=Endpoint("172.16.0.2", 80))
    assert any(row.waited_for is not None for row in found) is same_host


def test_a_proxy_on_the_loopback_interface_is_the_host_itself(tmp_path: Path) -> None:
    late = Scene(tmp_path, tap="server")
    late.client.endpoint = Endpoint("127.0.0.1", 40_000)
    late.handshake(rtt_ms=0.02)
    late.download(5_000, think_ms=OWED_MS)
    late.closes()
    back = behind(tmp_path, after_ms=1)
    back.download(5_000, think_ms=790)
    assert told(tmp_path, late, back, move=Endpoint("127.0.0.1", 9_000))[0].address == "10.0.0.3"


@pytest.mark.parametrize("owed", [True, False])
def test_requests_of_a_pool_begin_with_an_answer_that_was_owed_however_short(tmp_path: Path, owed: bool) -> None:
    """More answers are slow than are remembered; the pool's first request belongs to a short one, or to none."""
    later = [Scene(tmp_path, client_port=41_000 + number, start_ns=START_NS + 70_000_000) for number in range(17)]
    for scene in later:
        scene.handshake(rtt_ms=20)
        scene.download(5_000, think_ms=OWED_MS)
        scene.closes()
    early = Scene(tmp_path)
    early.handshake(rtt_ms=20)
    early.download(5_000, think_ms=100 if owed else 0)
    early.closes()
    pool = behind(tmp_path)
    for _ in range(7):
        pool.download(500, think_ms=100)
    slow = next(one for one in told(tmp_path, early, *later, pool) if one.address == "10.0.0.2")
    assert ("while it waited for 10.0.0.3:6379" in evidence(slow)) == owed
