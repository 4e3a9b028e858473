"""Alignment of the clocks of two taps, and one-way delays."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall.pair import Ends, pair
from tests.pair.stage import ENDS, Packets, captured, clock, each, from_packet, translated
from tests.scene import Scene
from tests.scene.files import Format
from tests.scene.packet import Endpoint

LAB = Path(__file__).parents[2] / "fixtures" / "lab"
WITHIN_NS = 200_000
HOURS_NS = 3 * 3_600 * 10**9


def least(ends: Ends) -> list[int]:
    return [flow.way(sender)["delay"]["least_ns"] for flow in ends.flows for sender in ("client", "server")]


@pytest.mark.parametrize("folder", sorted(LAB.iterdir()), ids=lambda path: path.name)
def test_real_hosts_are_as_far_apart_as_the_network_between_them(folder: Path) -> None:
    truth = json.loads((folder / "truth.json").read_text())
    ends = pair(folder / "sender.pcap", folder / "receiver.pcap")
    one_way_ns = truth["params"]["one_way_us"] * 1_000
    assert least(ends) == pytest.approx([one_way_ns, one_way_ns], abs=WITHIN_NS)
    assert abs(ends.clock.offset_ns) < WITHIN_NS
    dropped = sum(event["ev"] == "drop" for event in truth["network_events"])
    counts = [flow.way(sender) for flow in ends.flows for sender in ("client", "server")]
    assert sum(way["lost_segments"] + way["outside_packets"] for way in counts) == dropped
    assert sum(way["missed_by_receiving_tap"] + way["missed_by_sending_tap"] for way in counts) == 0


@pytest.fixture
def talk(scene: Scene) -> Scene:
    """Ten seconds of requests over 20 ms."""
    scene.handshake()
    for _ in range(100):
        scene.download(20_000)
        scene.wait_ms(60)
    scene.closes()
    return scene


@pytest.mark.parametrize(("ahead_ns", "ppm"), [(0, 0.0), (HOURS_NS, 0.0), (-HOURS_NS, 50.0), (7, -50.0), (0, 400.0)])
def test_a_clock_that_leads_and_drifts_is_aligned(talk: Scene, ahead_ns: int, ppm: float) -> None:
    server = captured(talk, "server", clock(ahead_ns=ahead_ns, ppm=ppm), kind="pcap-ns")
    ends = pair(captured(talk, "client", kind="pcap-ns"), server)
    assert ends.clock.alignment == "both-ways"
    assert ends.clock.offset_ns == pytest.approx(ahead_ns, abs=WITHIN_NS)
    assert ends.clock.drift_ppm == pytest.approx(ppm, abs=10)
    assert least(ends) == pytest.approx([10_000_000] * 2, abs=WITHIN_NS)
    assert not ends.events


def test_the_drift_of_a_short_capture_is_not_guessed(scene: Scene) -> None:
    scene.handshake()
    scene.download(200_000)
    ends = pair(captured(scene, "client"), captured(scene, "server"))
    assert ends.clock.drift_ppm == 0
    assert ends.clock.drift_uncertainty_ppm is not None
    assert ends.clock.drift_uncertainty_ppm > 50


def test_unequal_ways_can_be_told_only_with_one_clock(scene: Scene) -> None:
    scene.network.ways["client"].delay_ns = 30_000_000
    scene.handshake()
    scene.download(20_000)
    captures = captured(scene, "client"), captured(scene, "server")
    assert least(pair(*captures)) == pytest.approx([20_000_000] * 2, abs=WITHIN_NS)
    assert least(pair(*captures, same_clock=True)) == pytest.approx([30_000_000, 10_000_000], abs=WITHIN_NS)


def test_a_clock_that_was_set_meanwhile_gives_no_delays(talk: Scene) -> None:
    def step(packets: Packets) -> Packets:
        half = len(packets) // 2
        return packets[:half] + [(time + 10**9, packet) for time, packet in packets[half:]]

    ends = pair(captured(talk, "client"), captured(talk, "server", step))
    assert ends.clock.alignment == "stepped"
    assert ends.flows[0].way("client")["delay"] is None
    assert not ends.events
    assert all(wait.network_ns is None for wait in ends.flows[0].both.waits)


@pytest.mark.parametrize("kind", ["pcapng", "pcap-big-endian"])
@pytest.mark.parametrize("snap", [68, 96])
def test_the_form_of_a_capture_does_not_matter(talk: Scene, kind: Format, snap: int) -> None:
    ends = pair(captured(talk, "client"), captured(talk, "server", kind=kind, snap=snap))
    assert least(ends) == pytest.approx([10_000_000] * 2, abs=WITHIN_NS)
    assert not ends.events


def test_addresses_may_be_translated_in_between(talk: Scene) -> None:
    outside, inside = Endpoint("203.0.113.9", 61_234), Endpoint("192.168.7.7", 8080)
    changes = translated(ENDS[0], outside), translated(ENDS[1], inside)
    ends = pair(captured(talk, "client"), captured(talk, "server", *changes))
    (flow,) = ends.flows
    assert (flow.row["matched_by"], str(flow.end("client", 1))) == ("initial-numbers", "203.0.113.9:61234")
    assert str(flow.end("server", 1)) == "192.168.7.7:8080"
    assert least(ends) == pytest.approx([10_000_000] * 2, abs=WITHIN_NS)
    assert all(wait.agreed for wait in flow.both.waits)


@pytest.mark.parametrize("stamped", [True, False])
def test_a_translated_flow_without_its_syn_is_found_by_its_packets(talk: Scene, stamped: bool) -> None:
    bare = [] if stamped else [each(lambda packet: replace(packet, timestamps=None))]
    outside = Endpoint("203.0.113.9", 61_234)
    ends = pair(
        captured(talk, "client", *bare),
        captured(talk, "server", *bare, translated(ENDS[0], outside), from_packet(40)),
    )
    (flow,) = ends.flows
    assert flow.row["matched_by"] == "packets"
    assert least(ends) == pytest.approx([10_000_000] * 2, abs=WITHIN_NS)
    assert not ends.events


def test_the_client_is_told_from_the_server_though_a_translated_port_misleads(talk: Scene) -> None:
    """Without a SYN the higher port is taken for the client's; behind the NAT that is the server's."""
    ends = pair(
        captured(talk, "client", from_packet(10)),
        captured(talk, "server", from_packet(12), translated(ENDS[1], Endpoint("10.9.9.9", 65_000))),
    )
    (flow,) = ends.flows
    assert str(flow.end("server", 1)) == "10.9.9.9:65000"
    assert not ends.swapped
    assert least(ends) == pytest.approx([10_000_000] * 2, abs=WITHIN_NS)
    assert any(wait.agreed for wait in flow.both.waits)


def test_captures_given_in_the_other_order_are_noticed(talk: Scene) -> None:
    one, other = captured(talk, "client"), captured(talk, "server", clock(ahead_ns=HOURS_NS))
    ends = pair(other, one)
    assert ends.swapped
    assert [capture.path for capture in ends.captures] == [str(one), str(other)]
    assert ends.clock.offset_ns == pytest.approx(HOURS_NS, abs=WITHIN_NS)
    assert least(ends) == pytest.approx([10_000_000] * 2, abs=WITHIN_NS)


def test_rewritten_sequence_numbers_are_said_to_be_so(talk: Scene) -> None:
    def firewall(packets: Packets) -> Packets:
        return [(time, replace(packet, seq=packet.seq + 12_345)) for time, packet in packets]

    ends = pair(captured(talk, "client"), captured(talk, "server", firewall))
    assert not ends.flows
    assert ends.rewritten == 1
