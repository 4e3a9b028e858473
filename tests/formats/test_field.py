"""Packets of hosts and middleboxes that our laboratory lacks; each was once named something else for sure."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.formats.dialogue import FIRST_BYTE, START_NS, Dialogue, Side
from tests.scene.packet import ACK, PSH, RST, SYN

MSS = 1_448
PUSH = ACK | PSH


@pytest.fixture
def dialogue(tmp_path: Path) -> Dialogue:
    return Dialogue(tmp_path)


def over_ms(flow: dict[str, Any], sender: Side, ms: float) -> list[dict[str, Any]]:
    return [stall for stall in flow["stalls"] if stall["sender"] == sender and stall["duration_ns"] > ms * 1e6]


def causes(flow: dict[str, Any], sender: Side, ms: float) -> set[str]:
    return {stall["cause"] for stall in over_ms(flow, sender, ms)}


def without_scale(dialogue: Dialogue) -> None:
    """As after a middlebox that removed the option from a SYN."""
    dialogue.packets = [(time, replace(packet, window_scale=None)) for time, packet in dialogue.packets]


@pytest.mark.parametrize("bursts", [(2, 4), (1, 1)])
def test_a_window_that_was_overrun_by_more_than_a_segment_is_no_window(
    dialogue: Dialogue, bursts: tuple[int, int]
) -> None:
    """A field of 512 without a scale: two segments at once show that it means more, one alone does not."""
    dialogue.say("client", 0, at=-1, flags=SYN, window=64_000)
    dialogue.say("server", 0.05, at=-1, flags=SYN | ACK, window=64_000)
    dialogue.say("client", 20, at=0, window=512)
    dialogue.say("client", 20.1, at=0, payload=100, flags=PUSH, window=512)
    begin = 0
    for turn in range(6):
        burst, ms = bursts[turn % 2], 21 + turn * 20
        for part in range(burst):
            dialogue.say("server", ms + part / 100, at=begin + part * MSS, acks=100, payload=MSS, flags=PUSH)
        begin += burst * MSS
        dialogue.say("client", ms + 19.9, at=100, acks=begin, window=512)
    without_scale(dialogue)
    found = causes(dialogue.flow(), "server", 15)
    assert ("rwnd-limited" in found) == (bursts == (1, 1))


@pytest.mark.parametrize("window", [9_000, 60_000], ids=["overrun", "wide"])
def test_flights_beyond_the_window_are_no_sure_send_buffer(dialogue: Dialogue, window: int) -> None:
    """20,000 bytes in flight, round after round: ACKs are missing, or the window is not what the SYNs say."""
    dialogue.say("client", 0, at=-1, flags=SYN, window=window)
    dialogue.say("server", 20, at=-1, flags=SYN | ACK, window=60_000)
    dialogue.say("client", 20.1, at=0, payload=100, flags=PUSH, window=window)
    for turn in range(16):
        begin, ms = turn * 20_000, 40.1 + turn * 20.2
        for part in range(14):
            size = min(MSS, 20_000 - part * MSS)
            at, flags = begin + part * MSS, ACK if size == MSS else PUSH
            dialogue.say("server", ms + part / 100, at=at, acks=100, payload=size, flags=flags)
        dialogue.say("client", ms + 0.2, at=100, acks=begin + 20_000, window=window)
    without_scale(dialogue)
    flow = dialogue.flow()
    assert flow["trust"]["reasons"] == (["window-overrun"] if window == 9_000 else [])
    waits = [stall for stall in over_ms(flow, "server", 15) if stall["cause"] == "sndbuf-limited"]
    lacks = {any("a middlebox changed a SYN" in missing for missing in stall["missing"]) for stall in waits}
    assert lacks == {window == 9_000}
    assert (max(stall["confidence"] for stall in waits) > 0.75) == (window == 60_000)


def test_the_text_of_a_reset_is_no_data(dialogue: Dialogue) -> None:
    for attempt in range(4):
        dialogue.say("client", attempt * 600, at=-1, flags=SYN)
        dialogue.say("server", attempt * 600 + 110, at=0, payload=11, flags=RST | ACK)
    flows = dialogue.flows()
    assert [flow["outcome"] for flow in flows] == ["refused"] * len(flows)
    assert sum(flow["directions"]["server"]["bytes"] for flow in flows) == 0
    assert all(stall["cause"] == "handshake" for flow in flows for stall in flow["stalls"])


def test_segments_too_big_for_the_path_are_cut_anew_by_no_timer(dialogue: Dialogue) -> None:
    """A router's report made the sender cut its data anew 2 ms after it was sent (RFC 1191 §6.3)."""
    dialogue.say("client", 0, at=-1, flags=SYN, window=64_000)
    dialogue.say("server", 340, at=-1, flags=SYN | ACK, window=64_000)
    dialogue.say("client", 340.1, at=0)
    for part in range(4):
        dialogue.say("client", 350 + part / 100, at=part * MSS, payload=MSS)
    small, acked = MSS - 8, 0
    for part in range(4):
        dialogue.say("client", 352 + part * 350, at=acked, payload=small, flags=ACK)
        acked += small
        dialogue.say("server", 352 + part * 350 + 349, at=0, acks=acked)
    dialogue.say("client", 352 + 4 * 350, at=acked, payload=MSS, flags=PUSH)
    dialogue.say("server", 352 + 5 * 350, at=0, acks=acked + MSS)
    flow = dialogue.flow()
    assert flow["directions"]["client"]["timeouts"] == flow["directions"]["client"]["tail_probes"] == 0
    (repair,) = over_ms(flow, "client", 400)
    assert (repair["cause"], repair["detail"]) == ("retransmission", "recovery")
    assert repair["confidence"] < 0.8


@pytest.mark.parametrize("copies", [1, 3])
def test_one_copy_after_its_ack_is_nobodys_wait_but_several_are(dialogue: Dialogue, copies: int) -> None:
    """The ACK of the last data was lost behind the tap. A sender that repeats it again and again never had it."""
    dialogue.handshake()
    dialogue.request(21)
    dialogue.say("server", 22, at=0, acks=100, payload=MSS, flags=ACK)
    dialogue.say("server", 22.1, at=MSS, acks=100, payload=160, flags=PUSH)
    dialogue.say("client", 42, at=100, acks=MSS + 160)
    for copy in range(copies):
        ms = 300 * 2**copy
        dialogue.say("server", ms, at=0, acks=100, payload=MSS, flags=ACK)
        dialogue.say("client", ms + 20, at=100, acks=MSS + 160)
    waits = over_ms(dialogue.flow(), "server", 15)
    if copies == 1:
        assert waits == []
    else:
        assert [wait["cause"] for wait in waits] == ["retransmission"]
        assert waits[0]["end_ns"] >= START_NS + 1_000_000_000


def small_writes(dialogue: Dialogue, size: int, each: int) -> dict[str, Any]:
    """Writes of `size` bytes, `each` of them in flight when an ACK of the first two lets two more go."""
    dialogue.handshake()
    dialogue.request(21)
    sent = 0
    for write in range(each):
        dialogue.say("server", 22 + write / 10, at=sent, acks=100, payload=size, flags=PUSH)
        sent += size
    for turn in range(40):
        ms = 42 + turn * 8
        dialogue.say("client", ms, at=100, acks=(2 * turn + 2) * size)
        for write in range(2):
            dialogue.say("server", ms + 0.02 + write / 100, at=sent, acks=100, payload=size, flags=PUSH)
            sent += size
    return dialogue.flow()


def test_less_than_two_segments_fill_no_send_buffer(dialogue: Dialogue) -> None:
    assert "sndbuf-limited" not in causes(small_writes(dialogue, 53, 5), "server", 5)


@pytest.mark.parametrize("writes", [3, 1])
def test_a_sender_with_several_short_segments_out_has_no_nagle(dialogue: Dialogue, writes: int) -> None:
    """A short segment left while another was unacknowledged: the next one waited for something else than an ACK."""
    dialogue.handshake()
    dialogue.request(21)
    sent, ms = 0, 22.0
    for _ in range(8):
        for write in range(writes):
            dialogue.say("server", ms + write / 10, at=sent, acks=100, payload=144, flags=PUSH)
            sent += 144
        dialogue.say("client", ms + 20, at=100, acks=sent)
        dialogue.say("server", ms + 20.01, at=sent, acks=100, payload=144, flags=PUSH)
        sent += 144
        dialogue.say("client", ms + 40, at=100, acks=sent)
        ms += 400
    assert ("nagle" in causes(dialogue.flow(), "server", 5)) == (writes == 1)


def test_a_packet_whose_number_others_skipped_was_late_and_not_sent_again(dialogue: Dialogue) -> None:
    """Seen at the client: one packet took 46 ms longer, and the field does not count long enough to be trusted."""
    dialogue.say("client", 0, at=-1, flags=SYN, window=64_000)
    dialogue.say("server", 26, at=-1, flags=SYN | ACK, window=64_000)
    dialogue.say("client", 26.1, at=0)
    dialogue.request(26.2)
    acked = 0
    for part, ms in ((0, 60), (1, 61), (3, 62), (2, 108), (4, 109)):
        dialogue.say("server", ms, at=part * MSS, acks=100, payload=MSS, flags=ACK)
        acked = {0: 1, 1: 2, 3: 2, 2: 4, 4: 5}[part]
        dialogue.say("client", ms + 0.02, at=100, acks=acked * MSS)
    numbers = iter((900, 901, 903, 902, 904))
    edges = (FIRST_BYTE["server"] + 3 * MSS, FIRST_BYTE["server"] + 4 * MSS)
    dialogue.packets = [
        (time, replace(one, ip_id=next(numbers) if one.payload == MSS else 0)) for time, one in dialogue.packets
    ]
    at = next(at for at, (_, one) in enumerate(dialogue.packets) if one.ip_id == 903) + 1
    dialogue.packets[at] = (dialogue.packets[at][0], replace(dialogue.packets[at][1], sack=(edges,)))
    flow = dialogue.flow()
    assert flow["directions"]["server"]["retransmitted_bytes"] == 0
    assert "retransmission" not in causes(flow, "server", 5)


def test_a_writer_that_rests_for_longer_than_its_ack_took_has_no_full_buffer(dialogue: Dialogue) -> None:
    """Over a path of 40 µs each write of about one size follows 220 µs after the ACK of the one before."""
    dialogue.handshake(rtt_ms=0.04, window=30_000)
    dialogue.request(0.2)
    sent, ms = 0, 1.0
    for turn in range(200):
        size = 4 * MSS + 1_000 + turn % 7
        dialogue.say("server", ms, at=sent, acks=100, payload=size, flags=PUSH)
        sent += size
        dialogue.say("client", ms + 0.04, at=100, acks=sent, window=30_000)
        ms += 0.26
    sure = [stall for stall in over_ms(dialogue.flow(), "server", 0.2) if stall["cause"] == "sndbuf-limited"]
    assert all(stall["confidence"] < 0.8 for stall in sure)


def test_a_short_segment_amid_a_bulk_transfer_shows_no_nagle_for_sure(dialogue: Dialogue) -> None:
    """Seen at the client: a short segment was acknowledged long before the ACK that another short one follows."""
    dialogue.say("client", 0, at=-1, flags=SYN, window=64_000)
    dialogue.say("server", 80, at=-1, flags=SYN | ACK, window=64_000)
    dialogue.say("client", 80.1, at=0, window=50_000)
    dialogue.request(81)
    sent, ms = 0, 170.0
    for part in range(42):
        size = 1_176 if part == 2 else MSS
        dialogue.say("server", ms, at=sent, acks=100, payload=size, flags=PUSH if part == 2 else ACK)
        sent += size
        ms += 0.8
        dialogue.say("client", ms - 0.1, at=100, acks=sent, window=50_000)
    dialogue.say("server", ms + 55, at=sent, acks=100, payload=284, flags=PUSH)
    for part in range(20):
        dialogue.say("server", ms + 60 + part, at=sent + 284 + part * MSS, acks=100, payload=MSS)
    sure = [stall for stall in over_ms(dialogue.flow(), "server", 30) if stall["cause"] == "nagle"]
    assert all(stall["confidence"] < 0.8 for stall in sure)


def test_data_a_little_after_an_ack_on_a_long_path_is_not_surely_the_applications(dialogue: Dialogue) -> None:
    """Seen at the receiver: an ACK took 100 ms longer to the sender than usual, and what it freed came as late."""
    dialogue.handshake(rtt_ms=400)
    sent, ms = 0, 420.0
    for late_ms in (0, 0, 40, 0, 100, 0, 60, 0):
        for part in range(2):
            dialogue.say("client", ms, at=sent + part * MSS, payload=MSS)
        dialogue.say("client", ms + 0.01, at=sent + 2 * MSS, payload=15, flags=PUSH)
        dialogue.say("server", ms + 0.5, at=0, acks=sent + 2 * MSS)
        sent += 2 * MSS + 15
        ms += 400.5 + late_ms
    found = over_ms(dialogue.flow(), "client", 300)
    assert all(stall["confidence"] < 0.8 for stall in found if stall["cause"] == "app-limited")
