"""Gaps of a capture in a flow, and the trust in its labels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scene import Scene
from tests.scene.files import write
from tests.scene.network import Tap
from tests.scene.packet import Packet
from tests.scene.verdict import flows_of

Packets = list[tuple[int, Packet]]

MS = 1_000_000


def trust(scene: Scene, tap: Tap | None = None, **how: Any) -> dict[str, Any]:
    trust: dict[str, Any] = scene.flow(tap, **how)["trust"]
    return trust


def transfer(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(300_000)


def rewritten(scene: Scene, change: Callable[[Packets], Packets]) -> dict[str, Any]:
    """The trust of the flow as a capture shows it whose packets went through `change`."""
    path: Path = scene.folder / "rewritten.pcap"
    write(path, change(scene.packets()))
    (flow,) = flows_of(path)
    trust: dict[str, Any] = flow["trust"]
    return trust


def test_a_whole_transfer_lacks_nothing(scene: Scene, tap: Tap) -> None:
    transfer(scene)
    seen = trust(scene, tap)
    assert (seen["level"], seen["reasons"], seen["handshake"]) == ("high", [], "complete")
    assert seen["window_scale"] == {"client": "known", "server": "known"}
    assert (seen["unseen_bytes"], seen["unseen_share"], seen["one_sided"]) == (0, 0.0, False)


@pytest.mark.parametrize(
    ("where", "words"),
    [("client", "at the client"), ("server", "at the server"), ("between", "between the ends")],
)
def test_where_it_was_taken_is_told_in_words(scene: Scene, where: Tap, words: str) -> None:
    transfer(scene)
    assert trust(scene, where)["vantage"] == words


def test_a_flow_that_began_before_the_capture_lacks_its_window_scale(scene: Scene, tap: Tap) -> None:
    transfer(scene)
    seen = trust(scene, tap, drop=range(1, 4))
    assert seen["handshake"] == "missing"
    assert (seen["level"], seen["reasons"][0]) == ("low", "handshake-missing")
    assert "scale-unknown" in seen["reasons"]
    assert seen["window_scale"] == {"client": "unknown", "server": "unknown"}


def test_of_a_small_flow_without_handshake_no_window_is_in_doubt(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(2_000)
    seen = trust(scene, tap, drop=range(1, 4))
    assert (seen["level"], seen["reasons"]) == ("medium", ["handshake-missing"])


def test_a_syn_ack_alone_tells_its_own_windows_scale(scene: Scene) -> None:
    transfer(scene)
    seen = trust(scene, drop=[1])
    assert (seen["handshake"], seen["reasons"]) == ("partial", ["handshake-partial", "scale-unknown"])
    assert seen["window_scale"] == {"client": "unknown", "server": "known"}


def test_a_connection_that_nobody_accepted_lacks_nothing(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syns=2, answered=False)
    seen = trust(scene, "client")
    assert (seen["handshake"], seen["level"], seen["unseen_share"]) == ("unfinished", "high", None)


def test_options_that_the_snap_length_cut_are_counted(scene: Scene) -> None:
    transfer(scene)
    seen = trust(scene, snap=60)
    assert seen["options_cut"] == len(scene.packets())
    assert "options-cut" in seen["reasons"]


def test_96_bytes_cut_no_option(scene: Scene) -> None:
    transfer(scene)
    assert trust(scene, snap=96)["options_cut"] == 0


def test_copies_are_removed_and_cost_no_trust(scene: Scene) -> None:
    transfer(scene)
    packets = scene.packets()
    seen = rewritten(
        scene, lambda packets: [copy for time, one in packets for copy in ((time, one), (time + 500, one))]
    )
    assert seen["duplicates_removed"] == len(packets)
    assert seen["level"] == "high"


def test_data_acknowledged_and_never_seen_is_counted(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(14_480)
    scene.client_acks()
    scene.server_sends(2_896, unseen=True)
    scene.server_sends(100_000)
    scene.client_acks()
    seen = trust(scene, tap)
    assert seen["unseen_bytes"] == 2_896
    assert seen["unseen_share"] == pytest.approx(2_896 / (147 + 14_480 + 2_896 + 100_000))
    assert (seen["level"], seen["reasons"]) == ("medium", ["data-unseen"])


def test_a_tenth_of_the_data_unseen_touches_most_rounds(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(147)
    scene.server_sends(14_480, unseen=True)
    scene.server_sends(100_000)
    scene.client_acks()
    seen = trust(scene)
    assert (seen["level"], seen["reasons"]) == ("low", ["data-unseen"])


def test_data_that_the_network_lost_and_its_sender_repeated_is_not_missing(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000, lose=(20_000,))
    assert trust(scene, "client")["unseen_bytes"] == 0


def test_frames_of_several_segments_are_counted_where_they_are_seen(scene: Scene) -> None:
    transfer(scene)
    at_sender, at_receiver = trust(scene, "server"), trust(scene, "client")
    assert at_sender["offloaded_frames"]["server"] > 50
    assert at_receiver["offloaded_frames"] == {"client": 0, "server": 0}
    assert (at_sender["level"], at_receiver["level"]) == ("high", "high")


def set_back(packets: Packets) -> Packets:
    half = len(packets) // 2
    return packets[:half] + [(time - 30 * MS, packet) for time, packet in packets[half:]]


def test_a_clock_that_is_set_back_is_one_step(scene: Scene) -> None:
    transfer(scene)
    seen = rewritten(scene, set_back)
    assert (seen["clock_steps"], seen["level"], seen["reasons"]) == (1, "medium", ["clock-stepped"])


def test_neighbours_stored_in_the_wrong_order_are_no_step(scene: Scene) -> None:
    transfer(scene)
    seen = rewritten(scene, lambda packets: [*packets[:20], packets[21], packets[20], *packets[22:]])
    assert (seen["clock_steps"], seen["level"]) == (0, "high")


def test_one_end_alone_tells_little(scene: Scene) -> None:
    transfer(scene)
    seen = rewritten(scene, lambda packets: [pair for pair in packets if pair[1].source.port != 80])
    assert seen["one_sided"]
    assert (seen["level"], seen["reasons"][0]) == ("low", "one-sided")
    assert "data-unseen" not in seen["reasons"]


def lacks_between(scene: Scene, after_ms: float) -> int:
    """Bytes that the capture lacks: it begins with an ACK, then two segments pass unseen, then more data."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(2_800)
    scene.client_acks()
    before = len(scene.packets("client")) - 1
    scene.wait_ms(after_ms)
    scene.server_sends(2_800, unseen=True)
    scene.server_sends(2_800)
    scene.client_acks()
    lacking: int = trust(scene, "client", drop=range(1, before + 1))["unseen_bytes"]
    return lacking


def test_what_left_just_before_the_capture_is_not_missing(scene: Scene) -> None:
    assert lacks_between(scene, 5) == 0


def test_nothing_stays_in_flight_for_longer_than_a_timer_and_its_answer(scene: Scene) -> None:
    assert lacks_between(scene, 3_000) == 2_800
