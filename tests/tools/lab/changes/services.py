"""Services of 5 to 50 connections that differ in the size and number of their requests, drawn anew with each seed."""

import random
from dataclasses import dataclass
from typing import Any

from tests.tools.lab.changes.pairs import Plan
from tests.tools.lab.changes.situation import Situation

COUNT = 20
LEAST, MOST = 5, 50
"""Connections of a service."""

_K = 1024
_OFF = "slow-start-after-idle=0"
_RUNS, _LOSSY_RUNS = 3, 7
_PAUSES_MS = 4_000
"""Longest pauses of one run together: nothing is learnt while they last."""


@dataclass(frozen=True, slots=True)
class Service(Situation):
    """One server and its clients, one connection after the other.

    `flows` are the connections: of each the sizes of its responses, or with `upload` of its requests, `think_ms` apart,
    each in `pieces` writes. With `reuse` all of them share one connection.
    """

    flows: tuple[tuple[int, ...], ...] = ()
    pieces: int = 1

    def _connections(self) -> list[tuple[int, ...]]:
        return [tuple(size for flow in self.flows for size in flow)] if self.reuse else list(self.flows)

    def _sides(self, size: int) -> tuple[list[int], list[int]]:
        """Writes of the client and of the server for one exchange."""
        piece = size // self.pieces
        long = [piece] * (self.pieces - 1) + [size - piece * (self.pieces - 1)]
        short = list(self.response if self.upload else self.request)
        return (long, short) if self.upload else (short, long)

    def _client(self) -> list[str]:
        address, port = self.server
        lines = []
        for flow in self._connections():
            lines.append(f"connect {address} {port}")
            for number, size in enumerate(flow):
                asked, answered = self._sides(size)
                lines += [f"sleep {self.think_ms}"] if number and self.think_ms else []
                lines += [*(f"write {each}" for each in asked), f"read {sum(answered)}"]
            lines.append("close")
        return lines

    def _server(self) -> list[str]:
        address, port = self.server
        lines = []
        for flow in self._connections():
            lines.append(f"listen {address} {port}")
            for asked, answered in map(self._sides, flow):
                lines += [f"read {sum(asked)}", *(f"write {each}" for each in answered)]
            lines += ["readeof", "close"]
        return lines


@dataclass(frozen=True, slots=True)
class _Kind:
    """What connections of a service have in common; sizes lie between the two, evenly by their logarithm."""

    name: str
    changes: str
    sizes: tuple[int, int]
    requests: tuple[int, int] = (1, 1)
    idles: bool = False
    figures: tuple[tuple[str, Any], ...] = ()


_KINDS = (
    _Kind("pages", "initcwnd=40, reuse-connection=1", (4_000, 400_000)),
    _Kind("kept", f"initcwnd=20, {_OFF}", (2_000, 200_000), (2, 6), idles=True),
    _Kind("api", "nodelay=1, reuse-connection=1", (300, 1_200), (1, 8), figures=(("pieces", 2),)),
    _Kind("files", "sndbuf=auto, initcwnd=40", (100_000, 900_000), figures=(("sndbuf", 64 * _K),)),
    _Kind("uploads", f"initcwnd=40, {_OFF}", (20_000, 500_000), (1, 3), idles=True,
          figures=(("upload", True), ("response", (200,)))),
    _Kind("windows", "initcwnd=40, rtt=30ms", (10_000, 600_000), (1, 2), figures=(("roomy", False),)),
    _Kind("line", "rate=100Mbit, initcwnd=20", (50_000, 1_000_000), figures=(("rate", 20e6), ("queue", 400_000))),
    _Kind("measured", "initcwnd=40, cc=cubic", (20_000, 500_000), (1, 3), figures=(("control", "bbr"),)),
    _Kind("halved", "cc=bbr, initcwnd=20", (20_000, 500_000), (1, 3), figures=(("control", "reno"),)),
    _Kind("lossy", "loss=0, cc=bbr", (20_000, 500_000), figures=(("loss", 0.005),)),
)  # fmt: skip


def plans(seed: int) -> list[Plan]:
    """Each kind twice: with few connections, and with many."""
    return [_drawn(_KINDS[number % len(_KINDS)], seed, number) for number in range(COUNT)]


def _drawn(kind: _Kind, seed: int, number: int) -> Plan:
    dice = random.Random(f"{seed} {kind.name} {number}")
    middle = (LEAST + MOST) // 2
    count = dice.randint(LEAST, middle) if number < len(_KINDS) else dice.randint(middle, MOST)
    least, most = kind.sizes
    flows = tuple(
        tuple(round(least * (most / least) ** dice.random()) for _ in range(dice.randint(*kind.requests)))
        for _ in range(count)
    )
    pauses = sum(len(flow) - 1 for flow in flows)
    think_ms = min(dice.randint(300, 900), _PAUSES_MS // max(1, pauses)) if kind.idles else 0
    figures = dict(kind.figures)
    rtt_ms = round(dice.uniform(4, 60), 1)
    why = f"{kind.name}: {count} connections, {sum(map(len, flows))} requests at {rtt_ms:g} ms"
    service = Service(
        f"{kind.name}-{count}~{seed}", why, rtt_ms, reuse=False, flows=flows, think_ms=think_ms, **figures
    )
    return Plan(service, tuple(kind.changes.split(", ")), _LOSSY_RUNS if service.loss else _RUNS)
