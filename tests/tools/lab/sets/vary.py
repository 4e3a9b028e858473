"""The same experiments with every figure drawn anew, so that nobody can learn the figures."""

import random
import re
from dataclasses import replace

from tests.tools.lab.changes.pairs import Plan
from tests.tools.lab.scenario import Connection, Rule, Scenario

_SIZES = re.compile(r"^(write|read|readslow) (\d+)(?: (\d+))?", re.MULTILINE)
_BUFFERS = re.compile(r"^opt (sndbuf|rcvbuf|maxpacing) (\d+)", re.MULTILINE)
_TENTHS = range(6, 17)
_SMALL = 2500
"""Writes of up to so many bytes are small on purpose: what matters of them is that they fit one segment or two."""


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


def varied_plan(plan: Plan, seed: int) -> Plan:
    """Sizes by one factor, round trip and pauses by another; the changes, and what a change sets, stay."""
    situation = plan.situation
    dice = random.Random(f"{seed}{situation.name}")
    larger, slower = dice.choice(_TENTHS), dice.uniform(0.6, 1.7)
    rtt_ms = max(1.0, round(situation.rtt_ms * slower, 1))
    request, response = (
        tuple(size * larger // 10 if size > _SMALL else size for size in sizes)
        for sizes in (situation.request, situation.response)
    )
    drawn = replace(
        situation,
        name=f"{situation.name}~{seed}",
        why=f"{situation.why}; drawn: {sum(request + response):,} bytes at {rtt_ms:g} ms",
        rtt_ms=rtt_ms,
        request=request,
        response=response,
        think_ms=round(situation.think_ms * slower),
    )
    return replace(plan, situation=drawn)


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
