"""Whose time the repair of a loss is: the path's, where the loss was between the taps."""

from collections.abc import Sequence

import pytest

from tcpstall.causes import Cause
from tcpstall.pair import Ends, PairedFlow, Wait, pair
from tests.pair.stage import captured, clock
from tests.scene import Scene
from tests.scene.network import Side

MS = 1_000_000
STAMPING = 300_000


def both(scene: Scene) -> Ends:
    return pair(captured(scene, "client"), captured(scene, "server", clock(ahead_ns=5 * 10**12)))


def flow_of(scene: Scene) -> PairedFlow:
    (flow,) = both(scene).flows
    return flow


def waits(flow: PairedFlow, sender: Side, *causes: Cause) -> Sequence[Wait]:
    return [wait for wait in flow.both.of_near() if wait.sender == sender and wait.cause in (causes or tuple(Cause))]


def of_hosts(some: Sequence[Wait]) -> int:
    return sum((wait.sender_ns or 0) + (wait.receiver_ns or 0) for wait in some)


def of_losses(some: Sequence[Wait]) -> int:
    return sum(wait.loss_ns or 0 for wait in some)


def spent(some: Sequence[Wait]) -> int:
    return sum(wait.duration_ns for wait in some)


# Fires: lost between the taps


def test_a_timeout_after_a_loss_is_the_networks(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(1_448, lost=True)
    scene.wait_ms(260)
    scene.server_repeats(0, 1_448)
    scene.client_acks()
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    repairing = waits(flow_of(scene), "server", Cause.RETRANSMISSION)
    assert spent(repairing) > 250 * MS
    assert of_hosts(repairing) < STAMPING
    assert of_losses(repairing) == pytest.approx(spent(repairing), abs=12 * MS)


@pytest.mark.parametrize("lose", [(60_000,), (60_000, 60_000), (98_000,), (99_900,), (20_000, 60_000, 90_000)])
def test_simulated_recoveries_are_the_networks(scene: Scene, lose: tuple[int, ...]) -> None:
    """Fast retransmission, a lost repair, a lost tail: whatever the sender waited for."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_transfers(100_000, lose=lose)
    scene.closes()
    flow = flow_of(scene)
    repairing = waits(flow, "server", Cause.RETRANSMISSION)
    assert spent(repairing) > 15 * MS
    assert of_hosts(repairing) < STAMPING * len(repairing)
    assert of_losses(repairing) > 0.4 * spent(repairing)


def test_acks_that_were_lost_are_the_networks(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(2_896, tso=1)
    lost_acks(scene, 1)
    scene.wait_ms(230)
    scene.server_repeats(0, 1_448)
    scene.client_acks()
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    repairing = waits(flow_of(scene), "server", Cause.RETRANSMISSION)
    assert spent(repairing) > 220 * MS
    assert of_hosts(repairing) < STAMPING
    assert of_losses(repairing) > 200 * MS


def lost_acks(scene: Scene, count: int) -> None:
    """The client acknowledges what it heard, and the path loses that."""
    for _ in range(count):
        scene._say(scene.client, 0x10, lost=frozenset({scene.client.nxt}))


def test_a_lost_syn_is_the_networks(scene: Scene) -> None:
    scene.handshake(lost_syns=1)
    scene.download(3_000)
    ends = both(scene)
    (wait,) = waits(ends.flows[0], "client", Cause.HANDSHAKE)
    assert wait.duration_ns == pytest.approx(1_020 * MS, abs=MS)
    assert of_hosts([wait]) < STAMPING
    assert wait.loss_ns == pytest.approx(1_010 * MS, abs=MS)
    (event,) = ends.events
    assert (event.kind, event.sender, event.repair_seen_packet) == ("lost", "client", 1)
    assert ends.flows[0].way("client")["outside_packets"] == 0


def test_three_lost_syns_are_the_networks(scene: Scene) -> None:
    scene.handshake(lost_syns=3)
    scene.download(3_000)
    (wait,) = waits(flow_of(scene), "client", Cause.HANDSHAKE)
    assert wait.duration_ns == pytest.approx(7_020 * MS, abs=MS)
    assert of_hosts([wait]) < STAMPING


def test_a_lost_syn_ack_is_the_networks(scene: Scene) -> None:
    scene.handshake(lost_syn_acks=1)
    scene.download(3_000)
    (wait,) = waits(flow_of(scene), "client", Cause.HANDSHAKE)
    assert wait.duration_ns == pytest.approx(1_020 * MS, abs=MS)
    assert of_hosts([wait]) < STAMPING
    assert wait.loss_ns == pytest.approx(1_010 * MS, abs=MS)


def test_a_lost_request_is_not_the_clients_time(scene: Scene) -> None:
    """The server waits for a request: it was lost, and its timer belongs to the loss too."""
    scene.handshake(rtt_ms=20)
    scene.download(3_000)
    scene.client_sends(200, lost=True)
    scene.wait_ms(250)
    scene.client_repeats(100 + 47, 200)
    scene.server_acks()
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    flow = flow_of(scene)
    assert of_hosts(waits(flow, "client", Cause.RETRANSMISSION)) < STAMPING
    longest = max(waits(flow, "server"), key=lambda wait: wait.duration_ns)
    assert longest.duration_ns > 250 * MS
    assert of_hosts([longest]) < 10 * MS
    assert of_losses([longest]) > 240 * MS


def test_a_window_update_that_was_lost_is_the_networks(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(14_480)
    scene.client_acks(window=0)
    scene.wait_ms(60)
    scene.client.window = 60_000
    lost_acks(scene, 1)
    scene.wait_ms(400)
    scene.server_probes()
    scene.client_acks(window=60_000)
    scene.server_sends(14_480)
    scene.client_acks()
    scene.closes()
    shut = waits(flow_of(scene), "server", Cause.ZERO_WINDOW, Cause.RWND_LIMITED)
    assert spent(shut) > 400 * MS
    assert of_losses(shut) == pytest.approx(420 * MS, abs=15 * MS)
    assert sum(wait.receiver_ns or 0 for wait in shut) == pytest.approx(50 * MS, abs=12 * MS)


# Near misses


def test_an_application_that_thinks_after_a_repair_keeps_its_time(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(1_448, lost=True)
    scene.wait_ms(260)
    scene.server_repeats(0, 1_448)
    scene.client_acks()
    scene.wait_ms(400)
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    flow = flow_of(scene)
    assert of_hosts(waits(flow, "server", Cause.RETRANSMISSION)) < STAMPING
    thinking = waits(flow, "server", Cause.APP_LIMITED)
    assert sum(wait.sender_ns or 0 for wait in thinking) == pytest.approx(400 * MS, abs=15 * MS)


def test_a_server_that_thinks_while_an_ack_was_lost_keeps_its_time(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(3_000)
    scene.server.rcv_nxt = scene.client.nxt
    scene._say(scene.server, 0x10, lost=frozenset({scene.server.nxt}))
    scene.wait_ms(600)
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    for wait in waits(flow_of(scene), "client", Cause.APP_LIMITED):
        assert wait.loss_ns == 0


def test_what_was_late_and_not_lost_is_no_loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(1_448, late_ms=300)
    scene.server.now_ns += 260 * MS
    scene.server_repeats(0, 1_448)
    scene.client_acks()
    scene.wait_ms(100)
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    ends = both(scene)
    assert not [event for event in ends.events if event.kind == "lost"]
    repairing = waits(ends.flows[0], "server", Cause.RETRANSMISSION)
    assert of_losses(waits(ends.flows[0], "server")) == 0
    assert of_hosts(repairing) < 50 * MS, "the packet was on the path while the timer ran"


def test_a_loss_behind_the_far_tap_is_not_the_paths(scene: Scene) -> None:
    """The client's tap saw the packet, and the client did not."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    heard = scene.client.rcv_nxt
    scene.server_sends(1_448)
    scene.client.rcv_nxt = heard
    scene.wait_ms(260)
    scene.server_repeats(0, 1_448)
    scene.client.rcv_nxt = heard + 1_448
    scene.client_acks()
    scene.wait_ms(50)
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    ends = both(scene)
    assert not [event for event in ends.events if event.kind == "lost"]
    repairing = waits(ends.flows[0], "server", Cause.RETRANSMISSION)
    assert of_losses(repairing) == 0
    assert of_hosts(repairing) > 230 * MS


def test_a_repetition_that_was_lost_after_all_had_arrived_held_up_nobody(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(1_448)
    scene.client_acks()
    scene.server_repeats(0, 1_448, lost=True)
    scene.wait_ms(500)
    scene.server_sends(1_448)
    scene.client_acks()
    scene.closes()
    ends = both(scene)
    assert [event.kind for event in ends.events] == ["lost"]
    assert of_losses(waits(ends.flows[0], "server")) == 0


def test_a_window_that_stays_shut_is_the_receivers_though_an_answer_to_a_probe_was_lost(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(14_480)
    scene.client_acks(window=0)
    scene.wait_ms(200)
    scene.server_probes()
    lost_acks(scene, 1)
    scene.wait_ms(400)
    scene.client_acks(window=60_000)
    scene.server_sends(14_480)
    scene.client_acks()
    scene.closes()
    shut = waits(flow_of(scene), "server", Cause.ZERO_WINDOW)
    assert of_losses(shut) == 0
    assert sum(wait.receiver_ns or 0 for wait in shut) > 550 * MS


def test_a_sender_that_writes_late_is_not_excused_by_a_loss_meanwhile(scene: Scene) -> None:
    """Its application had nothing to send: the loss held up nothing."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_writes((0, 14_480), (40, 14_480), (80, 14_480), lose=(14_000,))
    scene.closes()
    for wait in waits(flow_of(scene), "server", Cause.APP_LIMITED):
        assert (wait.sender_ns or 0) > 0.3 * wait.duration_ns
