"""Properties of any two captures of one dialogue."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings

from tcpstall.pair import pair
from tests.pair.stage import captured
from tests.scene import Scene
from tests.scene.strategies import acts


@settings(max_examples=25)
@given(act=acts(lossy=True))
def test_each_packet_that_was_seen_has_one_fate_and_the_lost_ones_are_the_networks(
    act: Callable[[Scene], None],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        act(scene)
        ends = pair(captured(scene, "client"), captured(scene, "server"))
        lost = sum(
            piece.lost and piece.packet.payload > 0 for passage in scene.network.passages for piece in passage.pieces
        )
        told = 0
        for flow in ends.flows:
            for sender in ("client", "server"):
                way = flow.way(sender)
                assert way["seen_packets"] == way["matched_packets"] + way["duplicated_packets"]
                assert way["missed_by_sending_tap"] == way["missed_by_receiving_tap"] == 0
                told += sum(
                    -(-(event.bytes - 1) // 1_460)  # a FIN counts one; no timestamps, no 12 bytes less
                    for event in ends.events
                    if event.kind == "lost" and event.sender == sender and event.bytes > 1
                )
            for wait in flow.both.waits:
                if wait.near and wait.network_ns is not None and wait.sender_ns is not None:
                    assert wait.network_ns + wait.sender_ns + (wait.receiver_ns or 0) == wait.duration_ns
                    assert min(wait.network_ns, wait.sender_ns, wait.receiver_ns or 0) >= 0
        assert told <= lost


@settings(max_examples=15)
@given(act=acts(lossy=True))
def test_a_capture_paired_with_itself_lost_nothing(act: Callable[[Scene], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        act(scene)
        own = captured(scene, "server")
        ends = pair(own, own)
        assert not [event for event in ends.events if event.kind in ("lost", "missed", "unsent", "reordered")]
        assert all(wait.agreed for flow in ends.flows for wait in flow.both.waits)
