"""`unexplained`: the evidence does not decide."""

from collections import Counter
from typing import Any

import pytest

from tests.causes.triple import NOT_A_STALL_MS, causes, fires, look_alike, near_miss
from tests.scene import Scene, Stall
from tests.scene.files import write
from tests.scene.network import Tap
from tests.scene.packet import Packet
from tests.scene.verdict import flows_of


def slow_start(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(600_000)


@fires
def test_a_capture_that_begins_in_mid_transfer_cannot_tell_what_filled_a_single_flight(scene: Scene, tap: Tap) -> None:
    slow_start(scene)
    before = sum(time < scene.start_ns + 95_000_000 for time, _ in scene.packets(tap))
    stalls = scene.stalls("server", tap, over_ms=NOT_A_STALL_MS, drop=range(1, before + 1))
    assert stalls
    assert Stall("unexplained") in stalls


@near_miss
def test_the_same_transfer_seen_from_its_start_is_decided(scene: Scene, tap: Tap) -> None:
    slow_start(scene)
    assert causes(scene, tap) == ["cwnd-limited"]


@look_alike
def test_an_idle_second_explains_itself_even_without_a_handshake(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(10_000)
    scene.wait_ms(1_000)
    scene.download(10_000)
    assert causes(scene, tap, drop=range(1, 4)) == ["app-limited"]


def candidates(scene: Scene, tap: Tap, **how: Any) -> Counter[tuple[str, ...]]:
    """Causes that the report ranks for each unexplained wait of the server, likeliest first."""
    rows = scene.flow(tap, **how)["stalls"]
    return Counter(tuple(row["also"]) for row in rows if row["cause"] == "unexplained" and row["sender"] == "server")


def test_flights_that_grow_as_their_acks_allow_need_no_handshake(scene: Scene, tap: Tap) -> None:
    slow_start(scene)
    assert causes(scene, tap, drop=range(1, 4)) == ["cwnd-limited"]


def test_a_flight_that_some_scale_makes_the_whole_window_is_likeliest_the_receivers(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, client_window=8_192, client_scale=3)
    scene.client_sends(147)
    scene.server_sends(5 * 1_448)
    scene.client_acks(window=8_192)
    scene.server_sends(5 * 1_448)
    scene.client_acks(window=8_192)
    scene.server_sends(1_448)
    scene.client_acks()
    ranked = candidates(scene, "server", drop=range(1, 4))
    assert all(also[0] == "rwnd-limited" for also in ranked if "rwnd-limited" in also), ranked


def test_what_is_missing_is_named_wherever_nothing_is_explained(scene: Scene, tap: Tap) -> None:
    slow_start(scene)
    rows = scene.flow(tap, drop=range(1, 4))["stalls"]
    assert all(row["missing"] for row in rows if row["cause"] == "unexplained")


@fires
def test_while_something_before_the_tap_holds_a_packet_nobody_knows_what_its_sender_waits_for(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(100_000)
    for _ in range(4):
        scene.server_sends(1_448, late_ms=80)
        scene.server_sends(1_448)
        scene.client_acks()
    scene.server_sends(1_448)
    rows = [row for row in scene.flow("client")["stalls"] if row["duration_ns"] > 50e6]
    assert {row["cause"] for row in rows} == {"unexplained"}
    assert all("queue before the tap" in row["missing"][0] for row in rows)


def hardly_captured(scene: Scene, holds: int) -> Any:
    """A transfer of which the capture holds all ACKs and one segment in so many; what it says of its long waits."""
    scene.handshake(rtt_ms=20)
    scene.download(2_000_000, tso=1)
    scene.wait_ms(2_000)
    scene.download(2_000_000, tso=1)
    data = [number for number, (_, packet) in enumerate(scene.packets("client"), 1) if packet.payload > 500]
    lost = set(data) - set(data[::holds])
    return scene.flow("client", drop=lost)


@fires
def test_where_the_capture_lacks_nearly_all_data_nothing_is_known_of_its_silences(scene: Scene) -> None:
    flow = hardly_captured(scene, 100)
    said = {stall["cause"] for stall in flow["stalls"] if stall["sender"] == "server" and stall["duration_ns"] > 20e6}
    assert said <= {"unexplained", "capture-gap", "retransmission"}
    assert flow["rtt_spikes"] == []


def stamped(scene: Scene, numbers: range, leap_s: float) -> dict[str, Any]:
    """The flow where the clock of some packets leaps ahead, or back, for as long as they last."""
    leap = round(leap_s * 1e9)
    packets = [(time + leap * (number in numbers), p) for number, (time, p) in enumerate(scene.packets(), 1)]
    path = scene.folder / "stamped.pcap"
    write(path, packets)
    (flow,) = flows_of(path)
    return flow


@fires
def test_a_leap_that_the_clock_takes_back_is_no_wait(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(4):
        scene.download(5_000)
    flow = stamped(scene, range(9, 10), 71_339_732)
    rows = [row for row in flow["stalls"] if row["duration_ns"] > 1e9]
    assert {(row["cause"], row["confidence"]) for row in rows} == {("unexplained", 0.0)}
    assert all("time" in row["missing"][0] for row in rows)


@near_miss
def test_a_wait_before_a_clock_that_steps_back_by_less_is_still_a_wait(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    scene.wait_ms(2_000)
    scene.download(5_000)
    flow = stamped(scene, range(len(scene.packets()) - 2, 100), -0.005)
    assert {row["cause"] for row in flow["stalls"] if row["duration_ns"] > 1e9} == {"app-limited"}


@fires
@pytest.mark.parametrize(("numbers", "leap_s"), [(range(2, 3), 83_886_081), (range(1, 2), -1_400_000_000)])
def test_a_handshake_of_years_is_a_wrong_time(scene: Scene, numbers: range, leap_s: float) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    flow = stamped(scene, numbers, leap_s)
    (row,) = (row for row in flow["stalls"] if row["duration_ns"] > 1e9)
    assert (row["cause"], row["confidence"]) == ("unexplained", 0.0)
    assert sum(flow["time_ns"].values()) == flow["end_ns"] - flow["start_ns"]


@look_alike
def test_a_capture_that_stores_packets_once_a_second_shows_no_queue(scene: Scene) -> None:
    """Both ends' timestamps advance by several round trips while their packets are a fraction of one apart."""
    scene.handshake(rtt_ms=150)
    for _ in range(5):
        scene.request()
        scene.download(20_000)
    stored: list[tuple[int, Packet]] = []
    for time, packet in scene.packets("client"):
        second = scene.start_ns + ((time - scene.start_ns) // 10**9 + 1) * 10**9
        stored.append((max(second, stored[-1][0] + 30_000 if stored else 0), packet))
    path = scene.folder / "stored.pcap"
    write(path, stored)
    (flow,) = flows_of(path)
    assert {row["cause"] for row in flow["stalls"] if row["duration_ns"] > 900e6} == {"unexplained"}


def stamped_by_two_clocks(scene: Scene, apart_s: float) -> dict[str, Any]:
    """The flow where another clock than that of the client's packets stamps the server's."""
    apart = round(apart_s * 1e9)
    server = scene.packets()[1][1].source
    path = scene.folder / "clocks.pcap"
    write(path, [(time + apart * (packet.source == server), packet) for time, packet in scene.packets()])
    (flow,) = flows_of(path)
    return flow


def exchanges(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(6):
        scene.request()
        scene.wait_ms(1_500)
        scene.download(5_000)


@fires
def test_between_two_clocks_no_shorter_wait_has_a_cause(scene: Scene) -> None:
    exchanges(scene)
    flow = stamped_by_two_clocks(scene, 5)
    assert {row["cause"] for row in flow["stalls"]} == {"unexplained"}
    assert all("time" in row["missing"][0] for row in flow["stalls"])


@near_miss
def test_a_wait_that_lasted_longer_than_the_clocks_differ_is_a_wait(scene: Scene) -> None:
    exchanges(scene)
    flow = stamped_by_two_clocks(scene, 0.3)
    assert {row["cause"] for row in flow["stalls"] if row["duration_ns"] > 1.2e9} == {"app-limited"}
