"""`python -m tests.hostile`: builds the fuzzers, seeds them from the fixtures and lets each run for its time."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.hostile import seeds

NATIVE = Path(__file__).parents[2] / "tcpstall" / "native"
FUZZ = NATIVE / "core" / "fuzz"
TARGETS = ["capture", "wire", "text", "pipeline", "segments", "copy"]

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

KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 26), "MALLOC_TRIM_THRESHOLD_": str(1 << 28)}
"""Each round takes read buffers of 256 KiB; glibc would ask the kernel for them every time, which takes longer than
the rest of the round."""


MEMORY = Path("/dev/shm")


def built(address: bool) -> Path:
    """The folder with the fuzzers, made anew where the core has changed."""
    # Flags of the environment would take the place of those in the folder's own configuration.
    environment = {name: value for name, value in os.environ.items() if name not in {"RUSTFLAGS", "CARGO_TARGET_DIR"}}
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    folder = NATIVE / "target" / ("fuzz-address" if address else "fuzz")
    if address:
        command += ["--config", 'build.rustflags=["-Zsanitizer=address"]', "--target-dir", str(folder)]
        environment["RUSTC_BOOTSTRAP"] = "1"  # sanitizers are not stable
    subprocess.run(command, cwd=FUZZ, env=environment, check=True)
    [binaries] = folder.glob("*/release/capture")
    return binaries.parent


def fuzz(target: str, seconds: int, seed: int, binaries: Path, corpora: Path) -> int:
    """Lets one fuzzer run; what it finds stays beside the corpora."""
    corpus, found = corpora / target, corpora / "found"
    found.mkdir(parents=True, exist_ok=True)
    seeds.write(target, corpus)
    length = LENGTHS.get(target, seeds.LONGEST)
    arguments = [
        f"-seed={seed}",
        f"-max_total_time={seconds}",
        f"-max_len={length}",
        f"-artifact_prefix={found}/{target}-",
        *FLAGS,
    ]
    log = corpora / f"{target}.log"
    # Each round writes its capture to a file: on a disk the fuzzer would wait for that most of its time.
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as scratch, log.open("w") as output:
        environment = {**os.environ, **KEEP_MEMORY, "TMPDIR": scratch}
        command = [str(binaries / target), *arguments, str(corpus)]
        code = subprocess.run(command, env=environment, stdout=output, stderr=output, check=False).returncode
    lines = log.read_text(errors="replace").splitlines()
    rounds = next((line.split()[-1] for line in lines if "number_of_executed_units" in line), "no")
    print(f"{target}: {rounds} rounds in {seconds} s", flush=True)
    if code:
        print("\n".join(line for line in lines[-80:] if line.isprintable()))
    return code


def main() -> int:
    """Runs the targets, as many at a time as there are processors, whatever they find, and says so in the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all where none is named"
    )
    parser.add_argument("--seconds", type=int, default=12, help="for each target")
    parser.add_argument("--seed", type=int, default=1, help="the same inputs each time; 0 draws a new one")
    parser.add_argument("--address", action="store_true", help="with AddressSanitizer, which finds leaks too")
    parser.add_argument("--corpora", type=Path, help="where corpora are kept; by default beside the fuzzers")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    for tool, remedy in {"cargo": "Rust from https://rustup.rs", "c++": "a C++ compiler, for libFuzzer"}.items():
        if shutil.which(tool) is None:
            print(f"tests.hostile: there is no {tool} here. Install {remedy}, then run this again.")
            return 1
    began = time.monotonic()
    binaries = built(options.address)
    print(f"built in {time.monotonic() - began:.0f} s", flush=True)
    corpora = (options.corpora or binaries.parents[1] / "corpora").resolve()
    names = options.targets or list(TARGETS)
    with ThreadPoolExecutor(os.cpu_count()) as several:
        codes = list(several.map(lambda name: fuzz(name, options.seconds, options.seed, binaries, corpora), names))
    failed = [name for name, code in zip(names, codes, strict=True) if code]
    if failed:
        found = corpora / "found"
        print(f"\n!!! found something: {', '.join(failed)}; the inputs are in {found}")
        for path in sorted(found.iterdir()):
            print(f"base64 -d > {path.name} <<< {b64encode(path.read_bytes()).decode()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
