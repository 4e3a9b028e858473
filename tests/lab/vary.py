"""The same experiments with every figure drawn anew, so that nobody can learn the figures."""

import random
import re
from dataclasses import replace

from tests.lab.scenario import Connection, Rule, Scenario

_SIZES = re.compile(r"^(write|read|readslow) (\d+)(?: (\d+))?", re.MULTILINE)
_BUFFERS = re.compile(r"^opt (sndbuf|rcvbuf|maxpacing) (\d+)", re.MULTILINE)
_TENTHS = range(6, 17)


def varied(scenario: Scenario, seed: int) -> Scenario:
    """Sizes and offsets by one factor, buffers by another, delays by a third; the losses' dice are thrown again."""
    dice = random.Random(f"{seed}{scenario.name}")
    sizes, buffers = dice.choice(_TENTHS), dice.choice(_TENTHS)
    slower = dice.uniform(0.5, 1.9)
    return replace(
        scenario,
        name=f"{scenario.name}~{seed}",
        connections=tuple(_connection(one, sizes, buffers) for one in scenario.connections),
        one_way_us=round(scenario.one_way_us * slower),
        delay=tuple((at, round(us * slower)) for at, us in scenario.delay),
        rules=tuple(_rule(rule, sizes) for rule in scenario.rules),
        seed=scenario.seed + 1000 * seed,
    )


def _connection(connection: Connection, sizes: int, buffers: int) -> Connection:
    def sized(line: re.Match[str]) -> str:
        scaled = [str(int(number) * sizes // 10) for number in line.groups()[1:] if number]
        return " ".join([line[1], *scaled])

    def buffered(line: re.Match[str]) -> str:
        return f"opt {line[1]} {int(line[2]) * buffers // 10}"

    sender, receiver = (
        _BUFFERS.sub(buffered, _SIZES.sub(sized, text)) for text in (connection.sender, connection.receiver)
    )
    return replace(connection, sender=sender, receiver=receiver)


def _rule(rule: Rule, sizes: int) -> Rule:
    first = rule.first and rule.first * sizes // 10
    return replace(rule, first=first, last=None if rule.last is None or first is None else first + 1)
