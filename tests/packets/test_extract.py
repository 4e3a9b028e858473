"""Extracts hold the packets of a flow or of a stall, byte by byte, and give the flow's own diagnosis."""

from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall import Analysis, Flow, analyze
from tcpstall.packets.extract import stretches
from tests.cli.conftest import Run
from tests.formats.containers import pcap, pcapng, two_interfaces
from tests.formats.encapsulation import LINKS, TUNNELS
from tests.formats.fixture import CHOSEN, datagrams, plain, told, wrapped
from tests.packets.reader import Packet, packets
from tests.properties.frames import Frame
from tests.scene.verdict import flows_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
NAMES = ("slowstart-rtt7ms-512k.pcap", "lab/zero-window-6s/sender.pcap", "lab/idle-restart-on/sender.pcap")
"""Of different clients, so that they are different flows."""


def mixed() -> list[Frame]:
    """The three at once, in order of time."""
    starts = {name: datagrams(name)[0].time_ns for name in NAMES}
    all_of_them = [
        replace(frame, time_ns=frame.time_ns - starts[name] + 10**18)
        for name in NAMES
        for frame in wrapped(datagrams(name), LINKS["Ethernet"])
    ]
    return sorted(all_of_them, key=lambda frame: frame.time_ns)


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    path = tmp_path / "crowd.pcap"
    path.write_bytes(pcap(mixed(), nanoseconds=True))
    return path


def extracted(here: Run, source: Path, *options: object, name: str = "small.pcap", code: int = 0) -> Path:
    output = source.with_name(name)
    done = here("extract", source, "-o", output, *options)
    assert done.returncode == code, done.stderr
    return output


def of_flow(source: Path, number: int) -> tuple[Analysis, Flow]:
    analysis = analyze(source, flows=[number])
    return analysis, analysis[0]


def expect_the_same_flow(output: Path, flow: Flow) -> None:
    (own,) = analyze(output)
    assert (own.client, own.server, own.time_ns, own.directions) == (
        flow.client, flow.server, flow.time_ns, flow.directions,
    )  # fmt: skip
    unnumbered = [dict.fromkeys(("last_packet", "freed_by_packet", "next_packet"))] * len(flow.stalls)
    for one, other, blank in zip(own.stalls, flow.stalls, unnumbered, strict=True):
        assert replace(one, evidence=dict(one.evidence) | blank) == replace(
            other, evidence=dict(other.evidence) | blank
        )


def is_part(small: list[Packet], whole: list[Packet]) -> bool:
    """Every one of the small is in the whole, in its order."""
    rest = iter(whole)
    return all(any(packet == other for other in rest) for packet in small)


@pytest.mark.parametrize("number", range(len(NAMES)))
@pytest.mark.parametrize("name", ["small.pcap", "small.pcapng"])
def test_a_flow_stays_byte_by_byte_and_is_diagnosed_as_before(here: Run, crowd: Path, number: int, name: str) -> None:
    _, flow = of_flow(crowd, number)
    output = extracted(here, crowd, "--flow", number, name=name)
    small = packets(output)
    assert len(small) == flow.segments
    assert is_part(small, packets(crowd))
    expect_the_same_flow(output, flow)


def test_the_default_is_the_flow_that_lost_most(here: Run, crowd: Path) -> None:
    analysis = analyze(crowd)
    done = here("extract", crowd, "-o", crowd.with_name("small.pcap"))
    assert f"flow {analysis[analysis.ranked()[0]].id}: " in done.stderr


def test_a_stall_comes_with_its_handshake_and_the_bursts_around_it(here: Run, crowd: Path) -> None:
    (flow,) = analyze(crowd, flows=[analyze(crowd).ranked()[0]])
    stall = next(each for each in flow.stalls if each.cause == "zero-window")
    output = extracted(here, crowd, "--flow", flow.id, "--stall", stall.number)
    small, whole = packets(output), packets(crowd)
    assert is_part(small, whole)
    assert len(small) < flow.segments
    proof = [stall.evidence[name] for name in ("last_packet", "freed_by_packet", "next_packet")]
    assert all(whole[number - 1] in small for number in proof if number)
    again = next(each for each in analyze(output)[0].stalls if each.cause == "zero-window")
    assert abs(again.duration_ns - stall.duration_ns) < 1_000_000
    assert analyze(output)[0].handshake == flow.handshake


def test_the_bursts_around_a_stall_are_its_senders_own(crowd: Path) -> None:
    for flow in analyze(crowd):
        for stall in flow.stalls:
            *_, (_, _, since, until) = stretches(flow, stall)
            own = [burst for burst in flow.bursts if burst.sender == stall.sender]
            assert since <= stall.start_ns
            assert stall.end_ns <= until
            assert since == flow.start_ns or since in {burst.start_ns for burst in own}
            assert until == flow.end_ns or until in {burst.end_ns for burst in own}


@pytest.mark.parametrize("link", ["Ethernet", "VLAN", "Linux cooked"])
def test_without_payload_headers_and_lengths_stay(here: Run, link: str, tmp_path: Path) -> None:
    wrapping = LINKS.get(link) or LINKS["Ethernet"]
    source = tmp_path / "in.pcap"
    source.write_bytes(pcap(wrapped(datagrams(CHOSEN[0]), wrapping)))
    output = extracted(here, source, "--no-payload")
    small, whole = packets(output), packets(source)
    assert [(each.time_ns, each.length, each.link) for each in small] == [
        (each.time_ns, each.length, each.link) for each in whole
    ]
    assert all(other.data.startswith(each.data) for each, other in zip(small, whole, strict=True))
    assert max(len(each.data) for each in small) < max(len(each.data) for each in whole)
    assert b"HTTP" not in output.read_bytes()
    (flow,) = flows_of(output)
    assert told(flow) == told(plain(CHOSEN[0], tmp_path))


@pytest.mark.parametrize("tunnel", TUNNELS)
def test_without_payload_what_is_in_a_tunnel_stays_in_it(here: Run, tunnel: str, tmp_path: Path) -> None:
    wrapping = TUNNELS[tunnel]
    version = wrapping.version or 4
    source = tmp_path / "in.pcap"
    source.write_bytes(pcap(wrapped(datagrams(CHOSEN[0], version=version), wrapping)))
    output = extracted(here, source, "--no-payload")
    (flow,) = flows_of(output)
    assert told(flow) == told(plain(CHOSEN[0], tmp_path, version=version))
    assert flow["tunnel"] == wrapping.tunnel


def test_later_fragments_go_with_the_first(here: Run, tmp_path: Path) -> None:
    whole = wrapped(datagrams(CHOSEN[1]), LINKS["Ethernet"])
    at = next(number for number, frame in enumerate(whole) if frame.payload > 1_000)
    frame = whole[at]
    head = 14 + 20 + 480
    first = replace(frame, data=frame.data[:head], length=head).patched(16, "!H", 500).patched(20, "!H", 0x2000)
    rest = replace(frame, data=frame.data[:34] + bytes(40), length=frame.length - 480)
    rest = rest.patched(16, "!H", frame.length - 14 - 480).patched(20, "!H", 480 // 8)
    stranger = rest.patched(18, "!H", 4_711)
    source = tmp_path / "in.pcap"
    source.write_bytes(pcap([*whole[:at], first, rest, stranger, *whole[at + 1 :]], nanoseconds=True))
    small = packets(extracted(here, source, "--flow", 0))
    assert len(small) == len(whole) + 1
    assert rest.data in [each.data for each in small]
    assert stranger.data not in [each.data for each in small]


def test_resets_behind_the_end_go_with_the_flow_and_the_next_connection_does_not(here: Run, tmp_path: Path) -> None:
    whole = wrapped(datagrams(CHOSEN[1]), LINKS["Ethernet"])
    last, resets = whole[-1].time_ns, resets_after(whole[-1])
    moved = (replace(frame, time_ns=frame.time_ns - whole[0].time_ns + last + 10**9) for frame in whole[:20])
    # Other sequence numbers, or else the SYN is one sent again.
    again = [
        frame.with_seq(frame.seq + 10**9).patched(frame.tcp + 8, "!I", (frame.ack + 10**9) % 2**32) for frame in moved
    ]
    source = tmp_path / "in.pcap"
    source.write_bytes(pcap([*whole, *resets, *again, *resets_after(again[-1])], nanoseconds=True))
    (first, second) = analyze(source)
    assert first.segments == len(whole) + 3
    for flow in (first, second):
        small = packets(extracted(here, source, "--flow", flow.id))
        assert len(small) == flow.segments
        assert is_part(small, packets(source))


def resets_after(frame: Frame) -> list[Frame]:
    return [replace(frame, time_ns=frame.time_ns + number * 1_000_000).with_flags(0x14) for number in range(1, 4)]


def test_interfaces_and_their_clocks_stay_in_pcapng(here: Run, tmp_path: Path) -> None:
    source = tmp_path / "in.pcapng"
    source.write_bytes(two_interfaces(mixed()))
    small = packets(extracted(here, source, "--flow", 1, name="small.pcapng"))
    assert is_part(small, packets(source))
    assert {each.comments for each in small} == {("seen by a test",)}


def test_pcap_keeps_nanoseconds_where_an_interface_counts_them(here: Run, tmp_path: Path) -> None:
    source = tmp_path / "in.pcapng"
    source.write_bytes(two_interfaces(mixed()))
    small = packets(extracted(here, source, "--flow", 1))
    assert is_part(small, [each.bare for each in packets(source)])


def test_several_link_types_are_refused_for_pcap_with_what_to_do(here: Run, tmp_path: Path) -> None:
    ethernet, raw = (wrapped(datagrams(CHOSEN[1]), LINKS[link]) for link in ("Ethernet", "raw IP"))
    source = tmp_path / "in.pcap"
    source.write_bytes(pcap(ethernet[:30]) + pcap(raw[30:]))
    done = here("extract", source, "-o", tmp_path / "small.pcap")
    assert done.returncode == 2
    assert ".pcapng" in done.stderr
    assert not (tmp_path / "small.pcap").exists()
    written = packets(extracted(here, source, name="small.pcapng"))
    assert [each.link for each in written] == [1] * 30 + [101] * (len(raw) - 30)


def test_a_time_beyond_pcap_is_refused_for_it(here: Run, tmp_path: Path) -> None:
    late = [replace(frame, time_ns=frame.time_ns + 2**32 * 10**9) for frame in mixed()]
    source = tmp_path / "in.pcapng"
    source.write_bytes(pcapng(late, resolution=9))
    done = here("extract", source, "-o", tmp_path / "small.pcap")
    assert done.returncode == 2
    assert "time" in done.stderr
    assert len(packets(extracted(here, source, "--flow", 0, name="small.pcapng"))) == 58


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--flow", "99"], 7, "holds no flow 99"),
        (["--stall", "999"], 7, "has no stall 999"),
        (["--key", "k"], 2, "--anonymise"),
    ],
)
def test_what_is_not_there_is_said(here: Run, crowd: Path, options: list[str], code: int, said: str) -> None:
    done = here("extract", crowd, "-o", crowd.with_name("small.pcap"), *options)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert not crowd.with_name("small.pcap").exists()


def test_another_ending_is_refused(here: Run, crowd: Path) -> None:
    done = here("extract", crowd, "-o", crowd.with_name("small.txt"))
    assert done.returncode == 2
    assert "must end in .pcap or .pcapng" in done.stderr


def test_a_stalls_number_is_in_every_list_whichever_are_left_out(crowd: Path) -> None:
    everything, few = analyze(crowd), analyze(crowd, min_stall_ns=1_000_000_000)
    numbers = {(flow.id, stall.start_ns, stall.sender): stall.number for flow in everything for stall in flow.stalls}
    assert all(numbers[flow.id, stall.start_ns, stall.sender] == stall.number for flow in few for stall in flow.stalls)
    assert few.stalls.column("stall") != list(range(len(few.stalls)))
