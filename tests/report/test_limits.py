"""The figures of buffers, readers, shut windows and idle restarts reach the reader of the text report."""

from tcpstall import Cause, Stall
from tcpstall.facts import mostly
from tcpstall.report.limits import figure, lifting
from tcpstall.report.phrases import phrase
from tcpstall.report.stalls import stall_list
from tcpstall.report.verdict import verdict
from tests.report.flows import flow, stall, text

BUFFER = {
    "ceiling_bytes_per_s": 217_140,
    "buffer_low_bytes": 5_792,
    "buffer_high_bytes": 8_688,
    "buffer_needed_bytes": 17_376,
    "needed_bytes_per_s": 434_280,
}
WINDOW = {"peer_window_bytes": 8_688}
SMALL = stall(Cause.RWND_LIMITED, 40, detail="small-buffer", evidence=BUFFER | WINDOW)
SLOW = stall(
    Cause.RWND_LIMITED,
    30,
    detail="slow-reader",
    evidence={"peer_window_bytes": 8_560, "window_plateau_bytes": 80_480, "drain_bytes_per_s": 1_632_539},
)


def dead(**evidence: int) -> str:
    shut = stall(Cause.ZERO_WINDOW, 50, ended=False, detail="never-reopened", evidence=evidence)
    return phrase(Cause.ZERO_WINDOW, flow(shut), [shut])


def sized(one: Stall) -> str:
    return lifting(flow(one), [one])


def test_the_advice_carries_the_size_that_was_seen_and_the_size_that_is_needed() -> None:
    said = text(*verdict(flow(SMALL), width=200))
    assert "was full once: no more than 1.7 Mbit/s" in said
    assert "(SO_RCVBUF looks like 5.8–8.7 kB; needed in flight: 17.4 kB, for 3.5 Mbit/s)" in said


def test_a_send_buffer_is_sized_by_its_own_option() -> None:
    said = sized(stall(Cause.SNDBUF_LIMITED, 40, evidence=BUFFER))
    assert said == "SO_SNDBUF looks like 5.8–8.7 kB; needed in flight: 17.4 kB, for 3.5 Mbit/s"


def test_what_is_not_known_is_not_said() -> None:
    assert sized(stall(Cause.SNDBUF_LIMITED, 40)) == ""
    assert sized(stall(Cause.CWND_LIMITED, 40, evidence=BUFFER)) == ""
    assert figure(stall(Cause.SNDBUF_LIMITED, 40)) == ""


def test_a_slow_reader_is_told_apart_from_a_small_buffer() -> None:
    said = phrase(Cause.RWND_LIMITED, flow(SMALL, SLOW), [SMALL, SLOW])
    slow, small = said.split("; ")
    assert slow.startswith(
        "the client's application read too slowly (13.1 Mbit/s): what was left of its window (8,560 of 80,480"
    )
    assert small.startswith("the client's window (8,688 bytes) was full once")


def test_the_value_of_most_time_speaks_for_all() -> None:
    long, short = (stall(Cause.PACING, ms, evidence={"x": value}) for ms, value in ((9, 1), (2, 2)))
    assert mostly([short, long, short], "x") == 1
    assert mostly([stall(Cause.PACING, 5)], "x") is None


def test_probes_and_their_answers_are_counted() -> None:
    assert dead(window_probes=3, probes_unanswered=0, probes_since_heard=0).endswith("3 window probes, all answered")
    assert dead(window_probes=4, probes_unanswered=1, probes_since_heard=0).endswith("4 window probes, 1 unanswered")


def test_a_peer_that_is_gone_is_told_so() -> None:
    assert "nobody was there at the end" in dead(window_probes=4, probes_unanswered=3, probes_since_heard=3)


def test_each_restart_adds_its_round_trips() -> None:
    first = {"cwnd_before_idle_segments": 149, "cwnd_after_idle_segments": 10, "extra_round_trips": 3}
    stalls = [
        stall(Cause.IDLE_RESTART, 20, evidence=first),
        stall(Cause.IDLE_RESTART, 20, evidence={}),
        *[stall(Cause.IDLE_RESTART, 20, evidence=first)],
    ]
    said = phrase(Cause.IDLE_RESTART, flow(*stalls), stalls)
    assert said.endswith("congestion window from 149 to 10 segments twice, 6 extra round trips")


def test_a_stall_tells_its_figure_once_while_it_stays_the_same() -> None:
    for width in (80, 160):
        said = text(*stall_list(flow(SMALL, SMALL, SLOW), width=width, rows=10))
        assert said.count("≤ 1.7 Mbit/s") == 1
        assert said.count("reads 13.1 Mbit/s") == 1
