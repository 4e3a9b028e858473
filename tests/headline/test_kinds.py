"""Each kind of finding is told from the others, with its time, and think time never leads."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.causes import Cause
from tcpstall.findings import Finding, advice, evidence, findings, gain, sentence
from tcpstall.findings.finding import IDLE
from tests.headline.captures import KINDS, NOBODYS, feed, hello, server_slow, terminal
from tests.scene import Reader, Scene
from tests.scene.files import write
from tests.scene.network import Tap


def found(scene: Scene) -> list[Finding]:
    return findings(analyze(scene.capture("client")))


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_comes_first_with_its_time(scene: Scene, kind: str) -> None:
    act, seconds = KINDS[kind]
    act(scene)
    first, *_ = found(scene)
    assert first.kind == kind
    assert (first.address, first.port, first.flows) == ("10.0.0.2", 80, 1)
    if seconds is not None:
        assert first.weight_ns == pytest.approx(seconds * 1e9, rel=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_words_of_its_own(scene: Scene, kind: str, tmp_path: Path) -> None:
    act, _ = KINDS[kind]
    act(scene)
    first, *_ = found(scene)
    assert evidence(first)
    assert advice(first)
    assert gain(first) or first.recoverable_ns in (None, 0) or kind == "bandwidth-limited"
    assert "10.0.0.2:80" in sentence(first)


@pytest.mark.parametrize("name", NOBODYS)
def test_time_that_nobody_can_give_back_never_leads(scene: Scene, name: str) -> None:
    NOBODYS[name](scene)
    rows = found(scene)
    assert not rows or rows[0].weight_ns < 100_000_000
    assert all(row.recoverable_ns is None for row in rows if row.kind in IDLE)


def timeouts(scene: Scene, answers: tuple[int, ...]) -> None:
    """Each answer after that time, milliseconds; the client thinks for a second before it asks again."""
    scene.handshake(rtt_ms=20)
    for late in answers:
        scene.wait_ms(1_000)
        scene.download(5_000, think_ms=late)
    scene.closes()


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ((30_012, 30_014, 30_013, 30_016), "server-timer"),
        ((29_447, 29_692, 30_469, 29_469, 29_680, 30_281, 30_386, 28_921), "server-timer"),
        ((30_012, 30_014, 30_013), "server-slow"),
        ((5_002, 5_001, 5_003, 5_002, 5_001), "server-slow"),
        ((30_012, 21_402, 30_013, 30_016, 12_000, 14_900, 17_300), "server-slow"),
    ],
    ids=["a-timer", "a-loose-one", "too-few", "a-short-one", "of-many-lengths"],
)
def test_answers_of_one_length_are_a_timers(scene: Scene, answers: tuple[int, ...], kind: str) -> None:
    timeouts(scene, answers)
    rows = {row.kind: row for row in found(scene)}
    assert len({"server-timer", "server-slow"} & rows.keys()) == 1
    assert rows[kind].time_ns == pytest.approx(sum(answers) * 1e6, rel=0.05)


def test_a_timer_says_how_long_it_is_and_that_nobody_may_have_waited(scene: Scene) -> None:
    timeouts(scene, (30_012, 30_014, 30_013, 30_016))
    first, *_ = found(scene)
    assert first.recoverable_ns is None
    assert sentence(first) == (
        "nobody may have waited: 10.0.0.2:80 answers by a timer, 4 answers after 30.04 s each: "
        "a long poll, or a timeout"
    )


def test_an_answer_of_a_word_after_which_the_only_exchange_closes_is_slow(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100, think_ms=31_000)
    scene.closes()
    assert found(scene)[0].kind == "server-slow"


@pytest.mark.parametrize("asked", [170, 38])
def test_ten_seconds_before_an_answer_over_tls_are_slow(scene: Scene, asked: int) -> None:
    """The request is too long for an acknowledgement, or the server does not close after its answer."""
    hello(scene)
    scene.client_sends(asked)
    scene.server_acks()
    scene.wait_ms(10_000)
    scene.server_sends(77)
    if asked == 38:
        scene.wait_ms(500)
    scene.closes()
    assert found(scene)[0].kind == "server-slow"


@pytest.mark.parametrize(("syns", "kind"), [(1, "server-slow"), (2, "half-open")])
def test_a_client_that_leaves_a_syn_ack_unanswered_waits_for_it_only_if_it_sends_its_syn_again(
    scene: Scene, syns: int, kind: str, tmp_path: Path
) -> None:
    half = Scene(tmp_path, client_port=50_000)
    half.path(rtt_ms=20)
    for _ in range(syns):
        half._syn(half.client, lost=syns > 1)
        half.wait_ms(1_000)
    for attempt in range(5):
        half._syn(half.server, lost=True)
        half.wait_ms(1_000 << attempt)
    other = Scene(tmp_path, client_port=50_001)
    for served in (scene, other):
        server_slow(served)
    rows = findings(analyze(scene.capture("server", beside=[half, other])))
    assert rows[0].kind == kind
    assert "half-open" in {row.kind for row in rows}


def test_a_fault_comes_before_a_terminal_that_idles_for_longer(tmp_path: Path) -> None:
    person, slow = Scene(tmp_path, client_port=50_000), Scene(tmp_path)
    terminal(person)
    server_slow(slow)
    first, *_ = findings(analyze(slow.capture("client", beside=[person])))
    assert (first.kind, first.flows, first.counted) == ("server-slow", 1, 3)
    assert first.median_ns == pytest.approx(700e6, rel=0.05)


def test_many_flows_with_one_fault_are_one_finding(tmp_path: Path) -> None:
    scenes = [
        Scene(tmp_path, client_port=40_000 + number, start_ns=1_700_000_000_000_000_000 + number * 10**8)
        for number in range(5)
    ]
    for scene in scenes:
        server_slow(scene)
    analysis = analyze(scenes[0].capture("client", beside=scenes[1:]))
    first, *_ = findings(analysis)
    assert (first.kind, first.flows, first.counted, first.exchanges) == ("server-slow", 5, 15, 15)
    assert first.time_ns == pytest.approx(15 * 0.7e9, rel=0.1)
    assert first.median_ns <= first.p95_ns <= first.worst_ns


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_given_back_that_was_not_lost(scene: Scene, kind: str) -> None:
    KINDS[kind][0](scene)
    analysis = analyze(scene.capture("client"))
    assert sum(row.recoverable_ns or 0 for row in findings(analysis)) <= sum(flow.lost_ns for flow in analysis)


@pytest.mark.parametrize("tap", ["client", "server"])
def test_an_answer_is_as_slow_as_it_came_after_its_request_however_long_the_client_was_silent(
    scene: Scene, tap: Tap
) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    for silence in (30_000, 40_000):
        scene.wait_ms(silence)
        scene.client_sends(1_448)
        scene.wait_ms(300)
        scene.download(5_000, think_ms=900)
    scene.closes()
    first, *_ = findings(analyze(scene.capture(tap)))
    assert (first.kind, first.counted) == ("server-slow", 2)
    assert first.time_ns == pytest.approx(1.8e9, rel=0.1)
    assert first.worst_ns == pytest.approx(0.9e9, rel=0.1)


@pytest.mark.parametrize("tap", ["client", "server"])
def test_an_answer_to_one_packet_after_a_long_silence_is_slow_by_itself(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    for silence in (30_000, 40_000):
        scene.wait_ms(silence)
        scene.download(5_000, think_ms=900)
    scene.closes()
    first, *_ = findings(analyze(scene.capture(tap)))
    assert (first.kind, first.counted) == ("server-slow", 2)
    assert first.time_ns == pytest.approx(1.8e9, rel=0.1)


def test_news_of_a_line_or_two_are_no_answer_in_pieces(scene: Scene) -> None:
    feed(scene)
    rows = {row.kind: row for row in found(scene)}
    assert rows["messages"].time_ns == pytest.approx((3_100 + 1_700 + 5_300) * 1e6, rel=0.05)
    assert rows["messages"].recoverable_ns is None


def _few(scene: Scene) -> None:
    for _ in range(7):
        scene.download(1_000)


def _together(scene: Scene) -> None:
    for _ in range(60):
        scene.client_sends(147)
    scene.server_acks()
    scene.server_transfers(60_000)


def _large(scene: Scene) -> None:
    for _ in range(10):
        scene.download(200_000, reader=Reader(buffer=30_000))


@pytest.mark.parametrize("act", [_few, _together, _large])
def test_only_small_answers_to_one_request_after_another_are_round_trips(
    scene: Scene, act: Callable[[Scene], None]
) -> None:
    scene.handshake(rtt_ms=100)
    act(scene)
    scene.closes()
    assert "round-trips" not in {row.kind for row in found(scene)}


def test_large_messages_cost_the_round_trip_in_which_neither_end_could_send(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    for _ in range(12):
        scene.client_transfers(60_000)
        scene.server_sends(4)
        scene.client_acks()
    scene.closes()
    rows = {row.kind: row for row in found(scene)}
    assert rows["round-trips"].time_ns == pytest.approx(12 * 100e6, rel=0.15)
    assert "rate-sender" not in rows


def test_the_clients_own_pauses_are_no_round_trips_of_its_requests(scene: Scene) -> None:
    """Each request takes a round trip, and the client thinks for longer than one before the next."""
    scene.handshake(rtt_ms=200)
    for _ in range(10):
        scene.wait_ms(350)
        scene.download(1_000)
    scene.closes()
    rows = {row.kind: row for row in found(scene)}
    assert rows["round-trips"].time_ns == pytest.approx(10 * 0.2e9, rel=0.05)


def test_round_trips_come_after_what_a_repair_gives_back(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    for turn in range(30):
        scene.download(1_000, think_ms=700 if turn % 10 == 0 else 0)
    scene.closes()
    first, second, *_ = found(scene)
    assert [first.kind, second.kind] == ["server-slow", "round-trips"]
    assert second.time_ns == pytest.approx(30 * 0.1e9, rel=0.1)
    assert second.recoverable_ns is None


def test_a_repair_that_nobody_waited_for_is_told_where_there_is_nothing_else(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.02)
    scene.request()
    scene.server_sends(1_448, lost=True)
    for number in range(1, 4):
        scene.server_sends(1_448)
        scene.client_acks(upto=0, sack=((1_448, 1_448 * (1 + number)),))
    scene.server_repeats(0, 1_448)
    scene.client_acks()
    first, *_ = found(scene)
    assert first.kind == "loss"
    assert first.time_ns < 1_000_000
    assert ": the server sent 1.4 kB again (" in sentence(first)


def _thinned(scene: Scene) -> Path:
    """A transfer of which the capture holds a third of the data: waits of several causes that all are unexplained."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes(*((300 * number, 50_000) for number in range(6)), tso=1)
    scene.closes()
    numbers = itertools.count()
    kept = [(time, packet) for time, packet in scene.packets("client") if not packet.payload or next(numbers) % 3 == 0]
    path = scene.folder / "thinned.pcap"
    write(path, kept)
    return path


def test_pauses_of_a_flow_of_which_the_capture_lacks_most_are_unexplained(scene: Scene) -> None:
    rows = findings(analyze(_thinned(scene), strict=False))
    assert {row.kind for row in rows if row.time_ns > 100_000_000} == {"unexplained"}


def test_a_finding_counts_a_flow_once_however_many_causes_it_joins(scene: Scene) -> None:
    analysis = analyze(_thinned(scene), strict=False)
    causes = {stall.cause for stall in analysis[0].stalls} - {Cause.HANDSHAKE}
    [told] = [row for row in findings(analysis) if row.kind == "unexplained"]
    assert len(causes) > 1, causes
    assert told.flows == 1


@pytest.mark.parametrize(("idle_ms", "first"), [(1_000, "server-slow"), (9_000, "idle")])
def test_milliseconds_do_not_lead_where_silence_took_thousands_of_times_as_long(
    scene: Scene, idle_ms: int, first: str
) -> None:
    scene.handshake(rtt_ms=0.2)
    for _ in range(3):
        scene.download(3_000, think_ms=2)
        scene.wait_ms(idle_ms)
    scene.closes()
    rows = found(scene)
    assert rows[0].kind == first
    assert "server-slow" in [row.kind for row in rows]


@pytest.mark.parametrize(("rtt_ms", "kind"), [(100, "handshake-distance"), (1, "idle")])
def test_handshakes_are_told_where_they_took_longer_than_the_pauses(scene: Scene, rtt_ms: float, kind: str) -> None:
    scene.handshake(rtt_ms=rtt_ms)
    scene.wait_ms(20)
    scene.client_sends(40)
    scene.server_sends(60)
    scene.client_acks()
    scene.closes()
    assert next(iter(found(scene))).kind == kind


def test_a_window_after_slow_start_tells_how_much_was_lost_or_asks_why_slow_start_ended(scene: Scene) -> None:
    scene.handshake(rtt_ms=40)
    scene.download(1_500_000, lose=(60_000,))
    scene.closes()
    first, *_ = found(scene)
    assert evidence(first) == "congestion avoidance, <1 % sent again, 23 waits of the server for ACKs"
    assert advice(first).startswith("find the losses")
    clean = replace(first, retransmitted_bytes=0)
    assert evidence(clean) == "congestion avoidance, 23 waits of the server for ACKs"
    assert advice(clean).startswith("find why slow start ended")
