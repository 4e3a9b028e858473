"""The detector's mind on one page: cause × loss × round trip × tap → the labels with most of the sender's time."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.goldens.conftest import Golden
from tests.scene import Scene
from tests.scene.network import Tap
from tests.scene.plan import Reader
from tests.scene.scene import SYN_TIMEOUT_MS

ROUND_TRIPS_MS = (1, 20, 150)
TAPS: tuple[Tap, ...] = ("client", "between", "server")

SIZE = 60_000
LOSSES: dict[str, tuple[int, ...]] = {"no loss": (), "a segment lost": (SIZE // 3,), "the tail lost": (SIZE - 1,)}

Act = Callable[[Scene, tuple[int, ...]], None]


def handshake(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake(lost_syns=1)
    scene.download(SIZE, lose=lose)


def cwnd_limited(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.download(SIZE, lose=lose)


def rwnd_limited(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake(client_scale=0, client_window=8_688)
    scene.download(SIZE, reader=Reader(buffer=8_688), lose=lose)


def zero_window(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.download(2 * SIZE, reader=Reader(buffer=65_536, pauses=((SIZE // 2, 900),)), lose=lose)


def sndbuf_limited(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.download(2 * SIZE, tso=1, send_buffer=16_000, lose=lose)


def idle_restart(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.download(3 * SIZE)
    scene.wait_ms(3_000)
    scene.download(3 * SIZE, lose=lose)


def app_limited(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.download(5_000, think_ms=1_000)
    scene.download(SIZE, think_ms=1_000, lose=lose)


def nagle(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.request()
    for _ in range(4):
        scene.server_writes((0, 100), (0.1, 100))
        scene.client_sends(50)
    scene.server_transfers(SIZE, lose=lose)


def delayed_ack(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.request()
    for _ in range(4):
        scene.server_writes((0, 100), (0.1, 100), delayed_ack_ms=200)
        scene.client_sends(50)
    scene.server_transfers(SIZE, lose=lose)


def pacing(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    scene.download(SIZE, pace=60_000.0, lose=lose)


def burst_limited(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.handshake()
    for _ in range(8):
        scene.download(9_356, request=21, burst_cap=6)
    scene.download(SIZE, burst_cap=6, lose=lose)


def bandwidth_limited(scene: Scene, lose: tuple[int, ...]) -> None:
    scene.network.ways["server"].rate = 125_000
    scene.handshake()
    scene.download(3 * SIZE, lose=lose)


ACTS: dict[str, Act] = {
    act.__name__.replace("_", "-"): act
    for act in (
        handshake,
        cwnd_limited,
        rwnd_limited,
        zero_window,
        sndbuf_limited,
        idle_restart,
        app_limited,
        nagle,
        delayed_ack,
        pacing,
        burst_limited,
        bandwidth_limited,
    )
}


def labels(scene: Scene, tap: Tap) -> str:
    """The causes of the server's waits, the longest first; the handshake's only where a SYN was repeated."""
    lost = scene.lost_ms("server", tap)
    if lost["handshake"] < SYN_TIMEOUT_MS:
        del lost["handshake"]
    return " > ".join(cause for cause, _ in lost.most_common()) or "none"


def cells(name: str, act: Act, folder: Path) -> Iterator[str]:
    """A line a cell."""
    for loss, lose in LOSSES.items():
        for rtt_ms in ROUND_TRIPS_MS:
            scene = Scene(folder)
            scene.path(rtt_ms=rtt_ms)
            act(scene, lose)
            scene.closes()
            for tap in TAPS:
                yield f"{name:<17}  {loss:<14}  {rtt_ms:>3} ms  at {tap:<7}  {labels(scene, tap)}\n"


def test_the_matrix_of_causes_is_the_known_one(golden: Golden, tmp_path: Path) -> None:
    golden("matrix.txt", "".join(cell for name, act in ACTS.items() for cell in cells(name, act, tmp_path)))


def test_a_moved_cell_is_shown_with_what_it_was(golden: Golden, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-goldens"):
        pytest.skip("goldens are written, not compared")
    known = Path(__file__).with_name("matrix.txt").read_text("utf-8")
    with pytest.raises(AssertionError, match=r"1 line moved.*--update-goldens\n.*cwnd-limited.*\n +now: .*pacing"):
        golden("matrix.txt", known.replace("> cwnd-limited", "> pacing", 1))
