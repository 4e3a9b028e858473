"""The verdict says the right thing about each kind of flow."""

from dataclasses import replace

import pytest

from tcpstall import Cause, Endpoint, Flow, Handshake
from tcpstall.report.phrases import phrase, phrase_of_one
from tcpstall.report.verdict import verdict
from tcpstall.trust import Trust
from tests.report.flows import MS, flow, stall, text


def test_a_flow_that_lost_nothing_is_told_so() -> None:
    said = text(*verdict(flow(), width=160))
    assert "never waited longer than a round trip, handshake 10.0 ms" in said.splitlines()[0]


def test_causes_come_in_order_of_their_time() -> None:
    said = text(*verdict(flow(stall(Cause.PACING, 5), stall(Cause.ZERO_WINDOW, 50)), width=160))
    assert said.index("zero-window") < said.index("pacing")
    assert said.splitlines()[0].endswith("lost 65.0 ms (65 %), 2 stalls, handshake 10.0 ms")


def test_time_below_a_hundredth_of_the_largest_is_told_in_the_last_line_only() -> None:
    lines = text(*verdict(flow(stall(Cause.PACING, 0.1), stall(Cause.ZERO_WINDOW, 50)), width=160)).splitlines()
    assert "pacing 100 µs" in lines[-1]
    assert not any("pacing" in line for line in lines[:-1])


def test_missing_evidence_is_named() -> None:
    blind = stall(Cause.UNEXPLAINED, 30, missing=("window scale: no SYN",), also=(Cause.RWND_LIMITED,), confidence=0.2)
    said = text(*verdict(flow(blind), width=160))
    assert "cannot tell: the capture lacks window scale (no SYN)" in said
    assert "likeliest rwnd-limited" in said


def test_a_capture_gap_is_no_accusation() -> None:
    said = text(*verdict(flow(stall(Cause.CAPTURE_GAP, 30, missing=("packets",))), width=160))
    assert "cannot tell: the capture lacks packets" in said


def test_low_confidence_is_said_with_the_runner_up() -> None:
    shaky = stall(Cause.SNDBUF_LIMITED, 30, confidence=0.4, also=(Cause.APP_LIMITED,))
    assert "probably (else app-limited): " in text(*verdict(flow(shaky), width=160))


def test_the_advice_is_that_of_the_longest_stalls() -> None:
    short, long = stall(Cause.PACING, 1, advice="first"), stall(Cause.PACING, 9, advice="second")
    said = text(*verdict(flow(short, long), width=160))
    assert "→ second" in said
    assert "→ first" not in said


def test_a_handshake_that_took_long_is_a_finding() -> None:
    slow = stall(Cause.HANDSHAKE, 3000, at_ms=0, detail="syn-loss")
    said = text(*verdict(flow(slow, length_ms=4000, handshake=Handshake(True, 3000 * MS)), width=160))
    assert "3.00 s" in said
    assert "syn-loss" in said


def test_a_plain_handshake_is_not() -> None:
    said = text(*verdict(flow(stall(Cause.HANDSHAKE, 10, at_ms=0)), width=160))
    assert "to set up" not in said


def test_a_connection_that_never_came_about_is_told_so() -> None:
    said = text(*verdict(flow(handshake=Handshake(False, 7000 * MS)), width=160))
    assert "handshake never completed in 7.00 s" in said


def test_a_handshake_that_was_not_captured_is_not_called_zero() -> None:
    assert "handshake not captured" in text(*verdict(flow(handshake=Handshake(False, None)), width=160))


def test_an_upload_names_the_client_as_sender() -> None:
    base = flow(stall(Cause.RWND_LIMITED, 20, sender="client"))
    upload = replace(base, directions={"client": base.directions["server"], "server": base.directions["client"]})
    said = text(*verdict(upload, width=160))
    assert said.startswith("192.0.2.1:40000 → 192.0.2.2:443")
    assert "the server's window" in said


def test_whose_application_paused_and_how_is_one_sentence_each() -> None:
    """The end that waited longest may only have awaited the other's long pause."""
    short = [stall(Cause.APP_LIMITED, 4, at_ms=10 * i, detail="think-time") for i in range(1, 4)]
    long = stall(Cause.APP_LIMITED, 40, at_ms=50, sender="client", detail="think-time", advice="look at the client")
    mirror = stall(Cause.APP_LIMITED, 41, at_ms=50, detail="awaiting-peer", advice="nothing here")
    said = text(*verdict(flow(*short, long, mirror, length_ms=200), width=200))
    client, server = (
        "the client's application took its time to answer once, 40.0 ms",
        "the server's application took its time",
    )
    assert said.index(client) < said.index(f"{server} to answer 3 times, longest 4.0 ms")
    assert "→ look at the client" in said


def test_a_wait_for_the_peer_is_told_where_there_is_nothing_else() -> None:
    said = text(*verdict(flow(stall(Cause.APP_LIMITED, 40, detail="awaiting-peer")), width=160))
    assert "it was the client's turn to speak once, 40.0 ms" in said


def test_ipv6_ends_wear_brackets() -> None:
    said = text(*verdict(flow(client=Endpoint("2001:db8::1", 4000)), width=160))
    assert "[2001:db8::1]:4000" in said


def test_notes_of_the_flow_are_shown() -> None:
    assert "note: the ends were guessed" in text(*verdict(flow(notes=("the ends were guessed",)), width=160))


@pytest.mark.parametrize("cause", list(Cause))
def test_each_cause_has_a_phrase_without_figures_too(cause: Cause) -> None:
    said = text(*verdict(flow(stall(cause, 50), handshake=Handshake(False, 50 * MS)), width=160))
    assert cause.value in said
    assert "None" not in said


def test_what_had_arrived_is_no_lost_data() -> None:
    needless = stall(Cause.RETRANSMISSION, 50, detail="spurious")
    assert phrase_of_one(flow(needless), needless).startswith("data that had arrived was sent again once")
    lost = stall(Cause.RETRANSMISSION, 40, detail="timeout")
    said = phrase(Cause.RETRANSMISSION, flow(needless, lost), [needless, lost])
    assert said.startswith(
        "lost data had to be repaired once (timeout), 40.0 ms; data that had arrived was sent again once"
    )


@pytest.mark.parametrize(("confidence", "said"), [(0.95, "was full"), (0.75, "was probably full")])
def test_a_window_that_is_not_sure_was_probably_full(confidence: float, said: str) -> None:
    one = stall(Cause.CWND_LIMITED, 50, detail="congestion-avoidance", confidence=confidence)
    assert f"the congestion window {said}" in phrase(Cause.CWND_LIMITED, flow(one), [one])


def test_the_doubt_is_said_once() -> None:
    one = stall(Cause.CWND_LIMITED, 50, detail="congestion-avoidance", confidence=0.75, also=(Cause.SNDBUF_LIMITED,))
    said = text(*verdict(flow(one), width=160))
    assert "probably (else sndbuf-limited): the congestion window was full" in said


def busy_flow(**way: float | None) -> Flow:
    path = {"bottleneck_bytes_per_s": 1_195_504, "bdp_bytes": 24_005, "queue_delay_ns": 94_700_000} | way
    whole = flow()
    server = replace(whole.directions["server"], bandwidth_limited_ns=60 * MS, **path)  # type: ignore[arg-type]
    ledger = dict(whole.time_ns) | {"bandwidth-limited": 60 * MS, "sending": 30 * MS}
    return replace(whole, directions={**whole.directions, "server": server}, time_ns=ledger)


def test_a_busy_path_is_told_although_nothing_stalled() -> None:
    lines = text(*verdict(busy_flow(), width=200), width=200).splitlines()
    assert "never waited longer than a round trip" in lines[0]
    assert "60.0 ms  bandwidth-limited" in lines[1]
    assert "9.6 Mbit/s, and packets queued 94.7 ms: above 24,005 bytes in flight" in lines[1]
    assert "more window or buffer buys nothing" in lines[1]
    assert "→ only more bandwidth or fewer bytes help" in lines[2]
    assert "of the link" not in lines[-1]


def test_the_share_of_a_known_link_is_told() -> None:
    said = text(*verdict(busy_flow(link_share=0.956), width=200), width=200)
    assert said.endswith("the server reached 96 % of the link")


def test_a_link_that_is_full_without_a_queue_is_told() -> None:
    full = busy_flow(bottleneck_bytes_per_s=None, bdp_bytes=None, queue_delay_ns=None, link_share=0.95)
    said = text(*verdict(full, width=200), width=200)
    assert "the link was full of the server's data, 95 % of what it carries: more window or buffer buys nothing" in said


def test_waits_tell_whose_data_filled_the_path_where_no_direction_does() -> None:
    said = text(*verdict(flow(stall(Cause.BANDWIDTH_LIMITED, 50, sender="server")), width=200), width=200)
    assert "the link was full of the server's data" in said


def test_all_time_of_a_busy_path_is_lost_although_few_stalls_show_it() -> None:
    busy = replace(busy_flow(), stalls=(stall(Cause.BANDWIDTH_LIMITED, 7),))
    assert "lost 70.0 ms (70 %), 1 stall" in text(*verdict(busy, width=200), width=200)


def test_a_handshake_of_which_the_capture_lacks_a_part_did_not_fail() -> None:
    lacking = flow(handshake=Handshake(False, 28 * MS), trust=Trust(handshake="partial"))
    assert "handshake captured in part" in text(*verdict(lacking, width=160))
