"""Subjects of the properties: the 7 ms trace, and the gallery's scenes at either end, each diagnosed once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.properties.comparison import Flow, flow_of
from tests.properties.frames import Format, read_frames, write_frames
from tests.properties.rewriting import Frames, Rewrite
from tests.scene import Scene
from tests.scene.gallery import EVERYTHING, LOSSLESS, ROUND_TRIP_MS
from tests.scene.network import Tap
from tests.scene.plan import Reader

FIXTURES = Path(__file__).parents[2] / "fixtures"
SEVEN_MS_TRACE = FIXTURES / "slowstart-rtt7ms-512k.pcap"
SEGMENT = 1_448
"""Payload of a full segment in the trace and in the scenes."""
ONE_WAY_NS = ROUND_TRIP_MS * 500_000
CLIENT, SERVER = "10.0.0.1", "10.0.0.2"


def chunks(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.request()
    scene.server_writes(*((50.0 * turn, 10_000) for turn in range(20)), tso=6)
    scene.closes()


def long_window_limited(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS, client_scale=7, client_window=32_768)
    scene.download(900_000, reader=Reader(buffer=32_768))
    scene.closes()


def long_send_buffer(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    scene.download(900_000, send_buffer=46_080)
    scene.closes()


def long_restarts(scene: Scene) -> None:
    scene.handshake(rtt_ms=ROUND_TRIP_MS)
    for _ in range(3):
        scene.download(400_000)
        scene.wait_ms(1_500)
    scene.download(400_000)
    scene.closes()


SHORT = ("thinking", "nagle")
"""Scenes with fewer than 30 packets: after a hole or a late start nothing is left to diagnose."""
LONG: dict[str, Callable[[Scene], None]] = {
    act.__name__: act for act in (chunks, long_window_limited, long_send_buffer, long_restarts)
}
"""Enough packets for a loss of 0.5 % to hit several."""
SCENES = EVERYTHING | LONG
WITHOUT_LOSS = LOSSLESS | LONG
TAPS: tuple[Tap, ...] = ("server", "client")


@cache
def staged(name: str, tap: Tap) -> tuple[Frames, Flow]:
    """The frames of a scene as that tap saw them, and what the report says of them."""
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder), tap=tap)
        SCENES[name](scene)
        path = scene.capture()
        frames = read_frames(path)
        return frames, flow_of(write_frames(Path(folder) / "plain.pcap", frames))


@cache
def traced() -> tuple[Frames, Flow]:
    """The same for the 7 ms trace."""
    return read_frames(SEVEN_MS_TRACE), flow_of(SEVEN_MS_TRACE)


def diagnosed(frames: Frames, rewrite: Rewrite, folder: Path, *, kind: Format = "pcap") -> Flow:
    """The report after the rewrite."""
    return flow_of(write_frames(folder / f"rewritten.{kind}", rewrite(frames), kind=kind))
