"""Every cause has a remedy or says why there is none, with values computed from the flow."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcpstall import Cause, Direction, Endpoint, Flow, Losses, Stall, analyze
from tcpstall.advice import confirm, sizing, treatment
from tcpstall.advice.remedy import Platform, Remedy
from tcpstall.advice.treatment import Treatment, services_by_end, treatments
from tcpstall.model import IdleClose, Service
from tcpstall.units import number
from tests.report.flows import MS, flow, stall

FIXTURES = Path(__file__).parents[2] / "fixtures"

CHANGES = {
    "initcwnd", "sndbuf", "rcvbuf", "slow-start-after-idle", "rtt", "rate", "nodelay", "delayed-ack",
    "reuse-connection", "loss", "think",
}  # fmt: skip
"""Changes that `whatif --set` knows."""

DETAILS = {
    Cause.CWND_LIMITED: ("initial-window", "slow-start", "congestion-avoidance"),
    Cause.RWND_LIMITED: ("small-buffer", "slow-reader"),
    Cause.ZERO_WINDOW: (None, "below-segment", "never-reopened"),
    Cause.RETRANSMISSION: ("timeout", "fast-retransmit", "tail-loss", "recovery", "spurious"),
    Cause.APP_LIMITED: ("idle", "think-time", "awaiting-peer"),
    Cause.HANDSHAKE: ("syn-loss", "refused", "unanswered"),
    Cause.NAGLE: (None, "tail-held", "filled-up"),
    Cause.DELAYED_ACK: (None, "nagle"),
}
EVERYTHING = [(cause, detail) for cause in Cause for detail in DETAILS.get(cause, (None,))]
everything = pytest.mark.parametrize(
    ("cause", "detail"), EVERYTHING, ids=[f"{cause.value}-{detail or 'plain'}" for cause, detail in EVERYTHING]
)


def treated(cause: Cause, detail: str | None = None, **evidence: int) -> Treatment:
    found = treatments(flow(stall(cause, 40, detail=detail, evidence=evidence)))
    return next(one for one in found if one.case.cause is cause)


def with_address(address: str, cause: Cause, detail: str | None) -> list[Treatment]:
    one = flow(stall(cause, 40, detail=detail))
    return treatments(
        dataclasses.replace(one, client=Endpoint(address, 40_000), server=Endpoint(address, 443)),
    )


def linux(remedy: Remedy) -> str:
    return " ; ".join(remedy.steps[Platform.LINUX].commands)


@everything
def test_a_finding_has_a_remedy_or_says_why_not(cause: Cause, detail: str | None) -> None:
    found = treated(cause, detail)
    assert found.remedies or found.nothing.startswith("nothing to change")


@everything
def test_a_remedy_is_whole(cause: Cause, detail: str | None) -> None:
    for remedy in treated(cause, detail).remedies:
        assert remedy.title
        assert remedy.helps_if
        assert remedy.risk
        assert remedy.source
        assert set(remedy.steps) == set(Platform)
        for step in remedy.steps.values():
            assert step.commands or step.program or step.note
            assert not step.commands or step.source or step.note
        if remedy.whatif:
            name, _, value = remedy.whatif.partition("=")
            assert name in CHANGES
            assert re.fullmatch(r"[0-9]+(bit)?|auto", value)
            assert value != "0" or name in ("slow-start-after-idle", "delayed-ack", "loss", "think")


@everything
def test_nothing_is_guessed_where_nothing_is_documented(cause: Cause, detail: str | None) -> None:
    for remedy in treated(cause, detail).remedies:
        for step in remedy.steps.values():
            if step.note.startswith("unknown"):
                assert not step.commands
                assert not step.program


@everything
def test_a_finding_can_be_confirmed_on_linux(cause: Cause, detail: str | None) -> None:
    checks = [check for check in treated(cause, detail).checks if check.platform is Platform.LINUX]
    if cause in (Cause.CAPTURE_GAP, Cause.UNEXPLAINED):
        assert not checks
        return
    assert checks
    assert all(check.command and check.shows and check.source for check in checks)


def test_a_cause_without_remedies_of_its_own_has_the_core_s_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(treatment._BY_CAUSE, Cause.NAGLE)
    monkeypatch.delitem(confirm._ON_LINUX, Cause.NAGLE)
    found = treated(Cause.NAGLE, None)
    assert found.nothing == f"nothing to change in TCP that is known: {found.case.stalls[0].advice}"
    assert any(check.platform is Platform.LINUX and check.command.startswith("ss ") for check in found.checks)


def test_the_dearest_finding_comes_first() -> None:
    found = treatments(flow(stall(Cause.NAGLE, 20), stall(Cause.SNDBUF_LIMITED, 50), stall(Cause.IDLE_RESTART, 1)))
    assert [one.case.cause for one in found] == [Cause.SNDBUF_LIMITED, Cause.NAGLE]


def test_kinds_of_a_cause_share_what_the_ledger_gives_it() -> None:
    one = flow(
        stall(Cause.APP_LIMITED, 30, detail="think-time"),
        stall(Cause.APP_LIMITED, 10, detail="idle"),
        stall(Cause.APP_LIMITED, 20, detail="awaiting-peer", sender="client"),
    )
    found = treatments(one)
    assert [one.case.kind for one in found] == ["think-time", "awaiting-peer", ""]
    assert sum(one.case.time_ns for one in found) == one.time_ns["app-limited"]


def test_a_path_that_is_busy_without_a_gap_is_a_finding_too() -> None:
    one = flow()
    busy = dataclasses.replace(one, time_ns={**one.time_ns, "bandwidth-limited": 50 * MS})
    (found,) = treatments(busy)
    assert found.case.cause is Cause.BANDWIDTH_LIMITED
    assert "nothing to change on this host" in found.nothing


@pytest.mark.parametrize(
    ("losses", "told"),
    [
        (None, "losses come from a bad link, a full queue or a policer that somebody can mend"),
        (
            Losses(5, 1, 3, 400_000, None),
            "losses come from a bad link, a full queue or a policer that somebody can mend",
        ),
        (Losses(5, 0, 5, 400_000, None), "no queue stood when data was lost"),
        (Losses(5, 5, 0, 40_000_000, None), "that was full when data was lost"),
    ],
)
def test_losses_are_searched_where_the_path_shows_them(losses: Losses | None, told: str) -> None:
    one = flow(stall(Cause.RETRANSMISSION, 40, detail="recovery"))
    server = dataclasses.replace(one.directions["server"], losses=losses)
    lossy = dataclasses.replace(one, directions={**one.directions, "server": server})
    first = treatments(lossy)[0].remedies[0]
    assert told in " ".join(str(value) for value in dataclasses.astuple(first))


def slow_start(window: int, **direction: Any) -> Flow:
    one = flow(
        stall(Cause.CWND_LIMITED, 40, detail="initial-window", evidence={"peer_window_bytes": window}), length_ms=200
    )
    server = dataclasses.replace(one.directions["server"], **direction)
    return dataclasses.replace(one, directions={**one.directions, "server": server})


def test_initcwnd_beyond_the_first_window_buys_nothing() -> None:
    (found,) = treatments(slow_start(65_160))
    first = found.remedies[0]
    assert first.whatif == "initcwnd=45"
    assert linux(first) == "ip route change $(ip route get 192.0.2.1 fibmatch) initcwnd 45"
    assert "beyond that it buys nothing" in first.title
    assert "65.2 kB binds" in first.title


def test_initcwnd_that_is_large_already_is_not_raised() -> None:
    (found,) = treatments(slow_start(65_160, initial_window_bytes=45 * 1_448))
    assert [remedy.whatif for remedy in found.remedies] == ["reuse-connection=1"]


def test_initcwnd_says_how_many_round_trips_it_saves() -> None:
    (found,) = treatments(slow_start(1 << 20, bytes=30_000))
    assert found.remedies[0].whatif == "initcwnd=21"
    assert "1 doubling from 10, 0 from 21, so 1 round trip of 10.0 ms less" in found.remedies[0].helps_if


def test_the_link_bounds_initcwnd_where_its_rate_is_given() -> None:
    (found,) = treatments(slow_start(1 << 20), link_bytes_per_s=12_500_000)
    assert found.remedies[0].whatif == f"initcwnd={sizing.segments_in(125_000, 1_448)}"


def test_an_ipv6_route_is_changed_by_its_own_command() -> None:
    (found,) = with_address("2001:db8::1", Cause.CWND_LIMITED, "slow-start")
    assert linux(found.remedies[0]).startswith("ip -6 route change $(ip -6 route get 2001:db8::1 fibmatch) initcwnd ")
    assert "2001:db8::1/128" in " ".join(found.remedies[0].steps[Platform.WINDOWS].commands)


def test_windows_gets_an_even_number_it_takes() -> None:
    (found,) = treatments(slow_start(1 << 20))
    assert "-InitialCongestionWindowMss 64" in found.remedies[0].steps[Platform.WINDOWS].commands[0]


def test_a_send_buffer_is_left_to_autotuning_first() -> None:
    found = treated(Cause.SNDBUF_LIMITED, buffer_low_bytes=5_000, buffer_high_bytes=21_720, buffer_needed_bytes=260_640)
    first, second = found.remedies
    assert first.title.startswith("do not set SO_SNDBUF")
    assert number(sizing.tcp_wmem_max_for(260_640, 1_448)) in first.steps[Platform.LINUX].note
    assert f" {sizing.TCP_WMEM_DEFAULT})" in linux(first)
    asked = sizing.so_sndbuf_for(260_640, 1_448)
    assert str(asked) in linux(second)
    assert second.whatif == f"sndbuf={asked}"


def test_autotuning_is_given_as_much_room_as_whatif_replays() -> None:
    (found,) = rwnd(8_688, 8_688, plateau_bytes=8_688, buffer_needed_bytes=86_880).remedies
    assert found.whatif == "rcvbuf=auto"
    assert f" {6 << 20})" in linux(found)
    assert "hold that window" in found.steps[Platform.LINUX].note


def test_a_setting_of_the_whole_host_is_said_to_fail_in_a_container() -> None:
    second = treated(Cause.SNDBUF_LIMITED).remedies[1]
    assert "net.core.wmem_max" in linux(second)
    assert "container" in second.steps[Platform.LINUX].note


def test_no_more_is_needed_in_flight_than_was_sent() -> None:
    found = treated(Cause.SNDBUF_LIMITED, buffer_needed_bytes=50_000_000)
    assert "1.0 MB in flight (all that it sent)" in found.remedies[0].title


def test_memory_that_is_short_for_all_of_tcp_is_not_in_packets() -> None:
    checks = treated(Cause.SNDBUF_LIMITED).checks
    (memory,) = (check for check in checks if "sock_exceed_buf_limit" in check.command)
    assert "not visible in packets" in memory.shows
    assert any("sk_stream_wait_memory" in check.command for check in checks)


def rwnd(*windows: int, scale: int | None = 7, **evidence: int) -> Treatment:
    waits: list[Stall] = [
        stall(
            Cause.RWND_LIMITED,
            20,
            at_ms=10 + 30 * place,
            detail="small-buffer",
            evidence={"peer_window_bytes": size} | evidence,
        )
        for place, size in enumerate(windows)
    ]
    one = flow(*waits, length_ms=200)
    client = Direction(bytes=100, segments=1, window_scale=scale)
    (found,) = treatments(dataclasses.replace(one, directions={**one.directions, "client": client}))
    return found


def test_a_fixed_receive_buffer_is_left_to_autotuning() -> None:
    (remedy,) = rwnd(8_688, 8_688, plateau_bytes=8_688, buffer_needed_bytes=17_376).remedies
    assert remedy.title.startswith("do not set SO_RCVBUF")
    assert remedy.at == "client"


def test_a_window_that_grows_too_late_is_opened_sooner() -> None:
    (remedy,) = rwnd(46_080, 78_720, buffer_needed_bytes=196_928).remedies
    assert "initrwnd 136" in linux(remedy)
    assert remedy.whatif == "rcvbuf=196928"


def test_a_window_without_scale_is_a_matter_of_the_syn() -> None:
    first, *_ = rwnd(65_535, 65_535, scale=0, plateau_bytes=65_535, buffer_needed_bytes=131_070).remedies
    assert "beyond 65,535 bytes" in first.title


def test_a_slow_reader_needs_no_buffer() -> None:
    found = treated(Cause.RWND_LIMITED, "slow-reader")
    assert not found.remedies
    assert "the client's application reads too slowly" in found.nothing


def test_a_shorter_timer_is_for_short_paths() -> None:
    short = treatments(flow(stall(Cause.RETRANSMISSION, 40, detail="tail-loss")))[0]
    long = treatments(dataclasses.replace(short.case.flow, base_rtt_ns=100 * MS))[0]
    assert any("rto_min 50ms" in linux(remedy) for remedy in short.remedies)
    assert not any("rto_min" in linux(remedy) for remedy in long.remedies)


def test_reuse_says_what_it_would_have_saved_and_who_hangs_up() -> None:
    service = Service("192.0.2.2", 443, 1, 10, 10, 10, 100 * MS, 9, 90 * MS, 0, 10, IdleClose("server", 5_000 * MS, 9))
    found = treatments(flow(), service=service)
    assert not found  # its handshake was short, and none of the flow's stalls
    one = flow(stall(Cause.HANDSHAKE, 10, sender="client"))
    (treatment,) = treatments(one, service=service)
    remedy, longer = treatment.remedies
    assert "of 10 connections here it would have saved 9 handshakes, 90.0 ms" in remedy.helps_if
    assert longer.title == "keep idle connections open for longer than 5.00 s at the server"
    assert longer.at == "server"
    assert "9 connections ended so" in longer.helps_if


def flows_of_fixtures() -> Iterator[tuple[Flow, list[Treatment]]]:
    for path in sorted(FIXTURES.rglob("*.pcap")):
        analysis = analyze(path, bursts=False)
        for one in analysis:
            yield one, treatments(one, service=services_by_end(analysis).get(one.server))


def test_every_flow_of_the_fixtures_is_treated_within_its_time() -> None:
    causes: set[Cause] = set()
    for one, found in flows_of_fixtures():
        assert sum(treatment.case.time_ns for treatment in found) <= one.duration_ns
        causes |= {treatment.case.cause for treatment in found}
    assert {Cause.CWND_LIMITED, Cause.SNDBUF_LIMITED, Cause.RWND_LIMITED, Cause.ZERO_WINDOW} <= causes
