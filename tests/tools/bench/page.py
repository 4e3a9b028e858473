"""`python -m tests.tools.bench.page`: cost, size and zooming of the page of a million packets."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.page.chromium import Opened, browser, opened, program
from tests.tools.bench.captures import MAKERS, long

LARGEST_BYTES = 5_000_000
LONGEST_S = 10
LEAST_FRAMES = 20
FRAMES = 120

ZOOM = """async (frames) => {
    const {x_range: range} = Bokeh.documents[0].roots()[0], {start, end} = range;
    const next = () => new Promise(requestAnimationFrame);
    const times = [];
    let last = await next();
    for (let frame = 0; frame < frames; frame++) {
        const near = 0.1 + 0.9 * Math.abs(1 - 2 * frame / frames), half = (end - start) / 2 * near;
        const middle = (start + end) / 2 * (1 + 0.2 * Math.sin(frame / 7));
        range.setv({start: Math.max(start, middle - half), end: Math.min(end, middle + half)});
        const now = await next();
        times.push(now - last);
        last = now;
    }
    return times;
}"""
"""In to a tenth and out again, to and fro meanwhile: a movement with every frame that the browser draws."""


def taken_s(*arguments: str) -> float:
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "tcpstall", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def frames(shown: Opened) -> tuple[float, float]:
    """Frames a second, and the time in ms that only one frame in twenty exceeds."""
    times = sorted(shown.page.evaluate(ZOOM, FRAMES))
    return 1_000 * len(times) / sum(times), times[-len(times) // 20]


def told(value: str, met: bool) -> str:
    return f"{value}: {'met' if met else '**missed**'}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.bench.page", description=__doc__)
    parser.add_argument("--kind", action="append", choices=["one", *MAKERS], help="one and long unless told")
    parser.add_argument("--packets", type=int, default=1_000_000)
    options = parser.parse_args()
    executable = program()
    print("| capture | analysis | the page beyond it | its size | frames a second | 19 of 20 within |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kind or ["one", "long"]:
            capture, page = Path(folder) / f"{kind}.pcap", Path(folder) / "report.html"
            with capture.open("wb") as out:
                (long(1) if kind == "one" else MAKERS[kind]()).write(out, options.packets)
            alone = taken_s("analyze", str(capture))
            beyond = taken_s("report", str(capture), "-o", str(page)) - alone
            size = page.stat().st_size
            speed = "no Chromium here | –"
            if executable:
                with browser(executable) as chromium, opened(chromium, page) as shown:
                    rate, slow = frames(shown)
                speed = f"{told(f'{rate:.0f}', rate >= LEAST_FRAMES)} | {slow:.0f} ms"
            cost = told(f"{beyond:.1f} s", beyond < LONGEST_S)
            room = told(f"{size / 1e6:.2f} MB", size <= LARGEST_BYTES)
            print(f"| {kind} | {alone:.2f} s | {cost} | {room} | {speed} |", flush=True)
            capture.unlink()


if __name__ == "__main__":
    main()
