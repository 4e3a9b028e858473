"""Captures of two points of one path are not merged: each packet would count as sent again."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall import analyze
from tcpstall.errors import TwoTaps
from tests.cli.conftest import Run, here
from tests.formats.containers import pcap
from tests.pair.stage import Change, Packets, captured, clock, each, from_packet
from tests.properties.frames import Frame, read_frames
from tests.scene import Scene
from tests.scene.files import write
from tests.scene.network import Tap
from tests.scene.packet import Packet, as_ipv6

__all__ = ["here"]


@pytest.fixture
def talk(scene: Scene) -> Scene:
    """A connection with two requests."""
    scene.handshake(rtt_ms=20)
    scene.download(150_000)
    scene.wait_ms(100)
    scene.download(60_000)
    scene.closes()
    return scene


def bare(packet: Packet) -> Packet:
    """Nothing marks its sendings."""
    return replace(packet, timestamps=None, ip_id=0)


def both(scene: Scene, *changes: Change) -> tuple[Path, Path]:
    return captured(scene, "client", *changes), captured(scene, "server", *changes)


def some(folder: Path, name: str, packets: Packets) -> Path:
    write(folder / name, packets, kind="pcap-ns")
    return folder / name


def is_refused(*captures: Path) -> bool:
    try:
        analyze(captures, merge=True)
    except TwoTaps:
        return True
    return False


# Refused


@pytest.mark.parametrize("form", ["table", "json", "ndjson", "csv", "markdown"])
def test_two_ends_are_refused_in_a_line_that_names_pair(here: Run, talk: Scene, form: str) -> None:
    client, server = both(talk)
    done = here("analyze", "--merge", server, client, "--format", form)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert f"tcpstall pair {server} {client}" in done.stderr
    assert "10.0.0.1:40000" in done.stderr


def test_every_command_that_merges_refuses_them(here: Run, talk: Scene, tmp_path: Path) -> None:
    client, server = both(talk)
    page = tmp_path / "page.html"
    for command in (["report", "-o", page], ["remedies"]):
        done = here(command[0], "--merge", client, server, *command[1:])
        assert (done.returncode, done.stdout) == (2, "")
        assert "tcpstall pair" in done.stderr
    assert not page.exists()


def test_pseudonyms_tell_neither_names_nor_addresses(here: Run, talk: Scene) -> None:
    done = here("analyze", "--merge", *both(talk), "--anonymise")
    assert done.returncode == 2
    assert "capture-1 and capture-2 hold the same packets of one connection" in done.stderr
    assert "10.0.0" not in done.stderr
    assert "client.pcap" not in done.stderr


@pytest.mark.parametrize("ahead_ns", [0, 3_000_000_000, -3_000_000_000, 7_200 * 10**9])
def test_clocks_that_are_apart_hide_nothing(talk: Scene, ahead_ns: int) -> None:
    assert is_refused(captured(talk, "client"), captured(talk, "server", clock(ahead_ns=ahead_ns)))


@pytest.mark.parametrize(
    "change",
    [
        each(lambda packet: replace(packet, timestamps=None)),
        each(lambda packet: replace(packet, ip_id=0)),
        each(bare),
        each(as_ipv6),
        each(lambda packet: as_ipv6(replace(packet, timestamps=None))),
        from_packet(30),
    ],
    ids=["no timestamps", "no IP-ID", "neither", "IPv6", "IPv6 without timestamps", "no handshake"],
)
def test_they_are_recognised_without_what_some_stacks_leave_out(talk: Scene, change: Change) -> None:
    assert is_refused(*both(talk, change))


def test_an_end_and_a_point_between_are_two_points_too(talk: Scene) -> None:
    assert is_refused(captured(talk, "client"), captured(talk, "between"))


def test_one_direction_at_both_points_is_enough(talk: Scene) -> None:
    def responses(packets: Packets) -> Packets:
        return [(time, packet) for time, packet in packets if packet.source.port == 80]

    assert is_refused(captured(talk, "client"), captured(talk, "server", responses))


def test_two_ends_of_a_short_path_are_recognised_by_frames_that_were_split(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.1)
    scene.download(400_000, tso=20)
    scene.closes()
    assert is_refused(*both(scene))


def test_many_connections_of_a_few_packets_are_recognised(scene: Scene) -> None:
    others = []
    for port in range(50_001, 50_020):
        other = Scene(scene.folder, client_port=port)
        other.handshake()
        other.client_resets()
        others.append(other)
    scene.handshake()
    scene.client_resets()
    assert is_refused(captured(scene, "client", beside=others), captured(scene, "server", beside=others))


def test_the_third_capture_may_be_the_one(talk: Scene, tmp_path: Path) -> None:
    client, server = both(talk)
    other = Scene(tmp_path, client_port=51_000)
    other.handshake()
    other.download(20_000)
    assert is_refused(client, some(tmp_path, "other", other.packets("server")), server)


# Merged as before


def merged_as(whole: Path, *captures: Path) -> bool:
    one, many = analyze(whole), analyze(captures, merge=True)
    return [(flow.start_ns, flow.end_ns, len(flow.stalls)) for flow in one] == [
        (flow.start_ns, flow.end_ns, len(flow.stalls)) for flow in many
    ]


def split(packets: Packets, parts: Sequence[Callable[[int, Packet], bool]], folder: Path) -> list[Path]:
    return [
        some(folder, f"part-{number}", [pair for at, pair in enumerate(packets) if is_in(at, pair[1])])
        for number, is_in in enumerate(parts)
    ]


@pytest.mark.parametrize("tap", ["client", "server"])
def test_directions_captured_apart_are_merged(talk: Scene, tmp_path: Path, tap: Tap) -> None:
    packets = talk.packets(tap)
    ways = split(packets, [lambda _, p: p.source.port == 80, lambda _, p: p.source.port != 80], tmp_path)
    assert merged_as(some(tmp_path, "whole", packets), *ways)


def test_directions_captured_at_two_ends_are_merged(talk: Scene, tmp_path: Path) -> None:
    (back,) = split(talk.packets("client"), [lambda _, p: p.source.port == 80], tmp_path)
    there = some(tmp_path, "there", [pair for pair in talk.packets("server") if pair[1].source.port != 80])
    assert not is_refused(there, back)


@pytest.mark.parametrize("strip", [lambda packet: packet, bare, as_ipv6], ids=["marked", "bare", "IPv6"])
def test_files_that_overlap_and_a_file_twice_are_merged(
    talk: Scene, tmp_path: Path, strip: Callable[[Packet], Packet]
) -> None:
    packets = [(time, strip(packet)) for time, packet in talk.packets("server")]
    half = len(packets) // 2
    parts = split(packets, [lambda at, _: at < half + 40, lambda at, _: at >= half - 40], tmp_path)
    whole = some(tmp_path, "whole", packets)
    assert merged_as(whole, *parts)
    assert merged_as(whole, whole, whole)


def test_interfaces_of_one_host_that_see_each_packet_at_once_are_merged(talk: Scene, tmp_path: Path) -> None:
    packets = talk.packets("server")
    bridge = [(time + 30_000, packet) for time, packet in packets]
    assert not is_refused(some(tmp_path, "port", packets), some(tmp_path, "bridge", bridge))


def test_two_ends_of_a_short_path_are_merged_where_each_packet_is_a_copy(scene: Scene) -> None:
    scene.handshake(rtt_ms=0.1)
    scene.download(40_000, tso=1)
    scene.closes()
    client, server = both(scene)
    (merged,) = analyze([client, server], merge=True)
    assert merged.directions["server"].retransmitted_bytes == 0


def test_disjoint_connections_are_merged(talk: Scene, tmp_path: Path) -> None:
    other = Scene(tmp_path, client_port=51_000)
    other.handshake()
    other.download(90_000)
    assert not is_refused(some(tmp_path, "one", talk.packets("client")), some(tmp_path, "two", other.packets("server")))


@pytest.mark.parametrize("strip", [lambda packet: packet, bare, as_ipv6], ids=["marked", "bare", "IPv6"])
def test_a_connection_spread_over_two_links_is_merged_though_packets_are_sent_again_over_the_other(
    scene: Scene, tmp_path: Path, strip: Callable[[Packet], Packet]
) -> None:
    scene.handshake()
    scene.client_sends(100)
    scene.server_transfers(600_000, lose=tuple(range(40_000, 600_000, 60_000)))
    packets = [(time, strip(packet)) for time, packet in scene.packets("server")]
    links = split(packets, [lambda at, _: at % 2 == 0, lambda at, _: at % 2 == 1], tmp_path)
    assert not is_refused(*links)


@pytest.mark.parametrize("strip", [lambda packet: packet, bare], ids=["marked", "bare"])
def test_what_a_link_lost_when_it_failed_may_be_sent_again_over_the_other(
    scene: Scene, tmp_path: Path, strip: Callable[[Packet], Packet]
) -> None:
    scene.handshake()
    scene.client_sends(100)
    scene.server_acks()
    scene.server_sends(14_480, tso=1, lost=True)
    scene.wait_ms(300)
    failed = len(scene.packets("server"))
    for at in range(10):
        scene.server_repeats(at * 1_448, 1_448)
        scene.client_acks()
    packets = [(time, strip(packet)) for time, packet in scene.packets("server")]
    assert not is_refused(*split(packets, [lambda at, _: at < failed, lambda at, _: at >= failed], tmp_path))


def test_a_filter_leaves_connections_out_that_both_hold(here: Run, talk: Scene, tmp_path: Path) -> None:
    other = Scene(tmp_path, client_port=51_000)
    other.handshake()
    other.download(20_000)
    client, server = captured(talk, "client"), captured(talk, "server", beside=[other])
    assert here("analyze", "--merge", client, server).returncode == 2
    assert here("analyze", "--merge", client, server, "--port", "51000").returncode == 0
    assert here("analyze", "--merge", client, server, "--port", "40000").returncode == 2


def test_rotated_files_and_captures_by_themselves_are_not_compared(here: Run, talk: Scene) -> None:
    client, server = both(talk)
    assert here("analyze", client, server).returncode == 0
    assert here("analyze", "--separate", client, server).returncode == 0


def test_what_cannot_be_read_keeps_its_exit_code(here: Run, talk: Scene, tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    assert here("analyze", "--merge", captured(talk, "client"), tmp_path / "picture").returncode == 4
    assert here("analyze", "--merge", captured(talk, "client"), tmp_path / "nothing").returncode == 3


def test_two_interfaces_in_one_file_stay_as_they_are(talk: Scene, tmp_path: Path) -> None:
    frames: list[Frame] = sorted(
        (frame for path in both(talk) for frame in read_frames(path)), key=lambda frame: frame.time_ns
    )
    one = tmp_path / "any.pcap"
    one.write_bytes(pcap(frames, nanoseconds=True))
    other = Scene(tmp_path, client_port=51_000)
    other.handshake()
    assert not is_refused(one, some(tmp_path, "other", other.packets("server")))
