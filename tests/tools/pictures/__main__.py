"""`python -m tests.tools.pictures`: makes the pictures of the README and the pages, in `.github/pictures/`."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.page.chromium import browser, opened, program
from tests.tools.bench import many
from tests.tools.pictures.terminal import draw, tcpstall
from tests.tools.pictures.traffic import FIXTURES, beside

PICTURES = FIXTURES.parent / ".github" / "pictures"
SLOWSTART = "fixtures/slowstart-rtt7ms-512k.pcap"
WIDE, NARROW = 140, 110
WAITS, DAYS = 1_000_000, 6
OFFICE = (
    "slowstart-512k", "sndbuf-16k", "rcvbuf-8k-40ms", "idle-restart-on", "rpc-30k", "wmem-4096", "rmem-4096-up",
    "initcwnd-100", "sndbuf-32k-5ms", "edge-14481", "idle-restart-off", "wmem-4096-up", "zero-window-dead",
)  # fmt: skip


def main() -> None:
    """Makes them all."""
    argparse.ArgumentParser(prog="python -m tests.tools.pictures", description=__doc__).parse_args()
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        in_terminals(Path(folder))
        plotted(Path(folder))
        asked(Path(folder))
    photographed()


def in_terminals(folder: Path) -> None:
    """Draws the output of commands."""
    run = tcpstall()
    draw([[run, "analyze", SLOWSTART]], PICTURES / "analyze.svg", columns=WIDE, lines=34)
    draw([[run, "plot", SLOWSTART, "--terminal"]], PICTURES / "terminal.svg", columns=NARROW)
    draw([[run, "analyze", SLOWSTART, "--format", "markdown"]], PICTURES / "markdown.svg", columns=WIDE, lines=34)
    draw(
        [[run, "diff", "fixtures/lab/initcwnd-100/sender.pcap", "fixtures/lab/slowstart-512k/sender.pcap"]],
        PICTURES / "diff.svg",
        columns=NARROW,
    )
    draw(
        [[run, "pair", "fixtures/lab/sndbuf-16k/receiver.pcap", "fixtures/lab/sndbuf-16k/sender.pcap"]],
        PICTURES / "pair.svg",
        columns=WIDE,
        lines=40,
    )
    pasted = ["--ss", "fixtures/ss/sndbuf-16k/sender.ss"]
    draw(
        [[run, "remedies", "fixtures/ss/sndbuf-16k/sender.pcap", *pasted]],
        PICTURES / "remedies.svg",
        columns=WIDE,
        lines=40,
    )
    draw([[run, "analyze", SLOWSTART, "--anonymise"]], PICTURES / "anonymise.svg", columns=WIDE, lines=12)
    if shutil.which("tshark"):
        in_wireshark(folder)


def in_wireshark(folder: Path) -> None:
    """Draws the comments of an annotated capture and the packets of an extract, as tshark reads them."""
    shutil.copy(FIXTURES.parent / SLOWSTART, folder / "transfer.pcap")
    third = 'frame.comment contains "stall 3"'
    draw(
        [
            [tcpstall(), "annotate", "transfer.pcap", "-o", "told.pcapng"],
            ["tshark", "-r", "told.pcapng", "-Y", third, "-T", "fields", "-e", "frame.number", "-e", "frame.comment"],
            [tcpstall(), "extract", "transfer.pcap", "--stall", "3", "-o", "proof.pcap"],
            ["tshark", "-r", "proof.pcap", "-t", "r"],
        ],
        PICTURES / "wireshark.svg",
        columns=WIDE,
        folder=folder,
    )


def plotted(folder: Path) -> None:
    """Every kind of plot."""
    office = folder / "office.pcap"
    beside(office, OFFICE)
    captures = {
        "overview": FIXTURES / "slowstart-rtt7ms-512k.pcap",
        "sequence": FIXTURES / "slowstart-rtt7ms-512k.pcap",
        "in-flight": FIXTURES / "slowstart-rtt7ms-512k.pcap",
        "rtt": FIXTURES / "lab" / "rcvbuf-8k-40ms" / "sender.pcap",
        "rtt-by-position": FIXTURES / "slowstart-rtt7ms-512k.pcap",
        "throughput": FIXTURES / "slowstart-rtt7ms-512k.pcap",
        "timeline": office,
        "exchanges": office,
    }
    for kind, capture in captures.items():
        output = str(PICTURES / f"{kind}.png")
        subprocess.run([tcpstall(), "plot", str(capture), "--kind", kind, "-o", output], check=True)


def asked(folder: Path) -> None:
    """Draws the answers of a store of a million waits, and its page."""
    many.write(folder / "archive", WAITS, days=DAYS)
    store = ["--store", "archive"]
    draw([[tcpstall(), "top", *store, "--top", "8"]], PICTURES / "top.svg", columns=WIDE, folder=folder)
    draw([[tcpstall(), "trend", *store]], PICTURES / "trend.svg", columns=WIDE, folder=folder)
    made = [tcpstall(), "report", *store, "-o", "archive.html"]
    subprocess.run(made, check=True, cwd=folder)
    executable = program()
    if executable is None:
        print("no Chromium here: the picture of the store's page is left as it is")
        return
    with browser(executable) as chromium:
        page = folder / "archive.html"
        with opened(chromium, page.resolve(), viewport={"width": 1100, "height": 1340}) as shown:
            shown.page.screenshot(path=PICTURES / "archive.png")


def photographed() -> None:
    """The page in a browser."""
    page = ["--width", "1100", "--height", "2300", SLOWSTART, str(PICTURES / "report.png")]
    subprocess.run([sys.executable, "-m", "tests.page", *page], check=True, cwd=FIXTURES.parent)


if __name__ == "__main__":
    main()
