"""The latency of an exchange is a sum whose parts have names, the same at every vantage."""

import pytest
from hypothesis import HealthCheck, given, settings

from tests.exchanges.exchange import exchanges_of, expect_exact_sum, parts_ms
from tests.scene import Scene
from tests.scene.network import Tap
from tests.scene.scene import Scene as Stage
from tests.scene.strategies import acts

taps = pytest.mark.parametrize("tap", ["client", "between", "server"])


@taps
def test_30_kilobytes_each_way_take_four_round_trips_with_a_name_each(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=100)
    scene.client_transfers(30_000)
    scene.server_transfers(30_000)
    scene.closes()
    (exchange,) = exchanges_of(scene, tap)
    assert parts_ms(exchange) == {
        "handshake": 100, "request cwnd-limited": 100, "travel": 100, "response cwnd-limited": 100,
    }  # fmt: skip
    assert exchange["round_trips"] == pytest.approx(4.0, abs=0.05)
    assert exchange["latency_ns"] == pytest.approx(400e6, abs=2e6)


@taps
@pytest.mark.parametrize(("size", "round_trips"), [(14_480, 2), (14_481, 3)])
def test_one_byte_beyond_the_initial_window_costs_a_round_trip(
    scene: Scene, tap: Tap, size: int, round_trips: int
) -> None:
    scene.handshake(rtt_ms=100)
    scene.client_transfers(size)
    scene.server_sends(100)
    scene.closes()
    (exchange,) = exchanges_of(scene, tap)
    assert exchange["round_trips"] == pytest.approx(round_trips, abs=0.05)
    assert parts_ms(exchange)["request cwnd-limited"] == (100 if size > 14_480 else 0)


@taps
def test_what_the_server_thinks_is_its_own(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    for _ in range(3):
        scene.client_sends(200)
        scene.server_acks()
        scene.wait_ms(70)
        scene.server_sends(1_000)
        scene.client_acks()
        scene.wait_ms(300)
    first, *later = exchanges_of(scene, tap)
    assert len(later) == 2
    assert first["latency_ns"] == pytest.approx(later[0]["latency_ns"] + 20e6, abs=2e6)
    for exchange in later:
        assert 60 <= parts_ms(exchange)["think"] <= 80
        assert exchange["latency_ns"] == pytest.approx(90e6, abs=12e6)


def test_a_request_that_waits_for_its_time_does_not_pay_for_the_handshake(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.wait_ms(500)
    scene.download(2_000)
    (exchange,) = exchanges_of(scene)
    assert parts_ms(exchange) == {"travel": 20}


@taps
def test_a_server_that_speaks_first_answers_the_connection(scene: Scene, tap: Tap) -> None:
    scene.handshake(rtt_ms=20)
    scene.wait_ms(35)
    scene.server_sends(40)
    for _ in range(2):
        scene.client_sends(20)
        scene.server_sends(30)
    opening, *commands = exchanges_of(scene, tap)
    assert (opening["request_bytes"], opening["response_bytes"]) == (0, 40)
    assert parts_ms(opening)["handshake"] == 20
    assert 20 <= parts_ms(opening)["think"] <= 40
    assert [(one["request_bytes"], one["response_bytes"]) for one in commands] == [(20, 30), (20, 30)]
    assert all(parts_ms(one) == {"travel": 20} for one in commands)


def test_pipelined_requests_stay_one_round(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.client_sends(100)
    scene.client_sends(100)
    scene.server_sends(3_000)
    (exchange,) = exchanges_of(scene)
    assert (exchange["request_bytes"], exchange["response_bytes"]) == (300, 3_000)


def test_data_both_ways_at_once_is_one_round_with_overlaps(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(500)
    for _ in range(50):
        # Each speaks before it can have heard the other.
        scene.client.heard_ns = scene.server.heard_ns = 0
        scene.server.rcv_nxt = scene.client.nxt - 100
        scene.client.now_ns += 3_000_000
        scene.server.now_ns = max(scene.server.now_ns, scene.client.now_ns)
        heard = scene.client.rcv_nxt
        scene.server_sends(500)
        scene.client.rcv_nxt = heard
        scene.client_sends(500)
    flow = scene.flow("server")
    assert len(flow["exchanges"]) == 1
    assert flow["exchanges"][0]["overlaps"] > 10
    expect_exact_sum(flow["exchanges"][0])


def test_a_lost_end_of_a_request_is_the_request_s(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100, lost=True)
    scene.wait_ms(220)
    scene.client_repeats(0, 100)
    scene.server_sends(500)
    scene.client_acks()
    (exchange,) = exchanges_of(scene, "client")
    assert parts_ms(exchange)["request retransmission"] >= 200
    assert parts_ms(exchange)["think"] <= 20


def test_a_ping_of_an_idle_connection_is_no_part_of_the_last_response(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(3_000)
    scene.wait_ms(30_000)
    scene.server_sends(6)
    scene.client_acks()
    scene.wait_ms(10)
    scene.client_sends(100)
    scene.server_sends(300)
    flow = scene.flow()
    assert [exchange["response_bytes"] for exchange in flow["exchanges"]] == [3_000, 300]
    assert flow["connection"]["unprompted"] == 1


def test_a_closed_window_does_not_end_a_response(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_sends(10_000)
    scene.client_acks(window=0)
    scene.wait_ms(9_000)
    scene.client_acks(window=65_535)
    scene.server_sends(10_000)
    scene.client_acks()
    (exchange,) = exchanges_of(scene)
    assert exchange["response_bytes"] == 20_000
    assert parts_ms(exchange)["response zero-window"] > 8_900


def test_an_upload_that_nobody_answers_is_no_exchange(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_transfers(50_000)
    scene.closes()
    flow = scene.flow()
    assert flow["exchanges"] == []
    assert (flow["connection"]["exchanges"], flow["connection"]["unanswered"]) == (0, 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(play=acts(lossy=True))
def test_the_parts_of_any_exchange_sum_to_its_latency(tmp_path_factory: pytest.TempPathFactory, play) -> None:  # type: ignore[no-untyped-def]
    scene = Stage(tmp_path_factory.mktemp("scene"))
    play(scene)
    for tap in ("client", "between", "server"):
        for exchange in exchanges_of(scene, tap):
            assert exchange["latency_ns"] >= exchange["end_ns"] - exchange["start_ns"]


def test_every_exchange_of_the_fixtures_sums_exactly(fixture_capture) -> None:  # type: ignore[no-untyped-def]
    from tests.scene.verdict import flows_of

    for flow in flows_of(fixture_capture, exit_codes=(0, 4, 5)):
        for exchange in flow["exchanges"]:
            expect_exact_sum(exchange)


def test_a_response_that_nobody_acknowledges_is_at_least_so_long(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_sends(2_000)
    for _ in range(5):
        scene.wait_ms(800)
        scene.server_repeats(0, 1_448, lost=True)
    (exchange,) = exchanges_of(scene)
    assert not exchange["complete"]
    assert exchange["latency_ns"] < 100e6


def test_the_repair_of_a_lost_end_is_part_of_the_response(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.server_sends(1_000, lost=True)
    scene.wait_ms(220)
    scene.server_repeats(0, 1_000)
    scene.client_acks()
    (exchange,) = exchanges_of(scene, "server")
    assert exchange["complete"]
    assert parts_ms(exchange)["response retransmission"] >= 200
