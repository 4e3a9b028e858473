"""Two views of one wait: whose word counts, and whose time it was."""

import pytest

from tcpstall.causes import Cause
from tcpstall.pair import PairedFlow, Wait, pair
from tests.pair.stage import captured, clock
from tests.scene import Scene


def flow_of(scene: Scene) -> PairedFlow:
    (flow,) = pair(captured(scene, "client"), captured(scene, "server", clock(ahead_ns=10**12))).flows
    return flow


def longest(flow: PairedFlow, cause: Cause) -> Wait:
    return max((wait for wait in flow.both.of_near() if wait.cause is cause), key=lambda wait: wait.duration_ns)


def test_the_shares_of_a_wait_sum_to_it(scene: Scene) -> None:
    scene.handshake()
    scene.download(300_000, think_ms=50)
    for wait in flow_of(scene).both.of_near():
        assert wait.network_ns is not None
        assert wait.sender_ns is not None
        assert wait.receiver_ns is not None
        assert wait.network_ns + wait.sender_ns + wait.receiver_ns == wait.duration_ns
        assert min(wait.network_ns, wait.sender_ns, wait.receiver_ns) >= 0


def test_slow_start_is_the_networks_time_and_both_views_agree(scene: Scene) -> None:
    scene.handshake()
    scene.download(300_000)
    flow = flow_of(scene)
    wait = longest(flow, Cause.CWND_LIMITED)
    assert (wait.sender, wait.agreed) == ("server", True)
    assert wait.network_ns == pytest.approx(20_000_000, abs=500_000)
    assert wait.duration_ns == pytest.approx(wait.network_ns, abs=500_000)


def test_thinking_is_the_hosts_time(scene: Scene) -> None:
    scene.handshake()
    scene.download(3_000, think_ms=400)
    wait = longest(flow_of(scene), Cause.APP_LIMITED)
    assert wait.sender_ns is not None
    assert wait.receiver_ns is not None
    assert wait.sender_ns + wait.receiver_ns == pytest.approx(400_000_000, abs=5_000_000)


def test_a_timer_that_runs_for_a_lost_syn_is_the_networks_time(scene: Scene) -> None:
    scene.handshake(lost_syns=1)
    scene.download(3_000)
    wait = longest(flow_of(scene), Cause.HANDSHAKE)
    assert wait.network_ns == pytest.approx(1_020_000_000, abs=1_000_000)
    assert wait.sender_ns == pytest.approx(0, abs=1_000_000)


def test_a_closed_window_is_the_receivers_time(scene: Scene) -> None:
    scene.handshake()
    scene.client_sends(1_000)
    scene.server_sends(14_480)
    scene.client_acks(window=0)
    scene.wait_ms(150)
    scene.client_acks(window=60_000)
    scene.server_sends(14_480)
    scene.client_acks()
    wait = longest(flow_of(scene), Cause.ZERO_WINDOW)
    assert wait.receiver_ns == pytest.approx(140_000_000, abs=5_000_000)
