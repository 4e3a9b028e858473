"""`python -m tests.hostile`: builds the fuzzers, seeds them from the fixtures and lets each run for its time."""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.hostile import seeds

FUZZ = Path(__file__).parents[2] / "tcpstall" / "native" / "core" / "fuzz"
TARGETS = ["capture", "wire", "text", "pipeline", "segments"]

FLAGS = [
    "-timeout=10",  # seconds for one input: far beyond what the slowest honest one takes
    "-rss_limit_mb=1024",
    "-malloc_limit_mb=256",  # a length believed; the longest record is 16 MiB
    "-use_value_profile=1",  # numbers to be hit exactly: magic numbers, lengths, types
    "-print_final_stats=1",
    "-verbosity=0",
]

LENGTHS = {"wire": 512}
"""Bytes of the longest input where that is not the seeds'."""


def built() -> Path:
    """The folder with the fuzzers, made anew where the core has changed."""
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    # Flags of the environment would take the place of those in the folder's own configuration.
    environment = {name: value for name, value in os.environ.items() if name not in {"RUSTFLAGS", "CARGO_TARGET_DIR"}}
    subprocess.run(command, cwd=FUZZ, env=environment, check=True)
    [binaries] = FUZZ.parents[1].glob("target/fuzz/*/release")
    return binaries


def fuzz(target: str, seconds: int, binaries: Path, corpora: Path) -> int:
    """Lets one fuzzer run; what it finds stays in the folder of its corpus."""
    corpus = corpora / target
    found = corpora / "found"
    found.mkdir(parents=True, exist_ok=True)
    seeds.write(target, corpus)
    length = LENGTHS.get(target, seeds.LONGEST)
    arguments = [f"-max_total_time={seconds}", f"-max_len={length}", f"-artifact_prefix={found}/{target}-", *FLAGS]
    print(f"\n=== {target}: {seconds} s", flush=True)
    environment = {**os.environ, "TMPDIR": str(found)}  # a capture is written there each round
    return subprocess.run([binaries / target, *arguments, corpus], cwd=corpora, env=environment, check=False).returncode


def main() -> int:
    """Runs the targets one after the other, whatever they find, and says so in the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], help="all where none is named")
    parser.add_argument("--seconds", type=int, default=12, help="for each target")
    parser.add_argument("--corpora", type=Path, help="where corpora are kept; by default beside the fuzzers' build")
    options = parser.parse_args()
    if shutil.which("cargo") is None:
        print("tests.hostile: there is no Rust toolchain here. Install one from https://rustup.rs, then run this again.")
        return 1
    began = time.monotonic()
    binaries = built()
    print(f"built in {time.monotonic() - began:.0f} s", flush=True)
    corpora = options.corpora or binaries.parents[1] / "corpora"
    failed = [name for name in options.targets or TARGETS if fuzz(name, options.seconds, binaries, corpora)]
    if failed:
        print(f"\n!!! found something: {', '.join(failed)}; the inputs are in {corpora / 'found'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
