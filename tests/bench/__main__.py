"""`python -m tests.bench`: tcpstall beside its peers on large captures, as ratios.

Nothing here fails on a time; figures are for people. A peer that is not installed is left out.
"""

import argparse
import datetime
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
KINDS = {"long": 10_000_000, "short": 6_500_000, "full": 1_500_000}
NOT_QUADRATIC = ("-o", "tcp.desegment_tcp_streams:FALSE")
ONCE_OVER_S = 20.0
"""A command that takes longer than this runs once only."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One run of one command."""

    wall_s: float
    user_s: float
    system_s: float
    peak_mb: float
    exit_code: int

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


def commands(capture: Path) -> dict[str, list[str]]:
    """Name: argument list. tcpstall first, all others by how much they compute."""
    path = str(capture)
    fields = ["ack_rtt", "bytes_in_flight", "retransmission", "zero_window"]
    shown = [part for field in fields for part in ("-e", f"tcp.analysis.{field}")]
    return {
        "tcpstall": [*tcpstall(), "analyze", "--format", "json", "--no-bursts", path],
        "tcptrace -lr -n": ["tcptrace", "-lr", "-n", path],
        "tcptrace -n -q": ["tcptrace", "-n", "-q", path],
        "tshark -z conv,tcp": ["tshark", *NOT_QUADRATIC, "-q", "-z", "conv,tcp", "-r", path],
        "tshark -T fields": ["tshark", *NOT_QUADRATIC, "-T", "fields", *shown, "-r", path],
        "tcpdump -n": ["tcpdump", "-n", "-r", path],
        "capinfos -c": ["capinfos", "-c", path],
        "cat": ["cat", path],
    }


def tcpstall() -> list[str]:
    """The command of this environment, as a user starts it."""
    beside = Path(sys.executable).with_name("tcpstall")
    found = str(beside) if beside.exists() else shutil.which("tcpstall")
    return [found] if found else [sys.executable, "-m", "tcpstall"]


def cost(command: Sequence[str]) -> Cost:
    """Runs a command with its output thrown away. The core it runs on is inherited."""
    began = time.perf_counter()
    with Path(os.devnull).open("wb") as nothing:
        process = subprocess.Popen(command, stdout=nothing, stderr=nothing, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    return Cost(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def cheapest(command: Sequence[str], runs: int) -> Cost:
    costs = [cost(command)]
    while len(costs) < runs and costs[0].wall_s < ONCE_OVER_S:
        costs.append(cost(command))
    return min(costs, key=lambda cost: cost.cpu_s)


def capture(kind: str, cache: Path, packets: int) -> Path:
    """Makes the capture unless the cache has it, in a process of its own: numpy's memory would count as the peers'."""
    path = cache / f"{kind}-{packets}.pcap"
    if not path.exists():
        note(f"making {path}")
        maker = [sys.executable, "-m", "tests.bench.captures", kind, str(path), "--packets", str(packets)]
        subprocess.run(maker, check=True, cwd=REPOSITORY)
    with path.open("rb") as file:  # into the page cache
        while file.read(1 << 24):
            pass
    return path


def packets_in(path: Path) -> int:
    """Counts records without keeping them."""
    import struct

    count = 0
    with path.open("rb", buffering=1 << 22) as file:
        file.seek(24)
        while header := file.read(16):
            file.seek(struct.unpack("<I", header[8:12])[0], os.SEEK_CUR)
            count += 1
    return count


def compare(kind: str, path: Path, runs: int, wanted: Sequence[str]) -> list[str]:
    packets = packets_in(path)
    lines = [
        f"### {kind}: {packets:,} packets, {path.stat().st_size / 1e6:,.0f} MB",
        "",
        "| command | CPU s | wall s | packets/CPU s | peak MB | CPU ÷ tcpstall's | exit |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    own: Cost | None = None
    for name, command in commands(path).items():
        if shutil.which(command[0]) is None or not any(name.startswith(prefix) for prefix in ("tcpstall", *wanted)):
            continue
        note(f"{kind}: {name}")
        run = cheapest(command, runs)
        own = own or run
        rate = f"{packets / run.cpu_s:,.0f}" if run.cpu_s else "–"
        ratio = f"{run.cpu_s / own.cpu_s:.2f}" if own.exit_code == 0 else "–"
        times = f"{run.cpu_s:.2f} | {run.wall_s:.2f}"
        lines.append(f"| `{name}` | {times} | {rate} | {run.peak_mb:.0f} | {ratio} | {run.exit_code} |")
    return [*lines, ""]


def small(runs: int, trace: Path | None) -> list[str]:
    """What one waits for at the prompt."""
    cases = {"tcpstall --help": [*tcpstall(), "--help"]}
    if trace:
        cases[f"tcpstall analyze {trace.name}"] = [*tcpstall(), "analyze", str(trace)]
    lines = ["### at the prompt", "", "| command | wall ms | CPU ms | exit |", "| --- | ---: | ---: | ---: |"]
    for name, command in cases.items():
        run = min((cost(command) for _ in range(max(runs, 5))), key=lambda cost: cost.wall_s)
        lines.append(f"| `{name}` | {run.wall_s * 1e3:.0f} | {run.cpu_s * 1e3:.0f} | {run.exit_code} |")
    return [*lines, ""]


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), platform.machine())
    today = datetime.datetime.now(tz=datetime.UTC).date()
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return f"{today}, {model}, {os.cpu_count()} cores, {system}"


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], help="which captures; all unless told")
    parser.add_argument("--packets", type=int, help="packets in each capture; 10, 6.5 and 1.5 million unless told")
    parser.add_argument("--runs", type=int, default=3, help="the cheapest of so many runs counts")
    parser.add_argument("--core", type=int, default=0, help="the processor core that all commands share")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "tcpstall-bench")
    parser.add_argument(
        "--peers", default="tcptrace,tshark,tcpdump,capinfos,cat", help="comma-separated beginnings of names"
    )
    parser.add_argument("--output", type=Path, help="also write the tables there, as Markdown")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    wanted = [name for name in options.peers.split(",") if name]
    traces = sorted((REPOSITORY / "fixtures").glob("**/slowstart-rtt7ms-512k.txt"))
    lines = [f"Measured {machine()}; the cheapest of {options.runs} runs on one core, page cache warm.", ""]
    lines += small(options.runs, traces[0] if traces else None)
    for kind in options.kinds or KINDS:
        path = capture(kind, options.cache, options.packets or KINDS[kind])
        lines += compare(kind, path, options.runs, wanted)
    floor = cost([sys.executable, "-c", ""]).peak_mb
    lines.append(f"Peaks cannot read below {floor:.0f} MB here: a child starts with its parent's.")
    print("\n".join(lines))
    if options.output:
        options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
