"""Each change does what it says: the scene with the change really made takes as long as predicted."""

import pytest

from tcpstall.whatif import NAMES, whatif
from tests.scene import Scene
from tests.scene.plan import Reader
from tests.whatif.played import changes, played

COVERED = {
    "initcwnd", "sndbuf", "rcvbuf", "slow-start-after-idle", "rtt", "rate", "nodelay", "delayed-ack",
    "reuse-connection", "loss", "think", "queue", "queue-packets", "cc",
}  # fmt: skip


def test_each_name_has_a_test_here() -> None:
    assert set(NAMES) == COVERED


def test_initcwnd_lets_a_response_go_at_once(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.download(30_000)
    scene.closes()
    assert played(scene, "initcwnd=10").after_ms == pytest.approx(300, abs=3)
    assert played(scene, "initcwnd=21").after_ms == pytest.approx(200, abs=3)


def test_beyond_the_peers_first_window_initcwnd_buys_nothing(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, client_window=8_688)
    scene.download(30_000, reader=Reader(buffer=8_688))
    scene.closes()
    assert played(scene, "initcwnd=100").outcome.saved_ns == 0


def test_sndbuf(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, tso=1, send_buffer=20_000)
    scene.closes()
    assert played(scene, "sndbuf=auto").after_ms < 0.5 * played(scene).captured_ms
    half, double = (played(scene, f"sndbuf={size}K").after_ms for size in (8, 32))
    assert half > 1.5 * double


def test_rcvbuf(scene: Scene) -> None:
    scene.handshake(rtt_ms=40, client_window=8_688)
    scene.download(150_000, reader=Reader(buffer=8_688))
    scene.closes()
    found = played(scene, "rcvbuf=auto")
    assert found.after_ms < 0.4 * found.captured_ms
    assert found.outcome.transfer.high_ns > found.outcome.transfer.expected_ns + 100e6, "nothing beyond 8 KB was tested"


def test_slow_start_after_idle(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000)
    scene.wait_ms(3_000)
    scene.download(400_000)
    scene.closes()
    found = played(scene, "slow-start-after-idle=0")
    first, second = (exchange.expected_ns / 1e6 for exchange in found.outcome.exchanges)
    assert second < first - 60
    assert played(scene, "slow-start-after-idle=1").outcome.saved_ns == 0


@pytest.mark.parametrize(("rtt_ms", "expected_ms"), [(1, 3), (100, 300)])
def test_rtt_counts_once_for_each_round(scene: Scene, rtt_ms: int, expected_ms: float) -> None:
    scene.handshake(rtt_ms=10)
    scene.download(30_000)
    scene.closes()
    assert played(scene, f"rtt={rtt_ms}ms").after_ms == pytest.approx(expected_ms, rel=0.05, abs=0.4)


def test_a_service_of_2_ms_that_moves_100_ms_away_does_not_take_102(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.5)
    scene.download(30_000)
    scene.closes()
    found = played(scene, "rtt=100ms")
    assert found.captured_ms < 2.5
    assert found.after_ms == pytest.approx(300, abs=3)


def test_rate(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(1_000_000)
    scene.closes()
    seconds = 1_000_000 * 8 * 1538 / 1448 / 10e6
    assert played(scene, "rate=10Mbit").after_ms == pytest.approx(1e3 * seconds, rel=0.1)


def conversation(scene: Scene) -> None:
    """Requests in two small writes, the second held by Nagle's rule until the delayed ACK of the first."""
    scene.handshake(rtt_ms=10)
    for _ in range(6):
        scene.client_sends(100)
        scene.wait_ms(50)
        scene.server_acks()
        scene.client_sends(100)
        scene.server_sends(200)
        scene.client_acks()
    scene.closes()


def test_nodelay(scene: Scene) -> None:
    conversation(scene)
    found = played(scene, "nodelay=1", tap="client")
    assert found.outcome.saved_ns > 100e6


def test_delayed_ack(scene: Scene) -> None:
    conversation(scene)
    assert played(scene, "delayed-ack=0", tap="client").outcome.saved_ns > 100e6


def test_30_kilobytes_each_way_on_a_used_connection_take_one_or_two_round_trips_instead_of_four(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.client_transfers(30_000)
    scene.server_transfers(30_000)
    scene.closes()
    found = played(scene, "reuse-connection=1")
    assert found.captured_ms == pytest.approx(400, abs=3)
    assert found.outcome.transfer.low_ns <= 101e6
    assert found.outcome.transfer.high_ns >= 299e6


def test_reuse_saves_the_handshake_at_least(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.download(1_000)
    scene.closes()
    assert played(scene, "reuse-connection=1").after_ms == pytest.approx(100, abs=2)


def test_of_several_connections_the_first_stays_new(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.download(1_000)
    scene.closes()
    other = Scene(scene.folder, client_port=40_001, start_ns=scene.start_ns + 5_000_000_000)
    other.handshake(rtt_ms=100)
    other.download(1_000)
    other.closes()
    found = whatif(scene.capture(beside=[other]), flows=(0, 1), changes=[changes("reuse-connection=1")])
    saved = [forecast.outcomes[0].saved_ns / 1e6 for forecast in found.forecasts]
    assert saved == [0, pytest.approx(100, abs=2)]
    assert found.totals[0].saved_ns / 1e6 == pytest.approx(100, abs=2)


def test_loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000, lose=(199_900,))
    scene.closes()
    found = played(scene, "loss=0")
    assert found.outcome.saved_ns > 30e6


def test_loss_by_chance_slows_a_transfer_the_more_the_more_is_lost(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000)
    scene.closes()
    one, five = (played(scene, f"loss={share}%").outcome.transfer for share in (1, 5))
    whole = played(scene).captured_ms * 1e6
    assert whole < one.expected_ns < five.expected_ns
    assert one.low_ns < 1.1 * whole, "one in fifty such transfers loses nothing"
    assert one.high_ns > 1.3 * one.expected_ns
    assert one == played(scene, "loss=1%").outcome.transfer, "the dice fall alike each time"
    assert played(scene, "client.loss=5%").after_ms == pytest.approx(whole / 1e6, rel=0.02), (
        "the client sends one packet"
    )


def narrow(scene: Scene) -> None:
    """A download that fills a queue before 10 Mbit/s."""
    scene.path(rtt_ms=20, server_mbit=10)
    scene.handshake()
    scene.download(1_000_000)
    scene.closes()


@pytest.mark.parametrize("shallow", ["queue=12K", "queue-packets=8"])
def test_a_shallow_queue_loses_what_a_deep_one_holds(scene: Scene, shallow: str) -> None:
    narrow(scene)
    deep, small = (played(scene, text, tap="server").after_ms for text in ("queue=4M", shallow))
    assert deep == pytest.approx(played(scene, tap="server").replayed_ms, rel=0.02)
    assert small > 1.05 * deep


def test_reno_goes_on_doubling_where_cubic_leaves_slow_start(scene: Scene) -> None:
    """Before the first loss both grow alike but for HyStart, which no window of 30 packets at 20 ms meets."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    scene.closes()
    assert played(scene, "cc=reno").outcome.saved_ns == 0
    assert played(scene, "cc=cubic").outcome.saved_ns == 0


def test_a_change_of_one_end_leaves_the_other_alone(scene: Scene) -> None:
    scene.handshake(rtt_ms=100)
    scene.download(30_000)
    scene.closes()
    assert played(scene, "server.initcwnd=21").after_ms == pytest.approx(200, abs=3)
    assert played(scene, "client.initcwnd=21").after_ms == pytest.approx(300, abs=3)


def test_think(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(1_000, think_ms=300)
    scene.closes()
    assert played(scene, "think=0").after_ms == pytest.approx(40, abs=2)
    assert played(scene, "think=100ms").after_ms == pytest.approx(140, abs=2)


def test_several_are_made_together(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(30_000, think_ms=300)
    scene.closes()
    assert played(scene, "think=0", "rtt=100ms", "initcwnd=40").after_ms == pytest.approx(200, abs=3)


def test_without_a_change_each_remedy_is_tried_the_best_first(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(400_000, tso=1, send_buffer=20_000)
    scene.closes()
    (forecast,) = whatif(scene.capture()).forecasts
    tried = [outcome.changes[0].name for outcome in forecast.outcomes]
    assert tried[0] == "sndbuf"
    assert "reuse-connection" in tried
    saved = [outcome.saved_ns for outcome in forecast.outcomes]
    assert saved == sorted(saved, reverse=True)
    assert all(outcome.suggested for outcome in forecast.outcomes)
