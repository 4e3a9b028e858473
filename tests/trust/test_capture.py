"""Gaps of a capture in all its flows together, and its own account of them."""

import json
import struct
from pathlib import Path

import polars
import pytest

import tcpstall
from tcpstall import Capture, CaptureTrust, Trust
from tests.scene import Scene
from tests.scene.files import write
from tests.scene.packet import Endpoint


def scenes(folder: Path, count: int) -> list[Scene]:
    made = [Scene(folder, client_port=40_000 + number) for number in range(count)]
    for scene in made:
        scene.handshake(rtt_ms=20)
        scene.download(100_000)
    return made


def captured(path: Path) -> Capture:
    (capture,) = tcpstall.analyze(path).captures
    return capture


def test_flows_that_began_before_the_capture_are_counted(tmp_path: Path) -> None:
    first, *others = scenes(tmp_path, 3)
    path = first.capture(beside=others, drop=range(1, 4))
    trust = captured(path).trust
    assert (trust.flows, trust.flows_without_handshake, trust.flows_low, trust.vantage) == (3, 1, 1, "at the server")


def test_what_is_unseen_is_added_up_and_a_warning(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_sends(1_448, unseen=True)
    scene.server_sends(8_452)
    scene.client_acks()
    capture = captured(scene.capture())
    assert capture.trust.unseen_bytes == 1_448
    assert capture.trust.unseen_share == pytest.approx(0.1448)
    (warning,) = capture.warnings
    assert (warning.code, warning.count) == ("unseen-data", 1_448)
    assert warning.message.startswith("14.5 % of the data was acknowledged and is not in the capture")


@pytest.mark.parametrize("dropped", [0, 7])
def test_what_the_interface_says_that_it_dropped_is_told(scene: Scene, dropped: int) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    path = scene.capture(kind="pcapng")
    assert captured(path).trust.dropped_packets is None
    body = struct.pack("<III", 0, 0, 0) + struct.pack("<HHQ", 5, 8, dropped) + struct.pack("<HHQ", 7, 8, 0)
    length = 12 + len(body)
    path.write_bytes(path.read_bytes() + struct.pack("<II", 5, length) + body + struct.pack("<I", length))
    capture = captured(path)
    assert capture.trust.dropped_packets == dropped
    assert [warning.code for warning in capture.warnings] == (["capture-drops"] if dropped else [])


def test_a_step_of_the_clock_is_a_warning_where_it_meets_a_flow(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    packets = scene.packets()
    path = scene.folder / "stepped.pcap"
    write(path, packets[:20] + [(time - 10**9, packet) for time, packet in packets[20:]])
    capture = captured(path)
    assert (capture.trust.clock_steps, capture.trust.flows_clock_stepped) == (1, 1)
    assert [warning.code for warning in capture.warnings] == ["clock-steps"]
    assert "1.000 s earlier" in capture.warnings[0].message


@pytest.mark.parametrize(("days", "told"), [(0.9, []), (3, ["clock-leaps"])])
def test_days_without_a_packet_are_a_warning(scene: Scene, days: float, told: list[str]) -> None:
    """Several captures in one file, or a clock that was wrong: the length of the capture includes that time."""
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    later = Scene(scene.folder, client_port=40_001, start_ns=scene.start_ns + round(days * 86_400e9))
    later.handshake(rtt_ms=20)
    capture = captured(scene.capture(beside=[later]))
    assert [warning.code for warning in capture.warnings] == told
    assert not told or "no packet is stamped for 2 days" in capture.warnings[0].message


def test_a_short_snap_length_is_a_warning(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    capture = captured(scene.capture(snap=60))
    assert capture.trust.options_cut == capture.packets
    assert "tcpdump -s 128" in " ".join(capture.remarks)


def test_a_whole_capture_warns_of_nothing(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    capture = captured(scene.capture())
    assert capture.warnings == ()
    assert (capture.trust.flows_low, capture.trust.flows_medium) == (0, 0)


def test_the_model_mirrors_the_json_and_the_table_its_columns(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    analysis = tcpstall.analyze(scene.capture(drop=range(1, 4)))
    row = scene.flow(drop=range(1, 4))["trust"]
    assert analysis[0].trust == Trust(**(row | {"reasons": tuple(row["reasons"])}))
    table = polars.DataFrame(analysis.flows)
    assert table["trust_level"].to_list() == [row["level"]]
    assert table["trust_reasons"].to_list() == [" ".join(row["reasons"])]
    assert table["trust_server_offloaded_frames"].to_list() == [row["offloaded_frames"]["server"]]


def test_the_json_of_a_capture_holds_what_the_model_does(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    status = tcpstall._core.analyze([str(scene.capture())]).captures[0]
    row = json.loads(status.json)["trust"]
    assert Capture.from_status(status).trust == CaptureTrust(**row)


def as_netfilter_log(path: Path) -> Path:
    """The same packets with the netfilter log's header in place of Ethernet's."""
    data, at = path.read_bytes(), 24
    out = data[:20] + struct.pack("<I", 239)
    while at < len(data):
        seconds, part, kept, _ = struct.unpack_from("<4I", data, at)
        ip = data[at + 16 + 14 : at + 16 + kept]
        frame = b"\x02\x00\x00\x00" + struct.pack("<HH", 4 + len(ip), 9) + ip
        out += struct.pack("<4I", seconds, part, len(frame), len(frame)) + frame
        at += 16 + kept
    path.write_bytes(out)
    return path


@pytest.mark.parametrize("logged", [False, True], ids=["on-the-interface", "by-the-netfilter-log"])
def test_the_netfilter_log_stamps_packets_when_it_is_read(tmp_path: Path, logged: bool) -> None:
    (scene,) = scenes(tmp_path, 1)
    path = scene.capture()
    capture = captured(as_netfilter_log(path) if logged else path)
    assert capture.tcp_segments > 50
    assert any("netfilter log" in warning.message for warning in capture.warnings) == logged


def stamped_in_clumps(scene: Scene, ends: set[Endpoint]) -> Path:
    """The capture as if packets of these ends were stamped every 400 ms, all that had passed at once."""
    period = 400_000_000
    start = scene.packets()[0][0]
    late = [
        (start + ((time - start) // period + 1) * period if packet.source in ends else time, number, packet)
        for number, (time, packet) in enumerate(scene.packets())
    ]
    path = scene.capture()
    write(path, [(time + number * 1_000, packet) for time, number, packet in sorted(late, key=lambda one: one[:2])])
    return path


@pytest.mark.parametrize("both", [False, True], ids=["packets-of-the-server", "all-packets"])
def test_packets_stamped_late_and_many_at_once_are_a_warning(scene: Scene, both: bool) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(40):
        scene.request()
        scene.server_sends(500)
        scene.wait_ms(70)
    server = {packet.source for _, packet in scene.packets() if packet.payload == 500}
    every = {packet.source for _, packet in scene.packets()}
    (flow,) = analysis = tcpstall.analyze(stamped_in_clumps(scene, every if both else server))
    assert any(warning.code == "late-stamps" for warning in analysis.captures[0].warnings) == both
    assert ("late-stamps" in flow.notes) == both
