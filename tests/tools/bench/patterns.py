"""Patterns that laps repeat: bulk transfers, short connections, half-open ones, exchanges of a few bytes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from pathlib import Path
from random import Random

from tests.scene import Reader, Scene
from tests.scene.packet import ACK, FIN, PSH, SYN, Endpoint, Packet, frame
from tests.tools.bench.laps import START_US, Timed

MSS = 1_448


def filled(packet: Packet, kept: int) -> Packet:
    """With a payload of its own, as far as it is kept. Hexadecimal digits compress to a half; zeros would vanish."""
    seed = packet.seq << 32 | packet.source.port << 16 | packet.destination.port
    return replace(packet, content=digits(min(packet.payload, kept), seed))


def digits(size: int, seed: int) -> bytes:
    return Random(seed).randbytes(size // 2 + 1).hex().encode()[:size]  # nothing here is secret


WINDOW_SEGMENTS = 128
"""The receiver's window: 128 × 1448 = 1448 << 7 bytes, so every round ends rwnd-limited."""
GROUPS = WINDOW_SEGMENTS // 2
RAMP_BYTES = 400_000
BULK_LAP_US = 240_000
"""With 16 flows a lap is 3 MB, beyond the 2 MiB that zstd looks back: a payload that comes again is not seen again."""
ROUNDS = (8, 10, 12)
"""Round trips in a lap, so of 30, 24 and 20 ms: the flows' packets come in no short order."""


@dataclass(frozen=True, slots=True)
class Ramp:
    """A flow's handshake, slow start and first full window, and the packets that its steady part repeats."""

    scene: Scene
    rounds: int
    ack: Packet
    data: Packet


def ramp(number: int) -> Ramp:
    rounds = ROUNDS[number % len(ROUNDS)]
    scene = Scene(Path(), client_port=40_000 + number, start_ns=(START_US + number * 1_300) * 1_000)
    window = WINDOW_SEGMENTS * MSS
    scene.handshake(rtt_ms=BULK_LAP_US / rounds / 1_000, client_scale=7, client_window=65_535)
    scene.download(RAMP_BYTES, tso=1, reader=Reader(buffer=window))
    scene.server_sends(window, tso=1, push=False)
    client, server = scene.client, scene.server
    ack = client.packet(server.endpoint, 0, ACK, seq=client.nxt)
    data = server.packet(client.endpoint, 0, ACK, seq=server.nxt, payload=MSS)
    return Ramp(scene, rounds, replace(ack, ack=server.nxt - window), data)


def bulk(flows: int, kept: int) -> tuple[list[Timed], list[Timed], int]:
    """Downloads with delayed ACKs seen at the sender: slow start; a lap of full windows; when that begins.

    In the steady part an ACK releases two segments. Of a payload no more than `kept` bytes are made.
    """
    ramps = [ramp(number) for number in range(flows)]
    seen = sorted((pair for ramp in ramps for pair in ramp.scene.packets()), key=lambda pair: pair[0])
    before = [Timed(time // 1_000, frame(filled(packet, kept))) for time, packet in seen]
    start_us = before[-1].time_us + 10_000
    released = sorted(
        (900 * flow + BULK_LAP_US // ramp.rounds * number + 7 * group, flow, GROUPS * number + group)
        for flow, ramp in enumerate(ramps)
        for number in range(ramp.rounds)
        for group in range(GROUPS)
    )
    steady: list[Timed] = []
    for due, flow, number in released:
        time = max(due, steady[-1].time_us + 1 if steady else 0)
        steady += group(ramps[flow], number, time, start_us, kept)
    return before, steady, start_us


def group(ramp: Ramp, number: int, time_us: int, start_us: int, kept: int) -> Iterator[Timed]:
    """An ACK and the two segments that it releases, a microsecond apart."""
    scene, lap_ms, groups = ramp.scene, BULK_LAP_US // 1_000, GROUPS * ramp.rounds
    now_ms = (start_us + time_us) // 1_000 - scene.start_ns // 1_000_000
    acked_ms = scene.client.clock_ms + now_ms - 10
    clock_ms = scene.server.clock_ms + now_ms
    clocks = {"tsval": lap_ms, "tsecr": lap_ms}
    ack = replace(
        ramp.ack,
        ack=ramp.ack.ack + 2 * MSS * (number + 1),
        timestamps=(acked_ms, clock_ms - lap_ms // ramp.rounds),
        ip_id=scene.client.packets_sent + 1 + number,
    )
    yield Timed(time_us, frame(ack), {"ack": 2 * MSS * groups, "ip_id": groups, **clocks}, "ack")
    for i in (0, 1):
        data = replace(
            ramp.data,
            seq=ramp.data.seq + MSS * (2 * number + i),
            timestamps=(clock_ms, acked_ms),
            ip_id=scene.server.packets_sent + 1 + 2 * number + i,
        )
        yield Timed(
            time_us + 1 + i,
            frame(filled(data, kept)),
            {"seq": 2 * MSS * groups, "ip_id": 2 * groups, **clocks},
            f"data {i}",
        )


ROUND_US = 20_000
REQUEST, RESPONSE = 147, 4_000
C, S = 1_000, 5_000
END_C, END_S = C + 1 + REQUEST, S + 1 + RESPONSE
SHORT = [
    (0, True, SYN, C, 0, 0),
    (1, False, SYN | ACK, S, C + 1, 0),
    (ROUND_US + 2, True, ACK, C + 1, S + 1, 0),
    (ROUND_US + 3, True, PSH | ACK, C + 1, S + 1, REQUEST),
    (ROUND_US + 4, False, ACK, S + 1, END_C, 0),
    (ROUND_US + 405, False, ACK, S + 1, END_C, MSS),
    (ROUND_US + 406, False, ACK, S + 1 + MSS, END_C, MSS),
    (ROUND_US + 407, False, PSH | ACK, S + 1 + 2 * MSS, END_C, RESPONSE - 2 * MSS),
    (2 * ROUND_US + 408, True, ACK, END_C, S + 1 + 2 * MSS, 0),
    (2 * ROUND_US + 409, True, ACK, END_C, END_S, 0),
    (2 * ROUND_US + 410, False, FIN | ACK, END_S, END_C, 0),
    (3 * ROUND_US + 411, True, FIN | ACK, END_C, END_S + 1, 0),
    (3 * ROUND_US + 412, False, ACK, END_S + 1, END_C + 1, 0),
]
"""A connection seen at the server: µs after the SYN, the client's?, flags, sequence number, ACK, payload."""
ISN_STEP = 7_919


def short(flows: int, every_us: int, kept: int) -> list[Timed]:
    """A lap in which so many connections of 13 packets begin, each of another host; each lap from another port."""
    lap_ms = flows * every_us // 1_000
    server = Endpoint("192.168.0.1", 80)
    frames = []
    for number in range(flows):
        client = Endpoint(str(IPv4Address("10.1.0.0") + number), 10_000)
        for i, (after, ours, flags, seq, ack, size) in enumerate(SHORT):
            time = number * every_us + after
            clock_ms = 1_000_000 + time // 1_000
            packet = Packet(
                source=client if ours else server,
                destination=server if ours else client,
                seq=seq + ISN_STEP * number,
                ack=ack + ISN_STEP * number if ack else 0,
                flags=flags,
                window=64_240 if flags & SYN else 502,
                payload=size,
                timestamps=(clock_ms, clock_ms - 20 if ack else 0),
                mss=1_460 if flags & SYN else None,
                window_scale=7 if flags & SYN else None,
                sack_permitted=bool(flags & SYN),
                ip_id=13 * number + i,
            )
            syn = "syn_" if flags & SYN else ""
            steps = {"seq": ISN_STEP * flows, f"{syn}tsval": lap_ms, "ip_id": 13 * flows}
            steps |= {"source_port" if ours else "destination_port": 1}
            steps |= {"ack": ISN_STEP * flows, f"{syn}tsecr": lap_ms} if ack else {}
            frames.append(Timed(time, frame(filled(packet, kept)), steps, f"short {i}"))
    return frames


SPREAD = 2_654_435_761
"""Odd, so that its multiples go through all 2³² addresses before one comes again (Knuth's multiplicative hash)."""


def half_open(flows: int, every_us: int) -> list[Timed]:
    """SYNs from forged addresses, no two alike, with the SYN-ACKs that nobody answers."""
    server = Endpoint("192.168.0.2", 443)
    frames = []
    for number in range(flows):
        client = Endpoint(str(IPv4Address(number * SPREAD % 2**32)), 1_024 + number * 7 % 60_000)
        syn = Packet(client, server, seq=number * SPREAD, ack=0, flags=SYN, window=1_024, mss=1_460)
        answer = Packet(
            server, client, seq=number * ISN_STEP, ack=syn.seq + 1, flags=SYN | ACK, window=64_240, mss=1_460
        )
        time, spread = number * every_us, SPREAD * flows
        frames.append(Timed(time, frame(syn), {"source": spread, "seq": spread}, "syn"))
        steps = {"destination": spread, "seq": ISN_STEP * flows, "ack": spread}
        frames.append(Timed(time + 2, frame(answer), steps, "syn-ack"))
    return frames


def opening(ack: Packet, rtt_us: int, window_scale: int) -> list[Timed]:
    """The handshake that ends with this ACK, from time 0 on."""
    syn = replace(
        ack,
        seq=ack.seq - 1,
        ack=0,
        flags=SYN,
        window=64_240,
        mss=1_460,
        window_scale=window_scale,
        sack_permitted=True,
        timestamps=(1, 0) if ack.timestamps else None,
    )
    answer = replace(syn, source=ack.destination, destination=ack.source, seq=ack.ack - 1, ack=ack.seq, flags=SYN | ACK)
    return [Timed(0, frame(syn)), Timed(5, frame(answer)), Timed(rtt_us, frame(ack))]


TSO_BYTES = 45 * MSS
"""Bytes that Linux hands to a network card at once."""


def offloaded(segments: int, every_us: int, kept: int) -> tuple[list[Timed], list[Timed]]:
    """One connection in frames of 64 KB before segmentation, an ACK for two: its handshake; a lap of its data."""
    client, server = Endpoint("10.0.0.1", 50_000), Endpoint("10.0.0.2", 5_201)
    c, s, rtt_us = 1_000, 4_294_000_000, 1_000
    ack = Packet(client, server, seq=c + 1, ack=s + 1, flags=ACK, window=65_535)
    before = opening(ack, rtt_us, window_scale=14)
    steps = {"seq": segments * TSO_BYTES, "ip_id": 45 * segments}
    frames = []
    for number in range(segments):
        data = Packet(
            server, client, seq=s + 1 + number * TSO_BYTES, ack=c + 1, flags=ACK, window=65_535, payload=TSO_BYTES
        )
        data = filled(replace(data, ip_id=45 * number), kept)
        frames.append(Timed(number * every_us, frame(data), steps, "data"))
        if number % 2:
            heard = replace(ack, ack=data.seq + TSO_BYTES, ip_id=number // 2)
            ack_steps = {"ack": segments * TSO_BYTES, "ip_id": segments // 2}
            frames.append(Timed(number * every_us + rtt_us + 2, frame(heard), ack_steps, "ack"))
    return before, frames


def exchanges(count: int, every_us: int, *, port: int = 45_000) -> tuple[list[Timed], list[Timed]]:
    """One connection with a wait after each few bytes: its handshake; a lap of its requests and responses."""
    client, server = Endpoint("10.0.0.1", port), Endpoint("10.0.0.2", 6_379)
    c, s, lap_ms = 1_000, 5_000, count * every_us // 1_000
    ack = Packet(client, server, seq=c + 1, ack=s + 1, flags=ACK, window=502, timestamps=(1, 1))
    before = opening(ack, 100, window_scale=7)
    frames = []
    for number in range(count):
        time = number * every_us
        clock_ms = 2 + time // 1_000
        asks = Packet(
            client, server, c + 1 + 40 * number, s + 1 + 90 * number, PSH | ACK, 502, 40, (clock_ms, clock_ms - 1)
        )
        tells = Packet(
            server, client, s + 1 + 90 * number, c + 41 + 40 * number, PSH | ACK, 509, 90, (clock_ms, clock_ms)
        )
        clocks = {"tsval": lap_ms, "tsecr": lap_ms, "ip_id": count}
        asks, tells = replace(asks, ip_id=number), replace(tells, ip_id=number)
        frames.append(Timed(time, frame(asks), {"seq": 40 * count, "ack": 90 * count, **clocks}, "request"))
        frames.append(Timed(time + 30, frame(tells), {"seq": 90 * count, "ack": 40 * count, **clocks}, "response"))
    return before, frames
