"""The full segment, learnt from rows of one size just below the announced MSS."""

from tests.causes.triple import SYNS, causes, fires, look_alike, near_miss
from tests.scene import Scene
from tests.scene.network import Tap

RESERVED = 28
"""Bytes of options that a sender leaves room for although it sends none of them."""


@fires
def test_a_sender_that_leaves_room_for_options_fills_shorter_segments(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.mss -= RESERVED
    scene.download(400_000, tso=1)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_448 - RESERVED
    assert causes(scene, tap) == ["cwnd-limited"]


@fires
def test_offloaded_frames_of_such_segments_show_their_size(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.mss -= RESERVED
    scene.server_transfers(400_000 // (1_448 - RESERVED) * (1_448 - RESERVED), tso=4)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_448 - RESERVED


@fires
def test_a_sender_fills_what_its_peer_accepts_although_it_accepts_less_itself(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, server_mss=1_440)
    scene.server.mss = 1_460
    scene.download(40_000, tso=1)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_448


@fires
def test_a_sender_that_accepts_less_than_its_peer_leaves_room_below_its_own_size(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, server_mss=536)
    scene.server.mss = 536 - 8
    scene.download(40_000, tso=1)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 524 - 8


@fires
def test_timestamps_in_the_answer_alone_take_no_room(scene: Scene, tap: Tap) -> None:
    """RFC 7323 §3.2: both SYNs must have them. The sender leaves room for another option of four bytes."""
    scene.handshake(rtt_ms=20, client_timestamps=False)
    scene.server.timestamps = False
    scene.server.mss -= 4
    scene.download(400_000, tso=1)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_456
    assert causes(scene, tap) == ["cwnd-limited"]


@fires
def test_offloaded_frames_show_it_without_the_handshake(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, mss=1_420)
    scene.download(100 * 1_408, tso=2)
    assert scene.flow(tap, drop=SYNS)["directions"]["server"]["mss_bytes"] == 1_408


@fires
def test_segments_above_the_default_show_their_size_where_the_peer_names_none(scene: Scene, tap: Tap) -> None:
    """RFC 9293 §3.7.1: without the option a sender assumes 536 bytes, unless it is told otherwise."""
    scene.client.names_mss = False
    scene.handshake(rtt_ms=20)
    scene.server.mss = 1_400
    scene.download(100_000, tso=1)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_388
    assert causes(scene, tap) == ["cwnd-limited"]


@near_miss
def test_offloaded_frames_of_the_default_keep_its_size(scene: Scene, tap: Tap) -> None:
    scene.client.names_mss = False
    scene.handshake(rtt_ms=20)
    scene.server.mss = 536
    scene.download(524 * 60, tso=2)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 524


@look_alike
def test_a_few_records_above_the_default_are_the_applications(scene: Scene, tap: Tap) -> None:
    scene.client.names_mss = False
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((30.0 * turn, 700) for turn in range(5)), nodelay=True)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 524


@near_miss
def test_two_segments_of_a_size_show_nothing(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server.mss -= RESERVED
    scene.download(2 * (1_448 - RESERVED), tso=1)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_448


@look_alike
def test_records_of_one_size_are_the_applications(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.server_writes(*((30.0 * turn, 1_300) for turn in range(6)), nodelay=True)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_448


@look_alike
def test_records_far_below_a_small_size_are_the_applications(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, server_mss=536)
    scene.server_writes(*((30.0 * turn, 480) for turn in range(6)), nodelay=True)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 524


@fires
def test_a_path_may_carry_more_than_a_sender_accepts_and_less_than_its_peer(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, server_mss=1_380)
    scene.server.mss = 1_430
    scene.download(30_000)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_418


@near_miss
def test_a_few_such_segments_may_be_writes(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20, server_mss=1_380)
    scene.server.mss = 1_430
    scene.download(5_000)
    assert scene.flow(tap)["directions"]["server"]["mss_bytes"] == 1_368
