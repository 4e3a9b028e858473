"""The rewrites do what their names say, whatever tcpstall thinks of the result."""

from pathlib import Path

import pytest

from tests.properties.damage import from_share, losing, with_hole, without_handshake, without_syn, without_syn_ack
from tests.properties.frames import FIN, SYN, WORD, Frame, read_frames, write_frames
from tests.properties.rewriting import (
    Frames,
    cut_to_headers,
    duplicated,
    end_of,
    merged,
    moved_towards,
    recorded_out_of_order,
    renumbered,
    split,
    stamped_out_of_order,
)
from tests.properties.stage import CLIENT, ONE_WAY_NS, SEGMENT, SERVER, staged, traced


def answers_follow_questions(frames: Frames) -> bool:
    """No ACK passes before the bytes that it acknowledges."""
    highest: dict[str, int] = {}
    for frame in frames:
        address = frame.source[0]
        size = frame.payload + bool(frame.flags & SYN) + bool(frame.flags & FIN)
        heard = [end for other, end in highest.items() if other != address]
        if heard and 0 < (frame.ack - heard[0]) % WORD < WORD // 2:
            return False
        end = (frame.seq + size) % WORD
        if address not in highest or (end - highest[address]) % WORD < WORD // 2:
            highest[address] = end
    return True


def carried(frames: Frames) -> list[tuple[str, int, int]]:
    """(sender, seq, end) of each stretch of payload, neighbours of one sender joined."""
    out: list[tuple[str, int, int]] = []
    for frame in frames:
        if frame.payload > 0:
            address, end = frame.source[0], frame.seq + frame.payload
            last = next((index for index in reversed(range(len(out))) if out[index][0] == address), None)
            if last is not None and out[last][2] == frame.seq:
                out[last] = (address, out[last][1], end)
            else:
                out.append((address, frame.seq, end))
    return out


@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_what_is_written_is_read_again(tmp_path: Path, kind: str) -> None:
    frames, _ = traced()
    path = write_frames(tmp_path / "again", frames, kind="pcap")
    assert read_frames(path) == frames
    assert (kind == "pcap") == (write_frames(path, frames, kind=kind).read_bytes()[:4] == b"\x4d\x3c\xb2\xa1")  # type: ignore[arg-type]


def test_the_trace_s_payload_is_what_its_ip_headers_say() -> None:
    frames, flow = traced()
    sent = dict.fromkeys(("192.168.247.129", "192.168.247.130"), 0)
    for frame in frames:
        sent[frame.source[0]] += frame.payload
    assert sent["192.168.247.129"] == flow["directions"]["server"]["bytes"]
    assert sent["192.168.247.130"] == flow["directions"]["client"]["bytes"]


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_a_moved_tap_keeps_causes_before_effects(share: float) -> None:
    frames, _ = staged("slow_start", "server")
    moved = moved_towards(CLIENT, round(share * ONE_WAY_NS))(frames)
    assert [frame.time_ns for frame in moved] != [frame.time_ns for frame in frames]
    assert answers_follow_questions(moved)


def test_a_tap_moved_beyond_the_end_is_noticed() -> None:
    frames, _ = staged("slow_start", "server")
    assert not answers_follow_questions(moved_towards(CLIENT, 3 * ONE_WAY_NS)(frames))


def test_a_tap_moved_there_and_back_sees_what_it_saw() -> None:
    frames, _ = staged("slow_start", "server")
    moved = moved_towards(SERVER, ONE_WAY_NS)(moved_towards(CLIENT, ONE_WAY_NS)(frames))
    assert [(frame.time_ns, frame.seq) for frame in moved] == [(frame.time_ns, frame.seq) for frame in frames]


def test_pieces_and_frames_carry_the_same_bytes_in_the_same_order() -> None:
    frames, _ = staged("slow_start", "server")
    pieces = split(SEGMENT)(frames)
    assert max(frame.payload for frame in frames) > SEGMENT
    assert max(frame.payload for frame in pieces) == SEGMENT
    assert carried(pieces) == carried(frames) == carried(merged(SEGMENT)(pieces))
    ids = [frame.ip_id or 0 for frame in pieces if frame.source[0] == SERVER and frame.payload]
    assert ids == list(range(ids[0], ids[0] + len(ids)))


def test_joined_frames_are_fewer_and_no_larger_than_an_ip_packet() -> None:
    frames, _ = staged("long_restarts", "client")
    joined = merged(SEGMENT)(frames)
    assert len(joined) < 0.7 * len(frames)
    assert SEGMENT < max(frame.payload for frame in joined) <= 65_160


@pytest.mark.parametrize("isn", [0, 2**32 - 1, 2**32 - 20_000])
def test_renumbered_data_and_its_acks_and_sacks_move_together(isn: int) -> None:
    frames, _ = staged("fast_retransmit", "server")
    server = end_of(frames, client=False)
    other = renumbered(server, isn)(frames)
    first = next(frame for frame in frames if frame.source == server)
    by = (isn - first.seq) % WORD
    for old, new in zip(frames, other, strict=True):
        if old.source == server:
            assert (new.seq, new.ack) == ((old.seq + by) % WORD, old.ack)
        elif not old.is_syn:
            assert (new.seq, new.ack) == (old.seq, (old.ack + by) % WORD)
            assert [(edge + by) % WORD for edge in sack_edges(old)] == sack_edges(new)
    assert any(sack_edges(frame) for frame in frames)


def sack_edges(frame: Frame) -> list[int]:
    return [
        int.from_bytes(frame.data[edge : edge + 4])
        for kind, at in frame.options()
        if kind == 5
        for edge in range(at + 2, at + frame.data[at + 1], 4)
    ]


def test_copies_come_later_and_a_hop_further() -> None:
    frames, _ = staged("slow_start", "server")
    both = duplicated(1.0)(frames)
    assert len(both) == 2 * len(frames)
    first: dict[tuple[tuple[str, int], int | None], Frame] = {}
    for frame in both:
        key = (frame.source, frame.ip_id)
        if key in first:
            assert 5_000 <= frame.time_ns - first[key].time_ns < 300_000
            assert frame.data[frame.ip + 8] == first[key].data[frame.ip + 8] - 1
        first.setdefault(key, frame)


def test_disorder_keeps_every_packet_and_moves_some() -> None:
    frames, _ = staged("long_restarts", "client")
    for rewrite in (recorded_out_of_order(0.2), stamped_out_of_order(0.2)):
        other = rewrite(frames)
        assert sorted(frame.data for frame in other) == sorted(frame.data for frame in frames)
        assert sum(a.data != b.data for a, b in zip(frames, other, strict=True)) > len(frames) / 10


def test_a_cut_at_the_headers_keeps_options_and_drops_payload() -> None:
    frames, _ = staged("fast_retransmit", "server")
    for old, new in zip(frames, cut_to_headers(frames), strict=True):
        assert len(new.data) == old.payload_start
        assert (new.payload, list(new.options())) == (old.payload, list(old.options()))


def test_each_damage_takes_what_it_names() -> None:
    frames, _ = staged("long_restarts", "server")
    flags = [frame.flags for frame in frames[:3]]
    assert [frame.flags for frame in without_syn(frames)[:2]] == flags[1:]
    assert [frame.flags for frame in without_syn_ack(frames)[:2]] == [flags[0], flags[2]]
    assert without_handshake(frames) == frames[3:]
    assert from_share(0.5)(frames) == frames[len(frames) // 2 :]
    assert len(with_hole(7, at=0.5)(frames)) == len(frames) - 7
    lost = len(frames) - len(losing(0.02)(frames))
    assert 0.01 < lost / len(frames) < 0.03
