"""Whatever was done to a capture: one owner a nanosecond, and no sender waits for two things at once."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.properties.comparison import Flow
from tests.properties.stage import SCENES, TAPS, diagnosed, staged
from tests.properties.test_damaged import DAMAGES
from tests.properties.test_disturbed import REWRITES
from tests.scene.network import Tap


def breaches(flow: Flow) -> list[str]:
    """Properties that the flow breaks."""
    found = []
    if sum(flow["time_ns"].values()) != flow["end_ns"] - flow["start_ns"]:
        found.append("the ledger does not sum to the flow's length")
    for sender in ("client", "server"):
        own = [s for s in flow["stalls"] if s["sender"] == sender and s["cause"] != "handshake"]
        if any(one["end_ns"] > two["start_ns"] for one, two in pairwise(own)):
            found.append(f"stalls of the {sender} overlap")
        if any(not flow["start_ns"] <= s["start_ns"] <= s["end_ns"] <= flow["end_ns"] for s in own):
            found.append(f"a stall of the {sender} leaves the flow")
    if any(not 0 <= s["confidence"] <= 1 for s in flow["stalls"]):
        found.append("a confidence beyond 0 to 1")
    return found


@pytest.mark.parametrize("tap", TAPS)
@pytest.mark.parametrize("name", SCENES)
def test_time_is_accounted_for_after_every_rewrite(tmp_path: Path, name: str, tap: Tap) -> None:
    frames, _ = staged(name, tap)
    after = {what: breaches(diagnosed(frames, rewrite, tmp_path)) for what, rewrite in (REWRITES | DAMAGES).items()}
    assert {what: found for what, found in after.items() if found} == {}
