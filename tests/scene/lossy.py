"""A download that loses data, over a path with a queue or without."""

from pathlib import Path

from tests.scene import Scene
from tests.scene.network import Tap


def lossy(folder: Path, tap: Tap, *, losses: int = 5, mbit: float | None = None) -> Scene:
    """A download over 40 ms that loses a segment now and then; at that rate a queue stands."""
    scene = Scene(folder, tap=tap)
    scene.handshake(rtt_ms=40)
    scene.path(rtt_ms=40, server_mbit=mbit)
    scene.download(6_000_000, tso=1, lose=tuple(range(1_000_000, 1_000_000 + losses * 900_000, 900_000)))
    scene.closes()
    return scene
