"""`python -m tests.tools.lab.crowds`: flows that share a narrow link, before and after changes really made."""

import argparse
import gzip
import json
import random
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.tools.lab.changes.timing import by_client
from tests.tools.lab.network.namespaces import obstacle
from tests.tools.lab.run import run
from tests.tools.lab.scenario import BIG_WINDOW, PORT, RECEIVER, SENDER, Connection, Host, Scenario, script

LEAST, MOST = 2, 8
"""Flows of a crowd."""

_HOP_US = 30
_CONTROLS = ("cubic", "reno", "bbr")
_RUNS = 3


@dataclass(frozen=True, slots=True)
class Flow:
    """One connection from `start_ms` on: requests with answers of these sizes (or, of uploads, the other way round)."""

    start_ms: int
    sizes: tuple[int, ...]
    think_ms: int = 0
    upload: bool = False
    control: str = "cubic"
    rcvbuf: int | None = None

    def scripts(self, port: int) -> Connection:
        address = (RECEIVER if self.upload else SENDER)[4]
        client = [f"opt cc {self.control}"]
        server = list(client)
        if self.rcvbuf:
            (server if self.upload else client).append(f"opt rcvbuf {self.rcvbuf}")
        client += [f"sleep {self.start_ms}"] if self.start_ms else []
        client.append(f"connect {address} {port}")
        server.append(f"listen {address} {port}")
        for number, size in enumerate(self.sizes):
            asked, answered = (size, 200) if self.upload else (147, size)
            client += [f"sleep {self.think_ms}"] if number and self.think_ms else []
            client += [f"write {asked}", f"read {answered}"]
            server += [f"read {asked}", f"write {answered}"]
        client.append("close")
        server += ["readeof", "close"]
        if self.upload:
            return Connection(script(*client), script(*server), port, upload=True)
        return Connection(script(*server), script(*client), port)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Flows between two hosts over a link of `rate` bits per second behind `queue` bytes."""

    name: str
    rtt_ms: float
    rate: float
    queue: int
    flows: tuple[Flow, ...]
    initcwnd: int = 10
    roomy: bool = True

    def scenario(self) -> Scenario:
        connections = tuple(flow.scripts(PORT + number) for number, flow in enumerate(self.flows))
        sender = Host({}, "" if self.initcwnd == 10 else f"initcwnd {self.initcwnd}")
        receiver = Host(dict(BIG_WINDOW), "initrwnd 800") if self.roomy else Host()
        one_way_us = round(self.rtt_ms * 500) - _HOP_US
        return Scenario(self.name, "", connections, one_way_us, sender=sender, receiver=receiver, rate_a=self.rate,
                        queue_a=self.queue, taps=(), sample_us=0, snaplen=96, limit_s=60)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """A change, and the flows at which it is made."""

    change: str
    flows: tuple[int, ...]

    def of(self, crowd: Crowd) -> Crowd:
        """The crowd after it."""
        name, _, value = self.change.partition("=")
        number = int("".join(filter(str.isdigit, value)) or 0)
        match name:
            case "rate":
                return replace(crowd, rate=number * 1e6)
            case "queue":
                return replace(crowd, queue=number * 1024)
            case "rtt":
                return replace(crowd, rtt_ms=number)
            case "initcwnd":
                return replace(crowd, initcwnd=number)
        figure: dict[str, Any] = {"control": value} if name == "cc" else {"rcvbuf": number * 1024 or None}
        flows = [replace(flow, **figure) if at in self.flows else flow for at, flow in enumerate(crowd.flows)]
        return replace(crowd, flows=tuple(flows))


def drawn(seed: int, number: int) -> tuple[Crowd, list[Made]]:
    """A crowd, and changes of the path, of all flows and of single ones."""
    dice = random.Random(f"crowd {seed} {number}")
    rtt_ms, rate = round(dice.uniform(8, 60), 1), dice.choice([5, 10, 20, 30, 50]) * 1e6
    product = rate * rtt_ms / 8000
    deep = dice.random() < 0.35
    queue = max(30_000, int(product * dice.uniform(3, 12) + 300_000 if deep else product * dice.uniform(0.6, 2.5)))
    count, upload, control = dice.randint(LEAST, MOST), dice.random() < 0.2, dice.choice(_CONTROLS)
    whole = rate / 8 * dice.uniform(1.2, 3)
    flows = []
    for at in range(count):
        share = whole / count * dice.uniform(0.4, 1.6)
        parts = 1 if dice.random() < 0.6 else dice.randint(2, 5)
        own = control if dice.random() < 0.8 else dice.choice(_CONTROLS)
        rcvbuf = dice.choice([None, None, None, 64 * 1024, 32 * 1024])
        start_ms, think_ms = dice.randint(0, 700) if at else 0, dice.choice([0, 50, 300])
        flows.append(Flow(start_ms, (max(2000, int(share / parts)),) * parts, think_ms, upload, own, rcvbuf))
    crowd = Crowd(f"crowd-{number}~{seed}", rtt_ms, rate, queue, tuple(flows), roomy=dice.random() < 0.7)
    everybody, one = tuple(range(count)), dice.randrange(count)
    other = dice.choice([each for each in _CONTROLS if each != flows[one].control])
    path = [f"queue={int(queue * dice.choice([0.5, 2, 4])) // 1024}K", f"rtt={int(rtt_ms * dice.choice([0.5, 2]))}ms"]
    return crowd, [
        Made(f"cc={other}", (one,)),
        Made(f"initcwnd={dice.choice([20, 40])}", everybody),
        Made(f"rate={int(rate / 1e6 * dice.choice([0.6, 2, 3]))}Mbit", everybody),
        Made(dice.choice(path), everybody),
        Made("rcvbuf=auto" if flows[one].rcvbuf else f"rcvbuf={dice.choice([16, 32])}K", (one,)),
    ]


def produce(crowd: Crowd, changes: Sequence[Made], folder: Path, runs: int = _RUNS) -> None:
    """Leaves the captures of both hosts before the changes, and `real.json` with the times of all runs."""
    variants = {"before": crowd, **{made.change: made.of(crowd) for made in changes}}
    waited: dict[str, list[list[list[int]]]] = {name: [] for name in variants}
    with TemporaryDirectory() as workshop:
        for number in range(runs):
            for name, variant in variants.items():
                recording = run(variant.scenario(), Path(workshop) / f"{name}-{number}")
                waited[name].append([_exchanges(flow, at, recording.folder) for at, flow in enumerate(crowd.flows)])
        sums = [sum(map(sum, run)) for run in waited["before"]]
        kept = sums.index(sorted(sums)[runs // 2])
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for host in ("sender", "receiver"):
            capture = (Path(workshop) / f"before-{kept}" / f"{host}.pcap").read_bytes()
            (folder / f"{host}.pcap.gz").write_bytes(gzip.compress(capture, mtime=0))
    real = {
        **asdict(crowd),
        "changes": [
            {
                "set": name,
                "flows": list(next((made.flows for made in changes if made.change == name), range(len(crowd.flows)))),
                "rtt_ms": variants[name].rtt_ms,
                "waited_ns": [[sum(flow) for flow in run] for run in each],
                "all_waited_ns": round(statistics.median(sum(map(sum, run)) for run in each)),
            }
            for name, each in waited.items()
        ],
    }
    (folder / "real.json").write_text(json.dumps(real) + "\n", encoding="ascii")


def _exchanges(flow: Flow, at: int, folder: Path) -> list[int]:
    return by_client(folder / f"{at}.{'snd' if flow.upload else 'rcv'}.app.json")[1]


def main() -> int:
    """Exit code 2 where the lab cannot run."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.lab.crowds", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if reason := obstacle():
        print(f"tests.tools.lab.crowds: {reason}", file=sys.stderr)
        return 2
    for number in range(options.count):
        crowd, changes = drawn(options.seed, number)
        try:
            produce(crowd, changes, options.out / crowd.name)
        except (OSError, RuntimeError) as broken:
            print(f"{crowd.name}: {broken}", file=sys.stderr)
            continue
        print(crowd.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
