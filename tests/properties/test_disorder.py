"""Packets that the capture holds too late: what shows that they had passed before, and what they must not change."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.properties.comparison import SURE, Flow, moved_points, wrong_and_sure
from tests.properties.frames import read_frames
from tests.properties.rewriting import Frames, Rewrite, delayed, in_order
from tests.properties.stage import CLIENT, SCENES, SERVER, TAPS, diagnosed, staged
from tests.scene import Reader, Scene
from tests.scene.network import Tap

MS = 1_000_000
NEARLY_A_MS = 950_000
FIRST_DATA = 3
"""Index of the first frame after a handshake."""
Choice = Callable[[Frames], Iterable[int]]


def held(choice: Choice, *, by_ns: int = NEARLY_A_MS) -> Rewrite:
    """The frames of these indices pass the tap so much later."""

    def rewrite(frames: Frames) -> Frames:
        late = set(choice(frames))
        stamped = [replace(frame, time_ns=frame.time_ns + by_ns * (at in late)) for at, frame in enumerate(frames)]
        return in_order(stamped)

    return rewrite


def data_of(address: str, frames: Frames) -> list[int]:
    """The indices of the frames with which that host sent payload."""
    return [at for at, frame in enumerate(frames) if frame.source[0] == address and frame.payload > 0]


def without_ip_ids(frames: Frames) -> Frames:
    return [frame.with_ip_id(0) for frame in frames]


def repeated_bytes(flow: Flow) -> int:
    return sum(way["retransmitted_bytes"] for way in flow["directions"].values())


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("tap", TAPS)
@pytest.mark.parametrize("name", SCENES)
def test_a_millisecond_of_disorder_makes_nobody_sure_of_a_wrong_cause(
    tmp_path: Path, name: str, tap: Tap, seed: int
) -> None:
    frames, before = staged(name, tap)
    assert wrong_and_sure(before, diagnosed(frames, delayed(0.05, seed=seed), tmp_path)) == []


@pytest.mark.parametrize("tap", TAPS)
@pytest.mark.parametrize("name", ["small_window", "chunks"])
def test_one_late_packet_moves_no_label_whichever_it_is(tmp_path: Path, name: str, tap: Tap) -> None:
    frames, before = staged(name, tap)
    for late in range(FIRST_DATA, len(frames)):
        after = diagnosed(frames, held(lambda _, late=late: [late]), tmp_path)  # type: ignore[misc]
        assert (moved_points(before, after) <= 2, repeated_bytes(after)) == (True, 0), late


def test_what_was_overtaken_in_the_first_flight_was_not_sent_again(tmp_path: Path) -> None:
    """No round trip is known yet, and without IP-IDs nothing but the order of events tells."""
    frames, before = staged("slow_start", "server")
    after = diagnosed(without_ip_ids(frames), held(lambda frames: data_of(SERVER, frames)[1:3]), tmp_path)
    assert repeated_bytes(after) == 0
    assert moved_points(before, after) <= 2


def test_what_fills_a_hole_that_was_asked_for_was_sent_again(tmp_path: Path) -> None:
    frames, before = staged("fast_retransmit", "client")
    after = diagnosed(without_ip_ids(frames), list, tmp_path)
    assert repeated_bytes(after) == repeated_bytes(before) > 0


def test_one_answer_that_seems_a_millisecond_sooner_is_no_shorter_path(tmp_path: Path) -> None:
    """The last packet of a burst passes late, and its ACK seems to come the sooner for it."""
    frames, before = staged("chunks", "server")
    last = data_of(SERVER, frames)[-1]
    after = diagnosed(frames, held(lambda _: [last]), tmp_path)
    assert abs(after["base_rtt_ns"] - before["base_rtt_ns"]) < 0.1 * MS


def test_answers_that_come_sooner_from_some_time_on_are_a_shorter_path(tmp_path: Path) -> None:
    frames, before = staged("chunks", "server")
    half = frames[len(frames) // 2].time_ns

    def shorter(seen: Frames) -> Frames:
        acks = [frame.time_ns > half and frame.source[0] == CLIENT for frame in seen]
        moved = [replace(frame, time_ns=frame.time_ns - MS * sooner) for frame, sooner in zip(seen, acks, strict=True)]
        return in_order(moved)

    after = diagnosed(frames, shorter, tmp_path)
    assert before["base_rtt_ns"] - after["base_rtt_ns"] > 0.9 * MS


def test_a_late_syn_ack_lengthens_one_leg_and_shortens_the_other(tmp_path: Path) -> None:
    frames, before = staged("chunks", "server")
    after = diagnosed(frames, held(lambda _: [1]), tmp_path)
    assert abs(after["base_rtt_ns"] - before["base_rtt_ns"]) < 0.1 * MS


def test_a_window_that_seems_full_while_acks_stand_late_is_no_sure_sign(scene: Scene, tmp_path: Path) -> None:
    """No sender sends beyond the window (RFC 9293 §3.8.6): the flight only seems to be twice the send buffer."""
    scene.handshake(rtt_ms=20, client_scale=7, client_window=32_768)
    scene.download(300_000, send_buffer=20_000, reader=Reader(buffer=32_768))
    frames = read_frames(scene.capture("server"))
    acks = [at for at, frame in enumerate(frames) if frame.source[0] == CLIENT and frame.payload == 0]
    after = diagnosed(frames, held(lambda _: acks[5:]), tmp_path)
    assert "rwnd-limited" not in {stall["cause"] for stall in after["stalls"] if stall["confidence"] >= SURE}
