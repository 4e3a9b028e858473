"""Predictions that a capture does not support are refused."""

import json
import struct
from pathlib import Path

import pytest

from tcpstall import _core
from tcpstall.report.whatif.words import REFUSALS
from tcpstall.whatif import whatif
from tests.scene import Scene
from tests.whatif.played import changes, played


def refused(scene: Scene, *drop: int) -> str | None:
    forecast = played(scene, "initcwnd=40", drop=drop).forecast
    assert not forecast.outcomes
    return forecast.refused


@pytest.fixture
def download(scene: Scene) -> Scene:
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    scene.closes()
    return scene


@pytest.mark.parametrize("missing", [(1,), (2,), (1, 2, 3)], ids=str)
def test_without_the_whole_handshake(download: Scene, missing: tuple[int, ...]) -> None:
    assert refused(download, *missing) == "no-handshake"


def test_with_one_direction_alone(download: Scene) -> None:
    packets = download.packets()
    servers = [number for number, (_, packet) in enumerate(packets, 1) if packet.source.port == 80]
    assert refused(download, *servers) == "one-direction"


def test_with_packets_missing(download: Scene) -> None:
    packets = download.packets()
    data = [number for number, (_, packet) in enumerate(packets, 1) if packet.payload > 1_000]
    assert refused(download, data[10]) == "capture-gaps"


def test_a_damaged_record_may_have_held_any_packet(download: Scene) -> None:
    """An ACK was lost to the damage: no acknowledged data are missing, and what else is missing nobody knows."""
    numbers = [at for at, (_, packet) in enumerate(download.packets()) if packet.payload == 0]
    capture = download.capture()
    data = bytearray(capture.read_bytes())
    record = 24
    for _ in range(numbers[8]):
        record += 16 + struct.unpack_from("<I", data, record + 8)[0]
    struct.pack_into("<I", data, record + 8, 0xFFFFFFFF)
    capture.write_bytes(data)
    (forecast,) = whatif(capture, changes=[changes("initcwnd=40")], strict=False).forecasts
    assert forecast.refused == "packets-left-out"


def test_without_data(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.closes()
    assert refused(scene) in {"no-data", "no-round-trip"}


def test_where_the_model_does_not_fit() -> None:
    """The network lost the ACKs of a whole round trip, which a capture shows but the model does not play."""
    lab = Path(__file__).parents[2] / "fixtures" / "lab"
    found = whatif(lab / "zero-window-dead" / "sender.pcap", changes=[changes("rtt=50ms")])
    (forecast,) = found.forecasts
    assert forecast.refused == "does-not-fit"
    assert forecast.captured is not None
    assert not forecast.outcomes
    assert found.totals == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [("queue=64K", "no-bottleneck"), ("server.queue-packets=10", "no-bottleneck")],
)
def test_changes_of_which_the_capture_says_nothing(download: Scene, text: str, reason: str) -> None:
    (unpredicted,) = played(download, text).forecast.unpredicted
    assert unpredicted.refused == reason


def test_a_larger_burst_into_a_queue_of_unknown_depth_is_not_promised_as_a_gain(scene: Scene) -> None:
    scene.path(rtt_ms=30, server_mbit=10)
    scene.handshake()
    for _ in range(4):
        scene.download(80_000)
        scene.wait_ms(900)
    scene.closes()
    (unpredicted,) = played(scene, "initcwnd=60", tap="server").forecast.unpredicted
    assert unpredicted.refused == "hidden-queue"


def test_a_queue_before_a_link_that_is_set_has_a_prediction(download: Scene) -> None:
    assert played(download, "rate=10Mbit", "queue=64K").forecast.outcomes


def test_a_larger_window_under_a_buffer_that_large_frames_fill(scene: Scene) -> None:
    """Two flights of large frames differ, even where one level of the buffer explains the captured waits."""
    scene.handshake(rtt_ms=20)
    scene.download(600_000, tso=16, send_buffer=40_000)
    scene.wait_ms(800)
    scene.download(600_000, tso=16, send_buffer=40_000)
    scene.closes()
    for text in ("slow-start-after-idle=0", "initcwnd=40"):
        (unpredicted,) = played(scene, text).forecast.unpredicted
        assert unpredicted.refused == "hidden-limit"
    assert played(scene, "initcwnd=40", "sndbuf=auto").forecast.outcomes


def test_each_refusal_has_words() -> None:
    assert _core.vocabulary()["refusals"] == list(REFUSALS)


def test_the_words_stand_in_the_json(download: Scene, tmp_path: Path) -> None:
    from tcpstall.report.whatif.as_json import whatif_json

    report = json.loads(whatif_json(whatif(download.capture(drop=(1,)))))
    (flow,) = report["flows"]
    assert (flow["refused"], flow["reason"]) == ("no-handshake", REFUSALS["no-handshake"])
    assert report["totals"]["outcomes"] == []
