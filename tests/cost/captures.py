"""Captures that strangers could send to make a reader slow, each of any number of packets."""

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice

CLIENT, SERVER = 0x0A000001, 0x0A000002
START_NS = 1_700_000_000 * 10**9
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


@dataclass(frozen=True, slots=True)
class Packet:
    """A TCP segment over IPv4; the client's unless `back`."""

    at_ns: int
    seq: int = 1
    ack: int = 1
    payload: int = 0
    back: bool = False
    flags: int = ACK
    window: int = 65_535
    options: bytes = b""
    client: int = CLIENT
    port: int = 1_000
    ip_id: int = 0
    fragment: int = 0
    text: bytes = b""

    def record(self) -> bytes:
        """The packet as a record of a capture in nanoseconds; of its payload only `text` is kept."""
        header = 40 + len(self.options)
        ends = [(self.client, self.port), (SERVER, 80)]
        (source, sport), (target, dport) = reversed(ends) if self.back else ends
        length = header + max(self.payload, len(self.text))
        seconds, nanos = divmod(self.at_ns, 10**9)
        return b"".join(
            [
                struct.pack("<IIII", seconds, nanos, header + len(self.text), length),
                struct.pack(
                    ">BBHHHBBHII", 0x45, 0, length, self.ip_id & 0xFFFF, self.fragment, 64, 6, 0, source, target
                ),
                struct.pack(">HHII", sport, dport, self.seq % 2**32, self.ack % 2**32),
                struct.pack(">BBHHH", (header - 20) // 4 << 4, self.flags, self.window, 0, 0),
                self.options,
                self.text,
            ]
        )


Kind = Callable[[random.Random], Iterator[Packet]]
KINDS: dict[str, Kind] = {}


def kind(make: Kind) -> Kind:
    """Registers a generator by its name; it goes on for as long as it is asked."""
    KINDS[make.__name__.replace("_", "-")] = make
    return make


def capture(name: str, packets: int) -> bytes:
    """A raw IP capture of so many packets of that kind, the same each time."""
    made = islice(KINDS[name](random.Random(1)), packets)
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 101)
    return head + b"".join(packet.record() for packet in made)


def _handshake() -> Iterator[Packet]:
    yield Packet(START_NS, 0, 0, flags=SYN)
    yield Packet(START_NS + 10**6, 0, 1, back=True, flags=SYN | ACK)
    yield Packet(START_NS + 10**6 + 1_000)


def _clock(step_ns: int = 10_000) -> Iterator[tuple[int, int]]:
    """Numbers from 0 on, and times after the handshake."""
    number = 0
    while True:
        yield number, START_NS + 2 * 10**6 + number * step_ns
        number += 1


def _flood(flags: int, back: bool = False, text: bytes = b"") -> Iterator[Packet]:
    """A packet of each flow, and its answer."""
    for number, now in _clock(1_000):
        one = Packet(
            now,
            number * 7_919,
            flags=flags,
            client=0x0B000000 + number // 50_000,
            port=1_024 + number % 50_000,
            text=text,
        )
        yield one
        if back:
            yield Packet(now + 500, 0, one.seq + 1, back=True, flags=SYN | ACK, client=one.client, port=one.port)


def _sequences(payload: int, seq: Callable[[int], int], step_ns: int = 10_000) -> Iterator[Packet]:
    """Data of one connection, the sequence number of each by its number."""
    yield from _handshake()
    for number, now in _clock(step_ns):
        yield Packet(now, seq(number), payload=payload, ip_id=number)


@kind
def syn_flood(_: random.Random) -> Iterator[Packet]:
    yield from _flood(SYN)


@kind
def answered_syn_flood(_: random.Random) -> Iterator[Packet]:
    yield from _flood(SYN, back=True)


@kind
def flows_of_one_byte(_: random.Random) -> Iterator[Packet]:
    yield from _flood(PSH | ACK, text=b"x")


@kind
def flows_of_one_request(_: random.Random) -> Iterator[Packet]:
    yield from _flood(PSH | ACK, text=b"GET /a HTTP/1.1\r\nHost: ex.example\r\n\r\n")


@kind
def services(_: random.Random) -> Iterator[Packet]:
    for number, now in _clock(1_000):
        yield Packet(
            now, 7, 8, back=True, flags=SYN, client=0x0B000000 + number // 50_000, port=1_024 + number % 50_000
        )


@kind
def holes(_: random.Random) -> Iterator[Packet]:
    yield from _sequences(1_000, lambda number: 1 + 2_000 * number)


@kind
def backwards(_: random.Random) -> Iterator[Packet]:
    yield from _sequences(1_000, lambda number: 2**31 + 1 - 1_000 * number)


@kind
def anywhere(draw: random.Random) -> Iterator[Packet]:
    yield from _sequences(1_000, lambda _: 1 + draw.randrange(2**30))


@kind
def every_second_byte(draw: random.Random) -> Iterator[Packet]:
    yield from _sequences(1, lambda _: 1 + 2 * draw.randrange(100_000))


@kind
def one_byte_each(_: random.Random) -> Iterator[Packet]:
    yield from _sequences(1, lambda number: 1 + number)


@kind
def the_same_again(_: random.Random) -> Iterator[Packet]:
    yield from _sequences(1_000, lambda _: 1)


@kind
def everything_twice(_: random.Random) -> Iterator[Packet]:
    yield from _sequences(1_000, lambda number: 1 + number // 2 * 1_000)


@kind
def a_thousand_segments_again(_: random.Random) -> Iterator[Packet]:
    yield from _sequences(1_000, lambda number: 1 + number % 1_000 * 1_000)


@kind
def hole_split_from_its_top(_: random.Random) -> Iterator[Packet]:
    yield from _sequences(2, lambda number: 1 + 2**28 if number == 0 else 2**28 - 4 * number)


@kind
def clock_backwards(_: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for number, _now in _clock():
        yield Packet(START_NS + 10**15 - 1_000 * number, 1 + 100 * number, payload=100)


@kind
def clock_to_and_fro(_: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for number, now in _clock(1_000):
        yield Packet(now + number % 2 * 5 * 10**9, 1 + 100 * number, payload=100)


@kind
def sacks_anywhere(draw: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for number, now in _clock():
        sent = number // 2 * 1_000
        if number % 2 == 0:
            yield Packet(now, 1 + sent, payload=1_000)
        else:
            edges = [draw.randrange(max(1, sent)) for _ in range(4)]
            blocks = b"".join(struct.pack(">II", edge, edge + 500) for edge in edges)
            yield Packet(now, back=True, options=bytes([1, 1, 5, 34]) + blocks)


def _turns(step_ns: int, request: int, response: int) -> Iterator[Packet]:
    yield from _handshake()
    for number, now in _clock(step_ns):
        turn = number // 2
        if number % 2 == 0:
            yield Packet(now, 1 + turn * request, 1 + turn * response, request, flags=PSH | ACK)
        else:
            yield Packet(now, 1 + turn * response, 1 + (turn + 1) * request, response, back=True, flags=PSH | ACK)


@kind
def stalls(_: random.Random) -> Iterator[Packet]:
    yield from _turns(10**7, 1_000, 0)


@kind
def exchanges(_: random.Random) -> Iterator[Packet]:
    yield from _turns(10**6, 100, 100)


@kind
def slow_answers(draw: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    now = START_NS + 10**9
    for turn in count():
        sent, answered = 1 + turn * 40, 1 + turn * 1_200
        yield Packet(now, sent, answered, 40, flags=PSH | ACK)
        yield Packet(now + 10**6, answered, sent + 40, back=True)
        now += draw.randrange(10**9, 150 * 10**9)
        yield Packet(now, answered, sent + 40, 1_200, back=True, flags=PSH | ACK)
        yield Packet(now + 10**6, sent + 40, answered + 1_200)
        now += 10**8


@kind
def windows_that_flap(_: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for number, now in _clock():
        yield Packet(now, back=True, window=number % 2 * 65_535)


@kind
def acks_anywhere(draw: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for _, now in _clock():
        yield Packet(now, ack=draw.randrange(2**32), back=True)


@kind
def resets(draw: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for _, now in _clock():
        yield Packet(now, draw.randrange(2**32), flags=RST)


@kind
def ports_used_again(draw: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for _, now in _clock():
        yield Packet(now, draw.randrange(2**32), 0, flags=SYN)


@kind
def first_fragments(_: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for number, now in _clock():
        yield Packet(now, 1 + 20 * number, ip_id=number, fragment=0x2000)


@kind
def later_fragments(_: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for _number, now in _clock():
        yield Packet(now, fragment=0x2001)


@kind
def timestamps_anywhere(draw: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    for number, now in _clock():
        stamps = struct.pack(">II", draw.randrange(2**32), draw.randrange(2**32))
        yield Packet(now, 1 + 1_000 * number, payload=1_000, options=bytes([1, 1, 8, 10]) + stamps)


@kind
def anything(draw: random.Random) -> Iterator[Packet]:
    yield from _handshake()
    now = START_NS + 2 * 10**6
    flags = [ACK, PSH | ACK, FIN | ACK, RST | ACK, SYN, SYN | ACK]
    while True:
        now += draw.randrange(10**7)
        [flag] = draw.choices(flags, [60, 30, 3, 1, 3, 3])
        yield Packet(
            now, draw.randrange(2**22), draw.randrange(2**22), draw.randrange(1_460), draw.random() < 0.5, flag
        )


def _many(seq_step: int, acked: bool) -> Iterator[Packet]:
    """Fifty flows in turn."""
    flows = 50
    for number, now in _clock(1_000):
        turn, port = number // flows, 1_024 + number % flows
        yield Packet(now, 1 + turn * seq_step, payload=1_000, port=port)
        if acked:
            yield Packet(now + 500, ack=1 + (turn + 1) * seq_step, back=True, port=port)


@kind
def flows_with_data_in_flight(_: random.Random) -> Iterator[Packet]:
    yield from _many(1_000, acked=False)


@kind
def flows_with_holes(_: random.Random) -> Iterator[Packet]:
    yield from _many(2_000, acked=False)


@kind
def flows_that_go_on(_: random.Random) -> Iterator[Packet]:
    yield from _many(1_000, acked=True)
