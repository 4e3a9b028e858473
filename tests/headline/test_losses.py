"""Findings about losses tell whether a queue dropped the data: full queues drop while packets are late."""

from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall import Losses, analyze
from tcpstall.causes import Cause, Detail
from tcpstall.findings import Finding, advice, evidence, finding_row, findings
from tcpstall.findings.merging import together
from tcpstall.report.findings import finding_lines
from tcpstall.report.html.summary import answer
from tcpstall.units import per_second
from tests.scene import Scene
from tests.scene.lossy import lossy, policed
from tests.scene.network import Tap

TAPS: list[Tap] = ["server", "client"]
NO_QUEUE = "look for a bad link or a policer: no queue was full"
BURSTS = "find the policer or small buffer that lets no larger burst through, or pace the sender (fq, BBR)"
FULL_QUEUE = "the path's queue overflowed: shape below its rate (fq_codel, CAKE), or keep it short (BBR)"


def of(kind: str, path: Path) -> Finding:
    return of_kind(kind, findings(analyze(path)))


def of_kind(kind: str, rows: list[Finding]) -> Finding:
    return next(row for row in rows if row.kind == kind)


@pytest.mark.parametrize("tap", TAPS)
def test_losses_without_a_queue_send_the_reader_to_the_link(tmp_path: Path, tap: Tap) -> None:
    loss = of("loss", lossy(tmp_path, tap).capture())
    # The second is lost while the first is repaired, and begins no repair of its own.
    assert evidence(loss).endswith("; no queue at each of 4 losses")
    assert advice(loss) == NO_QUEUE
    assert finding_row(1, loss)["losses"]["unqueued"] == 4


@pytest.mark.parametrize("tap", TAPS)
def test_losses_at_a_queue_show_it(tmp_path: Path, tap: Tap) -> None:
    [flow] = analyze(lossy(tmp_path, tap, mbit=20).capture())
    losses = flow.directions["server"].losses
    assert losses is not None
    # No overflows: at the sender one alone met the queue at its longest, which the other end cannot tell.
    assert (losses.counted, losses.queued, losses.unqueued) == (4, 1 if tap == "server" else 4, 0)
    assert losses.queue_ns is not None
    assert losses.queue_ns > 100e6


def test_the_page_asks_first_for_what_the_losses_show(tmp_path: Path) -> None:
    analysis = analyze(lossy(tmp_path, "server").capture())
    first = replace(of_kind("cwnd-limited", findings(analysis)), details=(("congestion-avoidance", 1),))
    assert answer(analysis[0], analysis, [first]).change == NO_QUEUE
    assert answer(analysis[0], analysis, [replace(first, losses=None)]).change != NO_QUEUE


@pytest.mark.parametrize("tap", TAPS)
def test_waits_that_losses_made_say_what_dropped_the_data(tmp_path: Path, tap: Tap) -> None:
    analysis = analyze(lossy(tmp_path, tap).capture())
    repairs = {stall.advice for stall in analysis[0].stalls if stall.cause is Cause.RETRANSMISSION}
    assert repairs == {advice(of_kind("loss", findings(analysis)))} == {NO_QUEUE}


def test_a_window_that_creeps_without_a_loss_asks_why_slow_start_ended(scene: Scene) -> None:
    scene.server.congestion.ssthresh = 20
    scene.handshake(rtt_ms=20)
    scene.download(400_000)
    [flow] = analyze(scene.capture())
    told = {stall.advice for stall in flow.stalls if stall.detail == Detail.CONGESTION_AVOIDANCE}
    assert [advice.partition(":")[0] for advice in told] == ["find why slow start ended"]


@pytest.mark.parametrize("tap", TAPS)
def test_losses_between_which_one_rate_passed_show_a_policer(tmp_path: Path, tap: Tap) -> None:
    loss = of("loss", policed(tmp_path, tap, mbit=10).capture())
    assert loss.losses is not None
    rate = loss.losses.rate_bytes_per_s
    assert rate is not None
    assert rate == pytest.approx(1_250_000, rel=0.08)
    assert f"{per_second(rate)} between them" in evidence(loss)
    assert advice(loss) == BURSTS


def test_waits_after_two_losses_name_every_place(tmp_path: Path) -> None:
    [flow] = analyze(lossy(tmp_path, "client", losses=2).capture())
    assert {stall.advice for stall in flow.stalls} & {NO_QUEUE, BURSTS, FULL_QUEUE} == set()


def test_each_place_of_losses_has_its_words(tmp_path: Path) -> None:
    loss = of("loss", lossy(tmp_path, "server").capture())
    queued = replace(loss, losses=Losses(9, 9, 0, 22_400_000, None))
    assert evidence(queued).endswith("; a queue of 22.4 ms at each of 9 losses")
    assert advice(queued) == FULL_QUEUE
    bursts = replace(loss, losses=Losses(12, 0, 11, 400_000, 39_096))
    assert evidence(bursts).endswith("; no queue at 11 of 12 losses, 39.1 kB in flight")
    assert advice(bursts) == BURSTS
    policer = replace(loss, losses=Losses(9, 0, 9, 400_000, None, 1_250_000))
    assert evidence(policer).endswith("; no queue at each of 9 losses, 10.0 Mbit/s between them")
    assert advice(policer) == BURSTS
    mixed = replace(loss, losses=Losses(12, 6, 6, 400_000, 39_096))
    assert "queue" not in evidence(mixed)
    assert advice(mixed) == "find where packets are lost"


@pytest.mark.parametrize("tap", TAPS)
def test_two_losses_show_no_pattern(tmp_path: Path, tap: Tap) -> None:
    loss = of("loss", lossy(tmp_path, tap, losses=2).capture())
    assert "queue" not in evidence(loss)
    assert advice(loss).startswith("find where packets are lost")


@pytest.mark.parametrize("tap", TAPS)
def test_a_flow_holds_the_path_at_its_losses_and_one_without_losses_none(tmp_path: Path, tap: Tap) -> None:
    [flow] = analyze(lossy(tmp_path, tap).capture())
    assert flow.directions["server"].losses is not None
    assert flow.directions["server"].losses.met_none
    assert flow.directions["client"].losses is None


def test_findings_of_many_services_add_their_losses_up(tmp_path: Path) -> None:
    loss = of("loss", lossy(tmp_path, "server").capture())
    others = [replace(loss, address=f"192.0.2.{host}", losses=Losses(4, 4, 0, 9_000_000, 1, 2)) for host in range(20)]
    [all_of_them] = together([*others, loss])
    assert all_of_them.losses == Losses(84, 80, 4, 9_000_000, None, None)
    assert all_of_them.losses.met_a_queue
    assert evidence(all_of_them).startswith("the servers sent ")
    [none] = together([replace(row, losses=None) for row in others])
    assert none.losses is None


@pytest.mark.parametrize("held", [False, True])
def test_a_repair_that_the_capture_lacks_is_said_to_be_missing(scene: Scene, held: bool) -> None:
    """SACK reports the hole, and the capture lost the copy that filled it."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for lost in (False, True, False, False):
        scene.server_sends(1_448, lost=lost)
    scene.client_acks(upto=1_448, sack=((2_896, 5_792),))
    scene.wait_ms(1_500)
    scene.server_repeats(1_448, 1_448)
    scene.client_acks(upto=5_792)
    scene.server_sends(5_000)
    copies = [number for number, (_, packet) in enumerate(scene.packets("server"), 1) if packet.payload == 1_448]
    loss = of("loss", scene.capture("server", drop=[] if held else copies[-1:]))
    assert evidence(loss).startswith("the server sent 1.4 kB again" if held else "no copy of the server's data: ")


def test_losses_of_both_ends_differ_in_their_words(tmp_path: Path) -> None:
    loss = of("loss", lossy(tmp_path, "server").capture())
    assert evidence(loss).startswith("the server sent ")
    assert evidence(replace(loss, side="client")).startswith("the client sent ")


@pytest.mark.parametrize(
    ("width", "shown"),
    [(50, ""), (100, "the server sent 1.4 kB again (7 %)"), (160, "the server sent 1.4 kB again (7 %): timeout ")],
)
def test_a_narrow_line_keeps_who_sent_again(tmp_path: Path, width: int, shown: str) -> None:
    loss = replace(of("loss", lossy(tmp_path, "server").capture()), losses=None, bytes=20_000)
    loss = replace(loss, retransmitted_bytes=1_448, details=(("timeout", 10**9), ("recovery", 10**8)))
    lines = "\n".join(line.plain for line in finding_lines(1, loss, width))
    assert shown in lines
    assert ("sent 1.4 kB again" in lines) == bool(shown)
    assert (": timeout" in lines) == (width == 160)
