"""Real transfers of 512 KB, pasted from tcpdump: every figure that was worked out by hand."""

from pathlib import Path

import pytest

import tcpstall

FIXTURES = Path(__file__).parents[2] / "fixtures"


def only_flow(name: str) -> tcpstall.Flow:
    (flow,) = tcpstall.analyze(str(FIXTURES / name))
    return flow


def waits(flow: tcpstall.Flow) -> list[tuple[str, str | None, int]]:
    """The server's stalls: cause, detail, microseconds."""
    return [(str(s.cause), s.detail, s.duration_ns // 1000) for s in flow.stalls if s.sender == "server"]


@pytest.mark.parametrize("name", ["slowstart-rtt7ms-512k.txt", "slowstart-rtt7ms-512k.pcap"])
class TestSlowStartOverSevenMilliseconds:
    def test_seven_bursts_to_the_byte(self, name: str) -> None:
        bursts = [burst.bytes for burst in only_flow(name).bursts or () if burst.sender == "server"]
        assert bursts == [14480, 28960, 46080, 104256, 78720, 232600, 19487]

    def test_six_waits_two_of_them_for_the_window(self, name: str) -> None:
        assert [(cause, us) for cause, _, us in waits(only_flow(name))] == [
            ("cwnd-limited", 7124),
            ("cwnd-limited", 7150),
            ("rwnd-limited", 6690),
            ("cwnd-limited", 6948),
            ("rwnd-limited", 7158),
            ("cwnd-limited", 7280),
        ]

    def test_the_first_is_the_initial_window_and_then_slow_start(self, name: str) -> None:
        details = [detail for cause, detail, _ in waits(only_flow(name)) if cause == "cwnd-limited"]
        assert details[:3] == ["initial-window", "slow-start", "slow-start"]

    def test_not_one_byte_of_the_window_was_left(self, name: str) -> None:
        full = [stall.evidence for stall in only_flow(name).stalls if stall.cause == "rwnd-limited"]
        assert [(e["peer_window_bytes"], e["window_unused_bytes"]) for e in full] == [(46080, 0), (78720, 0)]

    def test_a_round_cut_short_does_not_double_the_next(self, name: str) -> None:
        limited = [stall.evidence for stall in only_flow(name).stalls if stall.cause == "cwnd-limited"]
        assert [e["cwnd_estimate_segments"] for e in limited] == [10, 20, 72, 161]

    def test_every_microsecond_has_its_owner(self, name: str) -> None:
        ledger = {owner: ns // 1000 for owner, ns in only_flow(name).time_ns.items() if ns}
        assert ledger == {
            "handshake": 6858,
            "in-transit": 3332,
            "app-limited": 149,
            "sending": 222,
            "cwnd-limited": 28502,
            "rwnd-limited": 13848,
            "closing": 10152,
        }


def test_a_large_initcwnd_meets_the_window_and_the_rest_is_not_in_the_paste() -> None:
    flow = only_flow("initcwnd100-512k-elided.txt")
    assert next(b.bytes for b in flow.bursts or () if b.sender == "server") == 63712
    own = [stall for stall in flow.stalls if stall.sender == "server" and stall.cause != "app-limited"]
    assert [(str(s.cause), s.duration_ns // 1000) for s in own] == [("rwnd-limited", 702), ("capture-gap", 6549)]
    assert own[0].evidence["window_unused_bytes"] == 544
    assert own[1].start_ns == own[0].end_ns


def test_an_idle_of_ten_seconds_restarts_slow_start() -> None:
    flow = only_flow("idle-restart-on-elided.txt")
    assert ("app-limited", "idle", 9_992_972) in waits(flow)
    (restart,) = [stall for stall in flow.stalls if stall.cause == "idle-restart"]
    assert restart.duration_ns == 3_604_000
    assert restart.evidence["in_flight_bytes"] == 13984
    assert restart.evidence["window_unused_bytes"] == 535_008


def test_without_slow_start_after_idle_nothing_restarts_and_the_hole_is_not_judged() -> None:
    flow = only_flow("idle-restart-off-elided.txt")
    assert "idle-restart" not in {cause for cause, _, _ in waits(flow)}
    assert "idle-restart" not in {owner for owner, ns in flow.time_ns.items() if ns}
    assert ("unexplained", None, 1391) in waits(flow)
