"""Downloads that lose data: now and then, at a queue, or to a policer."""

from pathlib import Path

from tests.scene import Scene
from tests.scene.network import Policer, Tap


def lossy(folder: Path, tap: Tap, *, losses: int = 5, mbit: float | None = None) -> Scene:
    """A download over 40 ms that loses a segment now and then; at that rate a queue stands."""
    scene = _over_40_ms(folder, tap, mbit)
    scene.download(6_000_000, tso=1, lose=tuple(range(1_000_000, 1_000_000 + losses * 900_000, 900_000)))
    scene.closes()
    return scene


def policed(folder: Path, tap: Tap, *, mbit: float) -> Scene:
    """A download over 40 ms through a policer of that rate, whose bucket holds half a second."""
    scene = _over_40_ms(folder, tap)
    scene.server.congestion.ssthresh = round(mbit * 125_000 * 0.04 / 1_448)
    scene.network.ways["server"].policer = Policer(mbit * 125_000, mbit * 125_000 / 2)
    scene.download(12_000_000, tso=1)
    scene.closes()
    return scene


def _over_40_ms(folder: Path, tap: Tap, mbit: float | None = None) -> Scene:
    scene = Scene(folder, tap=tap)
    scene.handshake(rtt_ms=40)
    scene.path(rtt_ms=40, server_mbit=mbit)
    return scene
