"""Captures that lack packets which the hosts did exchange: no handshake, a late start, random loss, a hole."""

from random import Random

from tests.properties.rewriting import Frames, Rewrite

ACK = 0x10


def without_syn(frames: Frames) -> Frames:
    return [frame for frame in frames if not (frame.is_syn and not frame.flags & ACK)]


def without_syn_ack(frames: Frames) -> Frames:
    return [frame for frame in frames if not (frame.is_syn and frame.flags & ACK)]


def without_handshake(frames: Frames) -> Frames:
    """Neither SYN, nor SYN-ACK, nor the ACK that completes it."""
    rest = [frame for frame in frames if not frame.is_syn]
    return rest[1:] if rest and rest[0].payload <= 0 else rest


def from_share(share: float) -> Rewrite:
    """Recording began when that share of the packets had passed."""
    return lambda frames: frames[int(share * len(frames)) :]


def losing(share: float, *, seed: int = 1, keep_syns: bool = True) -> Rewrite:
    """The capture, not the network, lost that share of the packets at random."""

    def rewrite(frames: Frames) -> Frames:
        random = Random(seed)
        return [frame for frame in frames if (keep_syns and frame.is_syn) or random.random() >= share]

    return rewrite


def with_hole(packets: int, *, at: float) -> Rewrite:
    """Removes that number of packets in a row, beginning where share `at` of them had passed."""

    def rewrite(frames: Frames) -> Frames:
        start = int(at * len(frames))
        return frames[:start] + frames[start + packets :]

    return rewrite
