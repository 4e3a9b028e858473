"""Confidence falls where the capture lacks packets; labels do not go wrong."""

from pathlib import Path

import pytest

from tests.properties.comparison import SURE, Flow, mean_confidence, wrong_and_sure, wrongly_labelled
from tests.properties.damage import from_share, losing, with_hole, without_handshake, without_syn, without_syn_ack
from tests.properties.findings import DAMAGED, cases, trace_cases
from tests.properties.rewriting import Rewrite, duplicated
from tests.properties.stage import SCENES, SERVER, SHORT, TAPS, diagnosed, staged, traced
from tests.scene.network import Tap

DAMAGES: dict[str, Rewrite] = {
    "no SYN": without_syn,
    "no SYN-ACK": without_syn_ack,
    "no handshake": without_handshake,
    "from a tenth on": from_share(0.1),
    "from a third on": from_share(0.33),
    **{f"0.5 % lost, seed {seed}": losing(0.005, seed=seed) for seed in range(1, 5)},
    **{f"2 % lost, seed {seed}": losing(0.02, seed=seed) for seed in range(1, 3)},
    "a hole of 3": with_hole(3, at=0.5),
    "a hole of 20": with_hole(20, at=0.5),
}
LONGER = [name for name in SCENES if name not in SHORT]
HANDSHAKE = ("no SYN", "no SYN-ACK", "no handshake")


def is_sound(before: Flow, after: Flow) -> bool:
    """Nothing is wrong and sure, and where a label is wrong at all the report is less sure than before."""
    wrong = wrongly_labelled(before, after)
    return not wrong_and_sure(before, after) and (not wrong or mean_confidence(after) < mean_confidence(before))


@pytest.mark.parametrize("damage", trace_cases(DAMAGED, DAMAGES))
def test_the_7_ms_trace_is_not_wrong_and_sure(tmp_path: Path, damage: str) -> None:
    frames, before = traced()
    assert is_sound(before, diagnosed(frames, DAMAGES[damage], tmp_path))


@pytest.mark.parametrize(
    ("name", "tap", "damage"), [*cases(DAMAGED, SHORT, TAPS, HANDSHAKE), *cases(DAMAGED, LONGER, TAPS, DAMAGES)]
)
def test_a_scene_is_not_wrong_and_sure(tmp_path: Path, name: str, tap: Tap, damage: str) -> None:
    frames, before = staged(name, tap)
    assert is_sound(before, diagnosed(frames, DAMAGES[damage], tmp_path))


@pytest.mark.parametrize("tap", TAPS)
def test_a_packet_lost_inside_a_burst_leaves_the_idle_after_it_an_idle(tmp_path: Path, tap: Tap) -> None:
    frames, before = staged("long_restarts", tap)
    idle = max(before["stalls"], key=lambda stall: stall["duration_ns"])
    sent = [i for i, f in enumerate(frames) if f.source[0] == SERVER and f.payload and f.time_ns <= idle["start_ns"]]
    inside = sent[-4]
    assert idle["cause"] == "app-limited"
    after = diagnosed(frames, lambda all_frames: all_frames[:inside] + all_frames[inside + 1 :], tmp_path)
    where = (idle["start_ns"], idle["sender"])
    (same,) = [stall for stall in after["stalls"] if (stall["start_ns"], stall["sender"]) == where]
    assert same["cause"] == "app-limited"
    assert same["duration_ns"] == idle["duration_ns"]


@pytest.mark.parametrize("damage", ["no SYN-ACK", "copies"])
def test_a_handshake_that_was_answered_at_once_is_never_called_lossy(tmp_path: Path, damage: str) -> None:
    frames, before = traced()
    after = diagnosed(frames, duplicated(1.0) if damage == "copies" else DAMAGES[damage], tmp_path)
    details = [stall["detail"] for flow in (before, after) for stall in flow["stalls"] if stall["cause"] == "handshake"]
    assert set(details) <= {None}


@pytest.mark.parametrize("tap", TAPS)
def test_a_window_scale_is_inferred_where_flights_fill_the_window_again_and_again(tmp_path: Path, tap: Tap) -> None:
    frames, before = staged("long_window_limited", tap)
    after = diagnosed(frames, DAMAGES["no handshake"], tmp_path)
    window = [stall for stall in after["stalls"] if stall["cause"] == "rwnd-limited"]
    assert len(window) > 0.5 * len([stall for stall in before["stalls"] if stall["cause"] == "rwnd-limited"])
    assert all(stall["confidence"] < SURE for stall in window)
