"""`retransmission`: lost data was being repaired."""

from collections import Counter

import pytest

from tests.causes.triple import NOT_A_STALL_MS, SYNS, causes, fires, look_alike, near_miss
from tests.scene import Scene, between
from tests.scene.network import Tap

FLIGHT = tuple(range(0, 60_000, 1_448))


@fires
def test_a_whole_lost_flight_waits_for_the_timeout(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=FLIGHT[10:])
    assert scene.lost_ms("server", tap)["retransmission"] > 150


@fires
@pytest.mark.parametrize("position", [30_000, 45_000])
def test_a_lost_segment_inside_a_flight_waits_for_its_repair(scene: Scene, tap: Tap, position: int) -> None:
    scene.server.congestion.ssthresh = 20
    scene.handshake(rtt_ms=20)
    scene.download(120_000, lose=(position,))
    assert "retransmission" in causes(scene, tap) or scene.flow(tap)["time_ns"].get("retransmission", 0) > 0


@fires
def test_a_lost_last_segment_waits_for_the_tail_loss_probe(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(20_000, lose=(19_999,))
    scene.closes()
    assert scene.stalls("server", tap, over_ms=NOT_A_STALL_MS)[-1].cause == "retransmission"
    assert scene.lost_ms("server", tap)["retransmission"] in between(200, 290)


@near_miss
def test_a_segment_that_was_overtaken_needed_no_repair(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000, tso=1, late=((30_000, 3),))
    assert scene.flow(tap)["directions"]["server"]["retransmitted_bytes"] == 0
    assert causes(scene, tap) == ["cwnd-limited"]


@look_alike
def test_a_pause_as_long_as_a_timeout_without_any_repair_is_the_applications(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes((0, 5_000), (224, 5_000))
    assert causes(scene, tap) == ["app-limited"]


@near_miss
def test_what_follows_a_repair_that_is_over_is_not_repair(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(20_000, lose=(19_999,))
    scene.wait_ms(1_000)
    scene.server_transfers(5_000)
    lost = scene.lost_ms("server", tap)
    assert lost["retransmission"] in between(200, 290)
    assert lost["app-limited"] in between(970, 1_010)


@fires
def test_a_fin_that_is_sent_again_for_a_minute_stays_with_its_connection(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.client_closes()
    scene.server_sends(31, lost=True)
    scene.server_closes()
    for wait_s in (0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 38.4):
        scene.wait_ms(1_000 * wait_s)
        scene.server_repeats(5_000, 31, lost=True)
    assert scene.lost_ms("server", "server")["retransmission"] in between(76_000, 77_000)


def holed(scene: Scene) -> None:
    """Four segments, the second lost; 1.5 s later it comes, and a second after that more data."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for lost in (False, True, False, False):
        scene.server_sends(1_448, lost=lost)
    scene.client_acks(upto=1_448, sack=((2_896, 5_792),))
    scene.wait_ms(1_500)
    scene.server_repeats(1_448, 1_448)
    scene.client_acks(upto=5_792)
    scene.wait_ms(1_000)
    scene.server_sends(5_000)


@fires
def test_a_hole_that_sack_reports_is_being_repaired_even_if_the_capture_lacks_the_repair(scene: Scene) -> None:
    holed(scene)
    repeats = [n for n, (_, p) in enumerate(scene.packets("server"), 1) if p.payload == 1_448]
    lost = scene.lost_ms("server", "server", drop=repeats[-1:])
    assert lost["retransmission"] in between(1_500, 1_560)
    assert lost["app-limited"] in between(970, 1_010)


@fires
def test_a_hole_that_the_tap_alone_shows_is_being_repaired_while_nothing_acknowledges_it(scene: Scene) -> None:
    holed(scene)
    bare = [n for n, (_, p) in enumerate(scene.packets("client"), 1) if p.sack]
    repeats = [n for n, (_, p) in enumerate(scene.packets("client"), 1) if p.payload == 1_448]
    lost = scene.lost_ms("server", "client", drop=[*bare, *repeats[-1:]])
    assert lost["retransmission"] in between(1_450, 1_560)


@near_miss
def test_data_that_the_capture_alone_lacks_is_acknowledged_and_no_loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    for unseen in (False, True, False):
        scene.server_sends(1_448, unseen=unseen)
    scene.client_acks()
    scene.wait_ms(1_500)
    scene.server_sends(5_000)
    assert "retransmission" not in causes(scene, "client")


def loses_its_answer(scene: Scene, size: int, *, idle_ms: int = 0, think_ms: int = 0, repaired_ms: int) -> None:
    """The server's ACK is ahead of its lost answer, which it sends again."""
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(idle_ms)
    scene.client_sends(300)
    scene.wait_ms(think_ms)
    scene.server_sends(size, lost=True)
    scene.server_acks()
    scene.wait_ms(repaired_ms)
    scene.server_repeats(5_000, size)
    scene.client_acks()


@fires
def test_an_end_that_is_ahead_of_its_data_had_sent_them_before(scene: Scene) -> None:
    loses_its_answer(scene, 418, think_ms=2_000, repaired_ms=6_000)
    lost = scene.lost_ms("server", "client")
    assert lost["retransmission"] in between(5_950, 6_050)
    assert lost["app-limited"] in between(1_950, 2_050)


@fires
def test_what_answers_a_request_late_because_its_first_copy_was_lost_is_being_repaired(scene: Scene) -> None:
    """The silence before the request is the applications'."""
    loses_its_answer(scene, 27, idle_ms=4_000, repaired_ms=750)
    lost = scene.lost_ms("server", "client")
    assert lost["retransmission"] in between(730, 770)
    assert lost["app-limited"] in between(3_950, 4_050)


@fires
def test_data_below_what_the_sender_showed_to_have_sent_was_sent_again_however_soon(scene: Scene) -> None:
    loses_its_answer(scene, 418, idle_ms=100, repaired_ms=300)
    assert scene.lost_ms("server", "client")["retransmission"] in between(290, 310)


@fires
def test_a_repair_that_carries_new_data_too_ends_the_wait_for_its_timer(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.client_sends(69, lost=True)
    scene.wait_ms(600)
    scene.client_repeats(0, 122)
    scene.server_acks()
    lost = scene.lost_ms("client", "client")
    assert lost["retransmission"] in between(590, 610)
    assert "app-limited" not in lost


@near_miss
def test_a_hole_of_the_capture_below_data_whose_ack_it_lacks_too_is_no_loss(scene: Scene) -> None:
    """Data that nobody sends again and that is acknowledged after 20 s was acknowledged before."""
    scene.handshake(rtt_ms=20)
    scene.request()
    for unseen in (False, True, False):
        scene.server_sends(1_448, unseen=unseen)
    scene.wait_ms(20_000)
    scene.client_acks()
    scene.client_sends(300)
    scene.server_sends(5_000)
    assert "retransmission" not in causes(scene, "client")


@near_miss
def test_a_capture_without_the_receiver_does_not_tell_when_a_recovery_is_over(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_sends(1_448)
    scene.wait_ms(1_200)
    scene.server_repeats(0, 1_448)
    scene.client_acks()
    for _ in range(4):
        scene.wait_ms(700)
        scene.server_sends(1_448)
        scene.client_acks()
    unheard = [n for n, (_, p) in enumerate(scene.packets("server"), 1) if p.destination.port == 80]
    assert scene.lost_ms("server", "server", drop=unheard)["retransmission"] in between(1_150, 1_250)


@look_alike
def test_segments_one_by_one_without_an_ack_are_not_probes_each(scene: Scene) -> None:
    scene.handshake(rtt_ms=40)
    scene.request()
    for _ in range(12):
        scene.server_sends(536)
        scene.wait_ms(86.5)
    assert "retransmission" not in causes(scene, "client")[1:]


@near_miss
def test_a_repair_whose_ack_was_lost_is_over_when_its_timer_stays_silent(scene: Scene) -> None:
    """The client hears all at once; the server, which its ACK does not reach, sends again, and then is idle."""
    scene.handshake(rtt_ms=50)
    scene.server_sends(247)
    scene.client_acks()
    scene.wait_ms(300)
    scene.server_repeats(0, 247)
    scene.client_acks()
    scene.wait_ms(13_000)
    scene.server_sends(247)
    lost = scene.lost_ms("server", "client")
    assert lost["retransmission"] in between(200, 400)
    assert lost["app-limited"] > 12_500


@fires
def test_while_sack_reports_a_hole_the_repair_is_not_over_however_long_nothing_comes(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    for lost in (True, True, False, False):
        scene.server_sends(1_448, lost=lost)
    scene.client_acks(upto=0, sack=((2_896, 5_792),))
    scene.wait_ms(300)
    scene.server_repeats(0, 1_448)
    scene.client_acks(upto=1_448, sack=((2_896, 5_792),))
    scene.wait_ms(10_000)
    scene.server_sends(5_000)
    assert scene.lost_ms("server", "client")["retransmission"] > 10_000


def broken_off(scene: Scene, *, push: bool) -> Counter[str]:
    """Labels, at the client's tap, of 2 s of silence amid a download whose last segment came with PSH or without."""
    scene.handshake(rtt_ms=50)
    scene.download(30_000, tso=1)
    scene.request()
    for _ in range(3):
        scene.server_sends(1_448, push=False)
    scene.server_sends(1_448, push=push)
    scene.client_acks()
    scene.server_sends(800, lost=not push)
    scene.wait_ms(2_000)
    if push:
        scene.server_sends(800)
    else:
        scene.server_repeats(30_000 + 4 * 1_448, 800)
    scene.client_acks()
    return scene.lost_ms("server", "client", ipv6=True)


@fires
def test_a_tail_that_never_reached_the_tap_shows_by_the_write_that_it_broke_off(scene: Scene) -> None:
    assert broken_off(scene, push=False)["retransmission"] > 1_900


@look_alike
def test_a_silence_after_the_end_of_a_write_is_the_applications(scene: Scene) -> None:
    assert broken_off(scene, push=True)["app-limited"] > 1_900


def recovered(scene: Scene, *, lost_again: bool = False) -> None:
    """A lost segment, sent again at its third duplicate ACK, and new data at one that comes 30 ms later.

    After further 70 ms the recovery point is acknowledged.
    """
    scene.handshake(rtt_ms=100)
    scene.request()
    scene.server_sends(10 * 1_448)
    scene.client_acks()
    scene.server_sends(1_448, lost=True)
    scene.server_sends(19 * 1_448)
    for arrived in (2, 3, 9):
        scene.client_acks(upto=14_480, sack=((15_928, 15_928 + arrived * 1_448),))
    noticed = scene.server.acts_ns()
    scene.client.now_ns += 30_000_000
    scene.client_acks(upto=14_480, sack=((15_928, 43_440),))
    let_go = scene.server.acts_ns()
    scene.server.now_ns = scene.server.heard_ns = noticed
    scene.server_repeats(14_480, 1_448)
    scene.client_acks(upto=43_440)
    scene.server.now_ns = scene.server.heard_ns = let_go
    scene.server_sends(14 * 1_448)
    scene.client_acks(upto=43_440 if lost_again else 63_712, sack=((44_888, 63_712),) if lost_again else ())
    scene.server_sends(14 * 1_448)
    scene.client_acks(upto=83_984)


@fires
def test_a_recovery_ends_at_the_recovery_point_and_what_follows_is_the_window_that_it_left(scene: Scene) -> None:
    recovered(scene)
    *_, repair, window = (row for row in scene.flow("server")["stalls"] if row["sender"] == "server")
    assert [repair["cause"], window["cause"]] == ["retransmission", "cwnd-limited"]
    assert repair["end_ns"] == window["start_ns"]
    assert repair["detail"] == "recovery"
    assert repair["duration_ns"] / 1e6 in between(68, 72)
    assert window["duration_ns"] / 1e6 in between(28, 32)
    assert window["evidence"]["in_flight_segments"] == 14
    assert max(repair["confidence"], window["confidence"]) < 0.8  # both hold the sender until the same ACK


@near_miss
def test_a_recovery_after_which_another_segment_is_missing_goes_on(scene: Scene) -> None:
    recovered(scene, lost_again=True)
    assert causes(scene, "server")[-1] == "retransmission"


@look_alike
@pytest.mark.parametrize("others", [0, 200])
def test_a_host_that_counts_the_packets_of_all_its_connections_lost_none_in_a_silence(
    scene: Scene, others: int
) -> None:
    """Windows counts so; the counter seems the connection's own until the host speaks to others."""
    scene.handshake(rtt_ms=20)
    for turn in range(8):
        scene.wait_ms(15_000 if turn == 6 else 1)
        scene.server.packets_sent += others if turn == 6 else 0
        scene.server_sends(70)
        scene.client_acks()
    assert "retransmission" not in causes(scene, "client")


@look_alike
@pytest.mark.parametrize("others", [1, 16])
def test_each_timer_of_a_silence_sends_a_packet(scene: Scene, others: int) -> None:
    """Seven timeouts of 220 ms, each twice as long as the one before, last 28 s and send seven packets."""
    scene.handshake(rtt_ms=20)
    for turn in range(8):
        scene.wait_ms(127 * 220 if turn == 6 else 1)
        scene.server.packets_sent += others if turn == 6 else 0
        scene.server_sends(70)
        scene.client_acks()
    assert scene.lost_ms("server", "client").get("retransmission", 0) < 100


@look_alike
def test_data_that_answers_a_request_at_once_did_not_wait_for_a_timer(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    for turn in range(8):
        scene.wait_ms(31 * 220 if turn == 6 else 1)
        scene.server.packets_sent += 5 if turn == 6 else 0
        scene.client_sends(30)
        scene.server_sends(70)
        scene.client_acks()
    assert "retransmission" not in causes(scene, "client")


@look_alike
def test_a_jump_of_the_counter_that_no_timer_explains_begins_no_recovery(scene: Scene) -> None:
    """By 220 ms and its doublings no timer ends a silence of 5 s."""
    scene.handshake(rtt_ms=20)
    for turn in range(12):
        scene.wait_ms(1 if turn < 6 else 5_000 if turn == 6 else 600)
        scene.server.packets_sent += 5 if turn == 6 else 0
        scene.server_sends(70)
        scene.client_acks()
    assert "retransmission" not in causes(scene, "client")


@look_alike
def test_a_write_each_second_that_nothing_acknowledges_is_no_probe(scene: Scene) -> None:
    """Before any round trip the probe timer takes a second too (RFC 8985 §7.2), but an application does as well."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(30)
    for _ in range(2):
        scene.server_sends(70)
        scene.wait_ms(1_000)
    scene.server_sends(70)
    assert "retransmission" not in {stall.cause for stall in scene.stalls("server", "client", drop=[1, 2, 3])}


@look_alike
def test_a_wait_that_is_shorter_than_the_path_is_no_probe_s(scene: Scene) -> None:
    """The handshake is missing: at first the receiver's answers seem to be the sender's round trip."""
    scene.path(rtt_ms=20, server_mbit=20)
    scene.handshake()
    scene.server_writes((0, 200_000))
    assert "retransmission" not in causes(scene, "client", drop=SYNS)
