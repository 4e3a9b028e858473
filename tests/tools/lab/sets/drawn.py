"""Experiments drawn whole: a limit, a path and two hosts that nobody chose, nor left out for lack of an idea."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.tools.lab.scenario import BIG_WINDOW, Host, Rule, Scenario, talk

COUNT = 60
_PLAIN, _ROOMY = Host(), Host(sysctl=BIG_WINDOW)
_DURATION_S = 2.5
"""Longest that the data of an experiment may take, about."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """What holds the sender back: scripts of both ends, options of both sockets, and what the network does."""

    write: str
    read: str
    options: str = ""
    reader: str = ""
    receiver: Host = _PLAIN
    rules: tuple[Rule, ...] = ()
    rate: float = 0
    queue: int = 0


def _even(dice: random.Random, least: float, most: float) -> float:
    """As often between 1 and 2 as between 10 and 20."""
    return least * math.exp(math.log(most / least) * dice.random())


def _size(dice: random.Random, least: int, most: int) -> int:
    return round(_even(dice, least, most))


def _window(dice: random.Random, _rtt_s: float) -> _Limit:
    size = _size(dice, 30_000, 3_000_000)
    return _Limit(f"write {size} {_size(dice, 4_000, 1_000_000)}\n", f"read {size}\n", receiver=_ROOMY)


def _send_buffer(dice: random.Random, rtt_s: float) -> _Limit:
    buffer = _size(dice, 4_600, 200_000)
    size = min(3_000_000, int(3 * buffer * _DURATION_S / rtt_s))
    return _Limit(f"write {size} {_size(dice, 1_000, 200_000)}\n", f"read {size}\n",
                  options=f"opt sndbuf {buffer}\n", receiver=_ROOMY)  # fmt: skip


def _receive_buffer(dice: random.Random, rtt_s: float) -> _Limit:
    buffer = _size(dice, 2_300, 200_000)
    size = min(2_000_000, int(buffer * _DURATION_S / rtt_s))
    return _Limit(f"write {size}\n", f"read {size}\n", reader=f"opt rcvbuf {buffer}\n")


def _slow_reader(dice: random.Random, _rtt_s: float) -> _Limit:
    chunk, pause_ms = _size(dice, 1_000, 100_000), _size(dice, 2, 200)
    size = min(3_000_000, int(chunk * _DURATION_S * 1e3 / pause_ms))
    return _Limit(f"write {size}\n", f"readslow {size} {chunk} {pause_ms}\n")


def _pace(dice: random.Random, _rtt_s: float) -> _Limit:
    rate = _size(dice, 60_000, 40_000_000)
    size = min(4_000_000, int(rate * _DURATION_S))
    return _Limit(f"write {size} {_size(dice, 4_000, 1_000_000)}\n", f"read {size}\n",
                  options=f"opt maxpacing {rate}\n", receiver=_ROOMY)  # fmt: skip


def _beat(dice: random.Random, _rtt_s: float) -> _Limit:
    chunk, pause_ms = _size(dice, 100, 150_000), _size(dice, 2, 150)
    size = min(3_000_000, max(10 * chunk, int(chunk * _DURATION_S * 1e3 / pause_ms)))
    options = dice.choice(("", "opt nodelay 1\n"))
    return _Limit(f"write {size} {chunk} {pause_ms}\n", f"read {size}\n", options=options)


def _exchanges(dice: random.Random, rtt_s: float) -> _Limit:
    answer, request = _size(dice, 50, 80_000), _size(dice, 20, 3_000)
    times = max(3, min(30, int(_DURATION_S / (3 * rtt_s))))
    think = f"sleep {_size(dice, 1, 120)}\n" if dice.random() < 0.5 else ""
    pieces = dice.choice((1, 1, 2, 3))
    writes = f"write {answer}\n" * pieces
    reads = f"read {answer * pieces}\n"
    options = dice.choice(("", "opt nodelay 1\n"))
    return _Limit(f"{think}{writes}read {request}\n" * times + writes, f"{reads}write {request}\n" * times + reads,
                  options=options)  # fmt: skip


def _idle(dice: random.Random, _rtt_s: float) -> _Limit:
    parts = [_size(dice, 5_000, 900_000) for _ in range(dice.randint(2, 4))]
    silences = [f"sleep {_size(dice, 100, 2_000)}\n" for _ in parts[1:]]
    return _Limit("".join(f"{silence}write {part}\n" for silence, part in zip(["", *silences], parts, strict=True)),
                  f"read {sum(parts)}\n", receiver=_ROOMY)  # fmt: skip


def _losses(dice: random.Random, rtt_s: float) -> _Limit:
    size = _size(dice, 20_000, 1_500_000)
    late_us = int(dice.uniform(0.05, 0.6) * rtt_s * 1e6)
    dark_s = 3 * rtt_s
    ways = (
        Rule("drop", first=0, chance=_even(dice, 0.002, 0.03)),
        Rule("drop", first=dice.randrange(size), times=dice.randint(1, 2)),
        Rule("drop", first=size - 1, times=1),
        Rule("drop", begin_s=dark_s, end_s=dark_s + dice.uniform(0.02, 0.4)),
        Rule("drop", way="b", pure_ack=True, chance=dice.uniform(0.1, 0.9)),
        Rule("delay", first=0, every=dice.randint(10, 120), extra_us=late_us),
        Rule("dup", first=0, every=dice.randint(10, 60)),
    )
    rules = tuple(dice.sample(ways, dice.choice((1, 1, 2))))
    return _Limit(f"write {size}\n", f"read {size}\n", rules=rules, receiver=_ROOMY)


def _link(dice: random.Random, rtt_s: float) -> _Limit:
    rate = _even(dice, 1e6, 60e6)
    queue = int(max(6_000, rate / 8 * rtt_s * _even(dice, 0.3, 6)))
    size = min(4_000_000, int(rate / 8 * _DURATION_S))
    return _Limit(f"write {size}\n", f"read {size}\n", rate=rate, queue=queue, receiver=_ROOMY)


_LIMITS: tuple[Callable[[random.Random, float], _Limit], ...] = (
    _window, _send_buffer, _receive_buffer, _slow_reader, _pace, _beat, _exchanges, _idle, _losses, _link,
)  # fmt: skip


def scenarios(seed: int) -> list[Scenario]:
    """As many of each limit."""
    return [_scenario(number, random.Random(f"{seed}-{number}")) for number in range(COUNT)]


def _scenario(number: int, dice: random.Random) -> Scenario:
    bound = _LIMITS[number % len(_LIMITS)]
    one_way_us = _size(dice, 150, 60_000)
    limit = bound(dice, max(2 * one_way_us / 1e6, 1e-3))
    control, family = dice.choice(("cubic", "cubic", "reno", "bbr")), dice.choice((4, 4, 6))
    upload, mtu = dice.random() < 0.3, dice.choice((1500, 1500, 1500, 1280, 9000))
    sysctl = {}
    for name, chance in (("tcp_timestamps", 0.2), ("tcp_sack", 0.1), ("tcp_slow_start_after_idle", 0.2)):
        if dice.random() < chance:
            sysctl[name] = 0
    sender = Host(
        sysctl=sysctl,
        route=f"initcwnd {dice.choice((1, 2, 3, 4, 20, 40))}" if dice.random() < 0.3 else "",
        gso_max_segs=dice.choice((0, 0, 0, 1)),
        offload=dice.random() < 0.8,
    )
    talking = talk(limit.write, limit.read, options=f"opt cc {control}\n{limit.options}",
                   reader=f"opt cc cubic\n{limit.reader}", upload=upload, family=family)  # fmt: skip
    name = bound.__name__.strip("_").replace("_", "-")
    return Scenario(
        f"{name}-{number}", f"{name.replace('-', ' ')} on a path that was drawn", (talking,), one_way_us, family=family,
        mtu=mtu, sender=sender, receiver=limit.receiver, rules=limit.rules, rate_a=limit.rate, queue_a=limit.queue,
        seed=dice.randrange(1 << 30),
    )  # fmt: skip
