"""Faults of hosts and captures, and the words for them."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall import analyze
from tests.formats.dialogue import URG, Dialogue
from tests.formats.encapsulation import LINKS, TUNNELS
from tests.formats.fixture import CHOSEN, datagrams, plain, told, wrapped
from tests.properties.frames import Frame, read_frames, write_frames
from tests.scene import Scene
from tests.scene.files import write
from tests.scene.packet import ACK, FIN, PSH, RST, SYN
from tests.scene.verdict import flows_of


@pytest.fixture
def dialogue(tmp_path: Path) -> Dialogue:
    return Dialogue(tmp_path)


def causes_over_ms(flow: dict[str, object], ms: float) -> list[str]:
    stalls = flow["stalls"]
    assert isinstance(stalls, list)
    return [stall["cause"] for stall in stalls if stall["duration_ns"] > ms * 1e6]


def test_both_ends_may_open_at_once(dialogue: Dialogue) -> None:
    dialogue.say("client", 0, at=-1, flags=SYN)
    dialogue.say("server", 0.1, at=-1, flags=SYN)
    dialogue.say("server", 0.2, at=-1, flags=SYN | ACK)
    dialogue.say("client", 20, at=-1, flags=SYN | ACK)
    dialogue.request(21)
    dialogue.say("server", 22, at=0, acks=100, payload=500, flags=ACK | PSH)
    dialogue.say("client", 42, at=100, acks=500)
    flow = dialogue.flow()
    assert flow["client"]["port"] == 40_000
    assert [flow["directions"][side]["bytes"] for side in ("client", "server")] == [100, 500]
    assert flow["state"] == "open"
    assert causes_over_ms(flow, 25) == []


def test_ports_may_be_used_again_within_a_second(dialogue: Dialogue) -> None:
    dialogue.handshake()
    dialogue.request(21)
    dialogue.say("server", 22, at=0, acks=100, payload=500, flags=ACK | PSH | FIN)
    dialogue.say("client", 42, at=100, acks=501, flags=ACK | FIN)
    dialogue.say("server", 43, at=501, acks=101)
    again = Dialogue(dialogue.folder)
    again.handshake(400)
    again.request(421)
    again.say("server", 422, at=0, acks=100, payload=700, flags=ACK | PSH)
    dialogue.packets += [
        (time, replace(one, seq=one.seq + 3_000_000_000, ack=one.ack + 3_000_000_000 if one.flags & ACK else 0))
        for time, one in again.packets
    ]
    first, second = dialogue.flows()
    assert (first["directions"]["server"]["bytes"], second["directions"]["server"]["bytes"]) == (500, 700)
    assert second["start_ns"] - first["start_ns"] == 400_000_000
    assert second["handshake"]["complete"]


def test_a_storm_of_resets_is_one_flow_that_was_reset(dialogue: Dialogue) -> None:
    dialogue.handshake()
    dialogue.request(21)
    dialogue.say("server", 22, at=0, acks=100, payload=500, flags=ACK | PSH)
    for number in range(1_000):
        dialogue.say("server", 30 + number, at=500, acks=100, flags=RST | ACK if number % 2 else RST)
    flow = dialogue.flow()
    assert (flow["state"], flow["segments"]) == ("reset", 1_005)
    assert flow["end_ns"] - flow["start_ns"] == 30_000_000
    assert sum(flow["time_ns"].values()) == 30_000_000
    assert causes_over_ms(flow, 25) == []


@pytest.mark.parametrize("payload", [0, 1])
def test_keep_alives_are_neither_data_nor_repairs(dialogue: Dialogue, payload: int) -> None:
    dialogue.handshake()
    dialogue.request(21)
    dialogue.say("server", 22, at=0, acks=100, payload=500, flags=ACK | PSH)
    dialogue.say("client", 42, at=100, acks=500)
    for number in range(1, 6):
        dialogue.say("server", 10_000 * number, at=499, acks=100, payload=payload)
        dialogue.say("client", 10_000 * number + 20, at=100, acks=500)
    dialogue.say("client", 60_000, at=100, acks=500, payload=100, flags=ACK | PSH)
    dialogue.say("server", 60_001, at=500, acks=200, payload=300, flags=ACK | PSH)
    flow = dialogue.flow()
    assert [flow["directions"][side]["bytes"] for side in ("client", "server")] == [200, 800]
    assert set(causes_over_ms(flow, 1_000)) <= {"app-limited"}


def test_overlapping_segments_count_each_byte_once(dialogue: Dialogue) -> None:
    dialogue.handshake()
    dialogue.request(21)
    dialogue.say("server", 22, at=0, acks=100, payload=1_448)
    dialogue.say("server", 22.1, at=724, acks=100, payload=1_448)
    dialogue.say("server", 22.2, at=100, acks=100, payload=50)
    dialogue.say("client", 42.3, at=100, acks=2_172)
    server = dialogue.flow()["directions"]["server"]
    assert (server["bytes"], server["retransmitted_bytes"]) == (2_172, 724 + 50)


def test_empty_segments_are_no_data(dialogue: Dialogue) -> None:
    dialogue.handshake()
    dialogue.request(21)
    for number in range(50):
        dialogue.say("server", 22 + number, at=0, acks=100, flags=ACK | PSH)
    dialogue.say("server", 80, at=0, acks=100, payload=500, flags=ACK | PSH)
    dialogue.say("client", 100, at=100, acks=500)
    server = dialogue.flow()["directions"]["server"]
    assert (server["bytes"], server["segments"], server["retransmitted_bytes"]) == (500, 1, 0)


def test_urgent_data_is_data(scene: Scene) -> None:
    scene.handshake()
    scene.download(200_000)
    packets = scene.packets()
    urgent = [(time, replace(one, flags=one.flags | URG) if one.payload else one) for time, one in packets]
    path = scene.folder / "urgent.pcap"
    write(path, urgent)
    (flow,) = flows_of(path)
    assert told(flow) == told(scene.flow())


def test_a_window_that_shrinks_below_what_is_in_flight_holds_the_sender(dialogue: Dialogue) -> None:
    """RFC 9293 §3.8.6 discourages it and asks senders to be ready for it."""
    dialogue.handshake(window=400)
    dialogue.request(21)
    segments = range(0, 10 * 1_448, 1_448)
    for position in segments:
        dialogue.say("server", 22 + position / 1e6, at=position, acks=100, payload=1_448)
    dialogue.say("client", 42, at=100, acks=2 * 1_448, window=20)
    dialogue.say("client", 43, at=100, acks=14_480, window=20)
    dialogue.say("server", 43.1, at=14_480, acks=100, payload=1_448)
    dialogue.say("server", 43.2, at=15_928, acks=100, payload=1_112)
    dialogue.say("client", 263, at=100, acks=17_040, window=400)
    for position in range(17_040, 17_040 + 5 * 1_448, 1_448):
        dialogue.say("server", 263.1, at=position, acks=100, payload=1_448)
    dialogue.say("client", 283.1, at=100, acks=24_280, window=400)
    stall = max(dialogue.flow()["stalls"], key=lambda row: row["duration_ns"])
    assert (stall["sender"], stall["cause"]) == ("server", "rwnd-limited")
    assert stall["evidence"]["peer_window_bytes"] == 2_560


@pytest.mark.parametrize("tunnel", ["VXLAN", "GRE", "ERSPAN type II"])
def test_packets_seen_inside_and_outside_a_tunnel_are_one_flow(tmp_path: Path, tunnel: str) -> None:
    """As `-i any` shows them on a host that is the tunnel's end, or a mirror beside its source."""
    packets = datagrams(CHOSEN[1])
    bare, carried = wrapped(packets, LINKS["raw IP"]), wrapped(packets, TUNNELS[tunnel])
    copies = [replace(frame, time_ns=frame.time_ns + 3_000) for frame in carried]
    both = [frame for pair in zip(bare, copies, strict=True) for frame in pair]
    (flow,) = flows_of(write_frames(tmp_path / "both.pcap", sorted(both, key=lambda frame: frame.time_ns)))
    expected = plain(CHOSEN[1], tmp_path)
    assert flow["trust"]["duplicates_removed"] > len(packets) * 9 // 10
    for side in ("client", "server"):
        assert flow["directions"][side]["bytes"] == expected["directions"][side]["bytes"]
        assert flow["directions"][side]["retransmitted_bytes"] == 0
    assert [(row["cause"], row["sender"]) for row in flow["stalls"]] == [
        (row["cause"], row["sender"]) for row in expected["stalls"]
    ]


def test_checksums_that_offload_left_wrong_change_nothing(tmp_path: Path) -> None:
    packets = datagrams(CHOSEN[1])
    wrong = []
    for packet in packets:
        data = bytearray(packet.data)
        struct.pack_into("!H", data, 10, 0)
        struct.pack_into("!H", data, 20 + 16, 0xDEAD)
        wrong.append(replace(packet, data=bytes(data)))
    (flow,) = flows_of(write_frames(tmp_path / "wrong.pcap", wrapped(wrong, LINKS["Ethernet"])))
    assert told(flow) == told(plain(CHOSEN[1], tmp_path))


@pytest.mark.parametrize("snap", [14, 33, 34, 53])
def test_a_snap_length_below_the_tcp_header_is_counted(scene: Scene, snap: int) -> None:
    scene.handshake()
    scene.download(20_000)
    (capture,) = analyze(scene.capture(snap=snap)).captures
    assert (capture.packets, capture.tcp_segments) == (len(scene.packets()), 0)
    assert capture.skipped["cut_short"] == capture.packets


def test_a_subflow_of_multipath_tcp_says_that_it_is_one(scene: Scene) -> None:
    scene.handshake()
    scene.download(20_000)
    frames = read_frames(scene.capture())
    capable = bytes.fromhex("1e0c0081 0102030405060708")
    syns = [frame for frame in frames if frame.is_syn]
    assert len(syns) == 2
    offering = [_with_option(frame, capable) if frame.is_syn else frame for frame in frames]
    (flow,) = flows_of(write_frames(scene.folder / "multipath.pcap", offering))
    assert "mptcp" in flow["notes"]
    (plain_flow,) = flows_of(write_frames(scene.folder / "single.pcap", frames))
    assert "mptcp" not in plain_flow["notes"]


def _with_option(frame: Frame, option: bytes) -> Frame:
    """A SYN with one more TCP option."""
    end = frame.payload_start
    longer = replace(frame, data=frame.data[:end] + option + frame.data[end:], length=frame.length + len(option))
    words = (end - frame.tcp + len(option)) // 4
    return longer.patched(frame.tcp + 12, "!B", words << 4).patched(frame.ip + 2, "!H", longer.length - frame.ip)


def test_damage_in_the_middle_costs_its_packets_and_no_more(tmp_path: Path) -> None:
    path = write_frames(tmp_path / "damaged.pcap", wrapped(datagrams(CHOSEN[1]), LINKS["Ethernet"]))
    whole = analyze(path).captures[0]
    data = bytearray(path.read_bytes())
    record = 24
    for _ in range(whole.packets // 2):
        record += 16 + struct.unpack_from("<I", data, record + 8)[0]
    struct.pack_into("<I", data, record + 8, 0xFFFFFFFF)
    path.write_bytes(data)
    analysis = analyze(path, strict=False)
    (capture,) = analysis.captures
    assert capture.packets == whole.packets - 1
    assert capture.exit_code == 5
    assert "bytes were skipped, what follows was read" in (capture.error or "")
    (flow,) = analysis
    assert "packets-left-out" in flow.notes
