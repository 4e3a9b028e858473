"""The founding experiments: what tcpstall says of each capture is what the sender's kernel knew."""

from pathlib import Path

import pytest

from tcpstall import Cause, Stall
from tests.tools.lab.sets.founding import scenarios
from tests.tools.lab.truths.agreement import Fixture

FIXTURES = Path(__file__).parents[3] / "fixtures" / "lab"
NAMES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
SIDES = ("sender", "receiver")


def fixture(name: str) -> Fixture:
    return Fixture(FIXTURES / name)


def causes(name: str, side: str = "sender") -> list[str]:
    """Of the sender's stalls between its first and its last data."""
    return [str(stall.cause) for stall in fixture(name).waits(side) if stall.cause is not Cause.HANDSHAKE]


def only(name: str, cause: str, side: str = "sender") -> list[Stall]:
    return [stall for stall in fixture(name).waits(side) if stall.cause == cause]


def test_every_experiment_has_its_fixture() -> None:
    assert sorted(one.name for one in scenarios()) == NAMES


def test_all_of_them_together_are_small() -> None:
    assert sum(path.stat().st_size for path in FIXTURES.glob("*/*")) <= 6 << 20


@pytest.mark.parametrize("side", SIDES)
def test_the_tool_and_the_kernel_agree_on_nineteen_twentieths_of_the_time(side: str) -> None:
    agreed = dict.fromkeys(NAMES, (0.0, 0.0))
    for name in NAMES:
        stalls = fixture(name).waits(side)
        spans = list(fixture(name).spans(side))
        agreed[name] = (sum(span.agreed(stalls) for span in spans), sum(span.seconds for span in spans))
    both, whole = (sum(values) for values in zip(*agreed.values(), strict=True))
    assert both >= 0.95 * whole, agreed


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_in_no_experiment_is_most_of_the_time_given_to_a_wrong_cause(name: str, side: str) -> None:
    stalls = fixture(name).waits(side)
    spans = list(fixture(name).spans(side))
    undecided = sum(stall.duration_ns for stall in stalls if stall.cause == "unexplained") / 1e9
    decided = sum(span.seconds for span in spans) - undecided
    assert sum(span.agreed(stalls) for span in spans) >= 0.8 * decided, spans


@pytest.mark.parametrize("side", SIDES)
class TestTheEdgeOfTheInitialWindow:
    def test_14480_bytes_wait_for_nothing(self, side: str) -> None:
        assert only("edge-14480", "cwnd-limited", side) == []

    def test_one_byte_more_waits_one_round_trip(self, side: str) -> None:
        (stall,) = only("edge-14481", "cwnd-limited", side)
        assert stall.detail == "initial-window"
        assert 95e6 < stall.duration_ns < 105e6

    def test_thirty_kilobytes_each_way_wait_one_round_trip_each_way(self, side: str) -> None:
        stalls = [stall for stall in fixture("rpc-30k").flow(side).stalls if stall.cause == "cwnd-limited"]
        assert sorted(stall.sender for stall in stalls) == ["client", "server"]
        assert all(95e6 < stall.duration_ns < 110e6 for stall in stalls)


@pytest.mark.parametrize("side", SIDES)
class TestSlowStart:
    def test_it_begins_with_the_initial_window(self, side: str) -> None:
        details = [stall.detail for stall in only("slowstart-512k", "cwnd-limited", side)]
        assert details[:2] == ["initial-window", "slow-start"]

    def test_a_large_initial_window_saves_three_waits(self, side: str) -> None:
        assert len(only("initcwnd-100", "cwnd-limited", side)) <= len(only("slowstart-512k", "cwnd-limited", side)) - 3

    def test_an_idle_of_three_seconds_starts_it_again(self, side: str) -> None:
        assert len(only("idle-restart-on", "idle-restart", side)) >= 4
        assert only("idle-restart-off", "idle-restart", side) == []

    def test_the_idle_itself_is_the_programs(self, side: str) -> None:
        for name in ("idle-restart-on", "idle-restart-off"):
            assert max(stall.duration_ns for stall in only(name, "app-limited", side)) > 2.9e9


@pytest.mark.parametrize("side", SIDES)
class TestBuffers:
    @pytest.mark.parametrize("name", ["sndbuf-16k", "sndbuf-32k-5ms"])
    def test_a_small_send_buffer_is_what_most_waits_are_for(self, name: str, side: str) -> None:
        found = causes(name, side)
        assert found.count("sndbuf-limited") > len(found) / 2

    @pytest.mark.parametrize("name", ["rcvbuf-8k-40ms", "rmem-4096"])
    def test_a_small_receive_buffer_is_what_most_waits_are_for(self, name: str, side: str) -> None:
        found = causes(name, side)
        assert found.count("rwnd-limited") > 0.8 * len(found)

    @pytest.mark.parametrize("name", ["wmem-4096-up", "rmem-4096-up", "wmem-default", "rmem-default"])
    def test_the_buffer_of_the_end_that_does_not_use_it_costs_nothing(self, name: str, side: str) -> None:
        assert not {"sndbuf-limited", "rwnd-limited", "zero-window"} & set(causes(name, side))


@pytest.mark.parametrize("side", SIDES)
class TestAReceiverThatStopsReading:
    def test_six_seconds_are_the_closed_window(self, side: str) -> None:
        (stall,) = only("zero-window-6s", "zero-window", side)
        assert 5.8e9 < stall.duration_ns < 6.1e9
        assert stall.ended


def test_probes_that_nobody_answers_never_end_the_stall() -> None:
    (stall,) = only("zero-window-dead", "zero-window")
    assert not stall.ended
