"""A tail-loss probe that nothing called for: the data had arrived, and its ACK was only late."""

import pytest

from tests.scene import Scene, Stall, between
from tests.scene.network import Tap

SEGMENT = 1_448
WINDOW = 10 * SEGMENT


def fills_the_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_acks()
    for _ in range(4):
        scene.client_acks(window=WINDOW)
        scene.server_sends(WINDOW, push=False)


def fills_the_window_and_probes(scene: Scene, then_ms: float, left: int = 0) -> None:
    """The receiver reads late: its ACK comes so long after the probe, and says how much window is left."""
    fills_the_window(scene)
    scene.wait_ms(46)
    scene.server_repeats(39 * SEGMENT, SEGMENT)
    scene.wait_ms(then_ms)
    scene.client_acks(window=left or WINDOW, sack=((39 * SEGMENT, 40 * SEGMENT),))
    scene.server_sends(left or WINDOW)


@pytest.mark.parametrize("tap", ["server", "client"])
@pytest.mark.parametrize("left", [0, 1_000], ids=["window-opens", "less-than-a-segment-left"])
def test_after_the_probe_the_window_holds_the_sender_as_before(scene: Scene, tap: Tap, left: int) -> None:
    fills_the_window_and_probes(scene, 30, left)
    *_, probe, window = scene.stalls("server", tap, over_ms=15)
    assert (probe.cause, window.cause) == ("retransmission", "rwnd-limited")
    assert window == Stall("rwnd-limited", between(28, 42), window.detail)
    rows = [row for row in scene.flow(tap)["stalls"] if row["cause"] == "rwnd-limited"]
    assert rows[-1]["confidence"] <= 0.75


def test_a_probe_that_repaired_a_loss_is_waited_for_until_its_ack(scene: Scene) -> None:
    fills_the_window(scene)
    scene.client_acks(window=WINDOW)
    scene.server_sends(WINDOW - SEGMENT, push=False)
    scene.server_sends(SEGMENT, lost=True, push=False)
    scene.client_acks(window=WINDOW)
    scene.wait_ms(46)
    scene.server_repeats(49 * SEGMENT, SEGMENT)
    scene.client_acks(window=WINDOW)
    scene.server_sends(WINDOW)
    assert scene.stalls("server", over_ms=15)[-1] == Stall("retransmission", between(60, 110), "tail-loss")


@pytest.mark.parametrize(("late_ms", "confidence"), [(0, 0.9), (60, 0.75)], ids=["at-once", "late"])
def test_an_ack_long_after_the_probe_may_be_the_originals(scene: Scene, late_ms: float, confidence: float) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_acks()
    scene.server_sends(4_000)
    scene.wait_ms(46)
    scene.server_repeats(2_896, 1_104)
    scene.wait_ms(late_ms)
    scene.client_acks()
    scene.server_sends(5_000)
    probe = next(row for row in scene.flow()["stalls"] if row.get("detail") == "tail-loss")
    assert probe["confidence"] == pytest.approx(confidence)


@pytest.mark.parametrize(("size", "cause"), [(103, "app-limited"), (2 * SEGMENT, "retransmission")])
def test_a_vain_probe_of_a_finished_answer_holds_nobody(scene: Scene, size: int, cause: str) -> None:
    """Of two requests the second took its time. The ACK of the first answer came late, and met the probe on its way."""
    scene.handshake(rtt_ms=7)
    scene.download(5_000)
    scene.client_sends(74)
    scene.client_sends(659)
    scene.server_sends(size)
    heard, tail = scene.server.heard_ns, min(size, SEGMENT)
    scene.client.now_ns = scene.client.acts_ns() + 52_000_000
    scene.client_acks()
    acked = scene.client.now_ns
    scene.server.heard_ns, scene.server.now_ns = heard, acked + 2_000_000
    scene.server_repeats(5_000 + size - tail, tail)
    scene.client_acks(sack=((5_000 + size - tail, 5_000 + size),))
    scene.server.heard_ns, scene.server.now_ns = heard, acked + 5_500_000
    scene.server_sends(817)
    scene.client_acks()
    scene.closes()
    assert [stall.cause for stall in scene.stalls("server", "client", over_ms=10)] == [cause]
