"""The questions that the bench asks, each a table."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.tools.bench import cache
from tests.tools.bench.cost import REPOSITORY, Cores, Cost, all_cores, cheapest, note, piped
from tests.tools.bench.kinds import KINDS
from tests.tools.bench.table import PEERS, Target, memory, rate, ratio, seconds, table, throughput, times, usable

NOT_QUADRATIC = ("-o", "tcp.desegment_tcp_streams:FALSE")
"""tshark's time grows with the square of what it takes for unfinished messages in payload that means nothing."""
ANALYZE = ("analyze", "--format", "json", "--no-bursts")
RATES = {"long": Target(20, " M packets/s"), "short": Target(8, " M packets/s"), "full": Target(6, " GB/s")}
MEMORY = {"short": Target(150, " MB", "≤"), "half-open": Target(200, " MB", "≤"), "terabyte": Target(200, " MB", "≤")}
MEMORY |= {"stalls": Target(200, " MB", "≤"), "mixed": Target(200, " MB", "≤")}
RATIOS = {
    ("long", "tcptrace -lr -n"): Target(3.7, " ×"),
    ("short", "tcptrace -lr -n"): Target(20, " ×"),
    ("long", "tshark -q -z conv,tcp"): Target(100, " ×"),
    ("short", "tshark -q -z conv,tcp"): Target(40, " ×"),
}
TWO_CORES = Target(1.5, " × one core")
DECOMPRESSING = Target(1.25, " ×", "≤")


@dataclass(frozen=True, slots=True)
class Bench:
    """Settings of a measurement."""

    folder: Path
    tcpstall: list[str]
    peers: tuple[str, ...]
    """Beginnings of names."""
    core: int
    runs: int
    peer_runs: int
    patience_s: float
    share: float
    """Of the captures' full sizes. Targets are for the full ones only."""

    @property
    def one(self) -> Cores:
        return frozenset({self.core})

    @property
    def two(self) -> Cores:
        """The core and another, if there is another."""
        return frozenset([self.core, *sorted(all_cores() - self.one)][:2])

    def packets(self, kind: str) -> int:
        return max(int(KINDS[kind].packets * self.share), 1)

    def capture(self, kind: str) -> Path:
        return cache.capture(self.folder, kind, self.packets(kind))

    def analyze(self, path: Path | str) -> list[str]:
        return [*self.tcpstall, *ANALYZE, str(path)]

    def costs(self, command: list[str], cores: Cores, *, peer: bool = False) -> Cost:
        note(f"{' '.join(map(str, command[-3:]))} on {len(cores)} core(s)")
        return cheapest(command, cores, self.patience_s, self.peer_runs if peer else self.runs)

    def judge(self, target: Target | None, value: float, run: Cost, *, at_least: bool = False) -> str:
        if target is None or self.share < 1:
            return ""
        if not usable(run) and not at_least:
            return "not known"
        return target.judge(value, at_least=at_least)


def found_tcpstall() -> list[str]:
    """The command of this environment, as a user starts it."""
    beside = Path(sys.executable).with_name("tcpstall")
    found = str(beside) if beside.exists() else shutil.which("tcpstall")
    return [found] if found else [sys.executable, "-m", "tcpstall"]


def peers(path: Path) -> dict[str, list[str]]:
    """By how much they compute."""
    name = str(path)
    fields = ["ack_rtt", "bytes_in_flight", "retransmission", "zero_window"]
    shown = [part for field in fields for part in ("-e", f"tcp.analysis.{field}")]
    return {
        "tcptrace -lr -n": ["tcptrace", "-lr", "-n", name],
        "tcptrace -n -q": ["tcptrace", "-n", "-q", name],
        "tshark -q -z conv,tcp": ["tshark", *NOT_QUADRATIC, "-q", "-z", "conv,tcp", "-r", name],
        "tshark -T fields": ["tshark", *NOT_QUADRATIC, "-T", "fields", *shown, "-r", name],
        "tcpdump -n": ["tcpdump", "-n", "-r", name],
        "capinfos -c": ["capinfos", "-c", name],
        "cat": ["cat", name],
    }


def beside_peers(bench: Bench, kinds: list[str]) -> list[str]:
    """On one core in its processor time, on two by the clock; `cat` is the limit, which does nothing but read."""
    rows = []
    for kind in kinds:
        path = bench.capture(kind)
        packets, size = bench.packets(kind), path.stat().st_size
        own = bench.costs(bench.analyze(path), bench.one)
        in_unit = size / own.took_s / 1e9 if kind == "full" else packets / own.took_s / 1e6
        verdicts = [bench.judge(RATES.get(kind), in_unit, own), bench.judge(MEMORY.get(kind), own.peak_mb, own)]
        rows.append([title(bench, kind), "**tcpstall**", *figures(own, packets, size), "1", said(verdicts)])
        if kind == "short" and len(bench.two) == 2:
            two = bench.costs(bench.analyze(path), bench.two)
            verdict = bench.judge(TWO_CORES, own.took_s / two.took_s, two)
            rows.append(["", "**tcpstall** on two cores", *figures(two, packets, size), ratio(own, two), verdict])
        for name, command in peers(path).items():
            if name.startswith(bench.peers) and shutil.which(command[0]):
                run = bench.costs(command, bench.one, peer=name != "cat")
                verdict = bench.judge(RATIOS.get((kind, name)), run.took_s / own.took_s, run, at_least=run.stopped)
                rows.append(["", f"`{name}`", *figures(run, packets, size), ratio(own, run), verdict])
    return table(PEERS, rows, 2)


def figures(run: Cost, packets: int, size: int) -> list[str]:
    return [seconds(run), rate(packets, run), throughput(size, run), memory(run)]


def title(bench: Bench, kind: str) -> str:
    about = KINDS[kind].about
    return (
        f"{about}: {bench.packets(kind) / 1e6:g} M packets"
        if bench.share == 1
        else f"{kind}: {bench.packets(kind):,} packets"
    )


def said(verdicts: list[str]) -> str:
    return ", ".join(verdict for verdict in verdicts if verdict)


def from_compressed(bench: Bench, kinds: list[str]) -> list[str]:
    """On two cores, by the clock, as decompressing and analysing can overlap; the limit is to decompress alone."""
    rows = []
    for kind in kinds:
        path = bench.capture(kind)
        for suffix, command in cache.DECOMPRESSORS.items():
            packed = cache.compressed(path, suffix)
            if packed is None:
                continue
            limit = bench.costs([*command, str(packed)], bench.two)
            own = bench.costs(bench.analyze(packed), bench.two)
            name = f"`{' '.join(command)}`"
            shown = times(own.took_s / limit.took_s) if usable(own) else "–"
            verdict = bench.judge(DECOMPRESSING, own.took_s / limit.took_s, own)
            share = f"{packed.stat().st_size / path.stat().st_size:.0%}"
            rows.append([f"{kind}{suffix}", name, share, seconds(limit), seconds(own), shown, verdict])
    columns = ["capture", "the limit", "of its size", "takes", "tcpstall takes", "÷ the limit", "target"]
    return table(columns, rows, 2)


GROWTH = (100_000, 1_000_000, 10_000_000, 100_000_000)


def growth(bench: Bench, kinds: list[str]) -> list[str]:
    """Through a pipe, on one core: in processor time, as the writer, on another core, may be the slower one."""
    rows = []
    for kind in kinds:
        for packets in GROWTH:
            count = max(int(packets * bench.share), 1)
            run = through_pipe(bench, kind, count)
            rows.append([kind, f"{count:,}", seconds(run), rate(count, run), memory(run)])
    return table(["flows", "packets", "time", "packets/s", "peak memory"], rows)


def hostile(bench: Bench, kinds: list[str]) -> list[str]:
    """Costs of captures that should not need memory, through a pipe in the same way."""
    rows = []
    for kind in kinds:
        packets = bench.packets(kind)
        run = through_pipe(bench, kind, packets)
        verdict = bench.judge(MEMORY.get(kind), run.peak_mb, run)
        cells = [seconds(run), rate(packets, run), memory(run), verdict]
        rows.append([title(bench, kind), *cells])
    return table(["stream", "time", "packets/s", "peak memory", "target"], rows)


def through_pipe(bench: Bench, kind: str, packets: int) -> Cost:
    note(f"{kind}: {packets:,} packets through a pipe")
    return piped(cache.generator(kind, packets), bench.analyze("-"), bench.one, bench.patience_s)


def at_the_prompt(bench: Bench) -> list[str]:
    """Times of commands that one waits for at the prompt."""
    cases = {"tcpstall --help": [*bench.tcpstall, "--help"]}
    capture = REPOSITORY / "fixtures" / "slowstart-rtt7ms-512k.pcap"
    cases[f"tcpstall analyze {capture.name}"] = [*bench.tcpstall, "analyze", str(capture)]
    rows = []
    for name, command in cases.items():
        run = cheapest(command, bench.one, bench.patience_s, max(bench.runs, 5))
        rows.append([f"`{name}`", f"{run.wall_s * 1e3:.0f} ms"])
    return table(["command", "time"], rows)
