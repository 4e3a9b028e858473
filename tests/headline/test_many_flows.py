"""Captures of many flows: the first lines name the wait that cost somebody most, and idle connections come last."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tcpstall import Analysis, analyze
from tcpstall.findings import Finding, advice, findings, idle_ns, sentence
from tcpstall.findings.merging import together as merged
from tcpstall.findings.proof import evidence
from tcpstall.findings.words import flows_of
from tcpstall.report.page import render
from tests.scene import Scene
from tests.scene.network import Tap
from tests.scene.packet import Endpoint
from tests.scene.scene import START_NS


def scenes(folder: Path, count: int, *, clients: int = 1, ports: int = 1, hosts: int = 1) -> list[Scene]:
    """Connections that begin a tenth of a second apart, of so many clients to so many ports and hosts."""
    made = []
    for number in range(count):
        scene = Scene(folder, client_port=40_000 + number, start_ns=START_NS + number * 10**8)
        scene.client.endpoint = Endpoint(f"10.0.1.{1 + number % clients}", 40_000 + number)
        scene.server.endpoint = Endpoint(f"10.0.0.{2 + number % hosts}", 80 + number % ports)
        made.append(scene)
    return made


def together(made: Sequence[Scene], tap: Tap = "client") -> Analysis:
    first, *others = made
    return analyze(first.capture(tap, beside=others))


def answers(scene: Scene, *think_ms: float) -> None:
    scene.handshake(rtt_ms=20)
    for late in think_ms:
        scene.download(5_000, think_ms=late)
    scene.closes()


def idles(scene: Scene, ms: float = 20_000) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(ms)
    scene.download(5_000)
    scene.closes()


def closed_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(14_600)
    scene.server_acks(window=0)
    scene.wait_ms(800)
    scene.server_acks(window=65_535)
    scene.client_sends(14_600)
    scene.server_acks()
    scene.closes()


def first(analysis: Analysis) -> Finding:
    return findings(analysis)[0]


def lines(analysis: Analysis) -> list[str]:
    return [str(part) for part in render(analysis, width=160)]


@pytest.mark.parametrize("slow", [1, 2])
def test_the_few_answers_that_took_nearly_all_of_the_time_are_counted(tmp_path: Path, slow: int) -> None:
    made = scenes(tmp_path, 8)
    for number, scene in enumerate(made):
        answers(scene, 2_000 if number < slow else 30)
    told = sentence(first(together(made, "server")))
    assert told.endswith(f"in 8 answers of 8 flows, nearly all in {'one' if slow == 1 else slow}")


def test_answers_that_took_as_long_as_each_other_are_not_a_few(tmp_path: Path) -> None:
    made = scenes(tmp_path, 8)
    for number, scene in enumerate(made):
        answers(scene, 500 + 100 * number)
    assert sentence(first(together(made, "server"))).endswith("in 8 answers of 8 flows")


def test_the_only_client_that_waited_is_named_where_the_service_has_others(tmp_path: Path) -> None:
    made = scenes(tmp_path, 6, clients=3)
    for scene in made:
        answers(scene, *([900] if scene.client.endpoint.address == "10.0.1.2" else [0]))
    told = first(together(made))
    assert (told.flows, told.client) == (2, "10.0.1.2")
    assert "2 flows of 10.0.1.2" in sentence(told)


def test_the_client_of_a_capture_taken_at_it_is_not_named(tmp_path: Path) -> None:
    made = scenes(tmp_path, 4)
    for scene in made:
        answers(scene, 900)
    assert "10.0.1.1" not in sentence(first(together(made)))


def test_the_flow_in_which_somebody_waited_comes_before_connections_that_idled_for_longer(tmp_path: Path) -> None:
    made = scenes(tmp_path, 4)
    answers(made[2], 700)
    for scene in (made[0], made[1], made[3]):
        idles(scene)
    analysis = together(made)
    assert analysis.worst.id == analysis[analysis.ranked()[0]].id
    assert analysis.worst.id == 2
    assert analysis.worst.idle_ns < 10**8
    assert all(analysis[row].idle_ns > 19 * 10**9 for row in analysis.ranked()[1:])
    [capture] = made[0].folder.iterdir()
    assert analyze(capture, top=1)[0].id == 2


def test_the_second_line_says_how_much_of_the_lost_time_was_idle(tmp_path: Path) -> None:
    made = scenes(tmp_path, 3)
    answers(made[0], 700)
    for scene in made[1:]:
        idles(scene)
    analysis = together(made)
    assert idle_ns(analysis) == pytest.approx(40e9, rel=0.02)
    assert " of that idle, up to " in lines(analysis)[1]
    assert ": together lost 4" in lines(analysis)[1], "two connections that idle for 20 s each, at the same time"
    for scene in (busy := scenes(tmp_path, 3)):
        answers(scene, 700)
    assert "idle" not in lines(together(busy, "server"))[1]


@pytest.mark.parametrize(("ports", "leads"), [(6, "zero-window"), (1, "refused")])
def test_ports_that_a_client_tries_once_each_do_not_lead(tmp_path: Path, ports: int, leads: str) -> None:
    made = scenes(tmp_path, 8, ports=ports)
    for scene in made[:-1]:
        scene.handshake(rtt_ms=20, refused=True)
    closed_window(made[-1])
    assert first(together(made)).kind == leads


@pytest.mark.parametrize(("again", "leads"), [(0, "zero-window"), (2, "unreachable")])
def test_syns_that_were_never_sent_again_do_not_lead(tmp_path: Path, again: int, leads: str) -> None:
    made = scenes(tmp_path, 8)
    for scene in made[:-1]:
        scene.handshake(rtt_ms=20, lost_syns=again, answered=False)
    closed_window(made[-1])
    made[-1].wait_ms(3_000)
    assert first(together(made)).kind == leads


@pytest.mark.parametrize(("after_s", "again", "leads"), [(31, 0, "zero-window"), (2, 0, "refused"), (0, 4, "refused")])
def test_a_reset_that_comes_long_after_a_lone_syn_refuses_nobody(
    tmp_path: Path, after_s: int, again: int, leads: str
) -> None:
    """A client that waits sends its SYN again: it had given up when that RST came, as of a NAT that forgets."""
    made = scenes(tmp_path, 8)
    closed_window(made[-1])
    # The way of the RST takes that long.
    made[0].network.ways["server"].delay_ns = after_s * 10**9
    made[0].handshake(lost_syns=again, refused=True)
    for scene in made[1:-1]:
        answers(scene, 1)
    found = findings(together(made))
    assert found[0].kind == leads
    late = next(finding for finding in found if finding.kind == "refused")
    assert ("the client had given up" in evidence(late)) == (leads != "refused")
    assert ("another connection" in advice(late)) == (leads != "refused")


def test_a_reset_that_comes_long_after_many_syns_answers_none(tmp_path: Path) -> None:
    """Carriers' NATs forget an attempt after half a minute, and tell the client, which had given up long before."""
    made = scenes(tmp_path, 2)
    made[0].network.ways["server"].delay_ns = 31 * 10**9
    made[0].handshake(lost_syns=4, refused=True)
    answers(made[1], 1)
    found = first(together(made))
    assert found.kind == "unreachable"
    assert evidence(found) == "5 SYNs unanswered"


def broken_off(scene: Scene) -> None:
    """A reset in the middle of a request, after an answer."""
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.client_sends(1_460, push=False)
    scene.wait_ms(5)
    scene.server_resets()


def says_goodbye(scene: Scene) -> None:
    """A small message after which the server resets at once, as after an unbind of LDAP."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(300)
    scene.server_sends(700)
    scene.client_acks()
    scene.client_sends(43)
    scene.server_resets()


@pytest.mark.parametrize(("act", "leads"), [(broken_off, "reset"), (says_goodbye, "server-slow")])
def test_connections_that_the_server_broke_off_come_before_milliseconds(
    tmp_path: Path, act: Callable[[Scene], None], leads: str
) -> None:
    made = scenes(tmp_path, 6)
    for scene in made[:2]:
        act(scene)
    for scene in made[2:]:
        answers(scene, 60)
    found = findings(together(made, "server"))
    assert found[0].kind == leads
    assert ("reset" in {row.kind for row in found}) == (leads == "reset")


@pytest.mark.parametrize("idle_ms", [100, 0])
def test_microseconds_lead_no_report_of_longer_idle_time(tmp_path: Path, idle_ms: float) -> None:
    made = scenes(tmp_path, 3)
    for scene in made:
        scene.handshake(rtt_ms=0.1)
        scene.download(500, think_ms=0.3)
        scene.wait_ms(idle_ms)
        scene.download(500)
        scene.closes()
    assert (first(together(made, "server")).kind == "server-slow") == (not idle_ms)


def test_services_of_several_clients_that_are_told_together_name_none(scene: Scene) -> None:
    idles(scene)
    row = next(row for row in findings(analyze(scene.capture("client"))) if row.kind == "idle")
    several = [
        dataclasses.replace(row, client=f"10.0.0.{number}", port=port, of_several_clients=True)
        for number, port in enumerate((80, 81), 7)
    ]
    (told,) = merged(several)
    assert flows_of(told) == "2 flows"


def test_slow_answers_are_no_more_than_the_requests(scene: Scene) -> None:
    answers(scene, 700, 800)
    row = first(analyze(scene.capture("client")))
    assert evidence(dataclasses.replace(row, counted=80, exchanges=61, makes_most=0)).startswith("80 of 80 requests")


def test_syns_sent_again_once_are_once_in_each_flow(tmp_path: Path) -> None:
    for again, said in (
        (1, "SYN or SYN-ACK sent again once in each flow"),
        (2, "SYN or SYN-ACK sent again up to twice"),
    ):
        made = scenes(tmp_path, 2)
        for scene in made:
            scene.handshake(rtt_ms=20, lost_syns=again)
            scene.download(5_000)
        slow = next(row for row in findings(together(made)) if "handshake" in row.kind)
        assert evidence(slow) == said


@pytest.mark.parametrize(("again", "said"), [(1_000, "100 %"), (2_540, "2.5 times the data"), (50, "5 %")])
def test_more_copies_than_data_are_told_as_a_multiple(scene: Scene, again: int, said: str) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(1_000, lost=True)
    scene.wait_ms(300)
    scene.server_repeats(0, 1_000)
    scene.client_acks()
    loss = next(row for row in findings(analyze(scene.capture("server"))) if row.kind == "loss")
    told = evidence(dataclasses.replace(loss, retransmitted_bytes=again, bytes=1_000))
    assert f" again ({said})" in told


@pytest.mark.parametrize(("days", "timed"), [(0.1, True), (1_200, False)], ids=["hours", "years"])
def test_years_without_a_packet_are_no_length_of_the_capture(tmp_path: Path, days: float, timed: bool) -> None:
    """A file of several captures, or a packet with a wrong stamp: a rate over those years says nothing."""
    early, late = scenes(tmp_path, 2)
    late.start_ns = START_NS + round(days * 86_400e9)
    for scene in (early, late):
        answers(scene, 700)
    said = lines(together([early, late]))[1]
    assert (" bit/s" in said or "kbit/s" in said) == timed
    assert said.startswith("2 flows, ")
