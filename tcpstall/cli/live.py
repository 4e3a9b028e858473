"""`tcpstall live`: an interface, watched while its connections wait."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import click

from tcpstall.cli.options.capture_options import outcome
from tcpstall.cli.options.numbers import Number
from tcpstall.cli.options.quantities import SIZE, SPAN
from tcpstall.cli.process.arrivals import Arrivals
from tcpstall.cli.process.exits import complain, writing
from tcpstall.errors import ExitCode
from tcpstall.live import Following, Ring, State, Tcpdump
from tcpstall.model import Flow
from tcpstall.units import clock, date

__all__ = ["command"]

_DUMB = "dumb"
"""A terminal that cannot be drawn on."""

_LEAST_NS = 10**8
_LEAST_RING = 16_000_000
"""Sixteen files of a megabyte."""


@click.command("live")
@click.argument("interface")
@click.option("--filter", "expression", metavar="EXPR", help="Capture only what this pcap-filter(7) matches.")
@click.option(
    "--snaplen",
    type=Number(min=64, max=262_144),
    default=128,
    show_default=True,
    metavar="N",
    help="Keep so many bytes of each packet: headers with all options need 128.",
)
@click.option(
    "--ring",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the newest packets in files of this folder.",
)
@click.option(
    "--ring-size",
    type=SIZE,
    default="1G",
    show_default=True,
    metavar="SIZE",
    help="With --ring: the oldest files go beyond so much.",
)
@click.option("--for", "for_ns", type=SPAN, metavar="SPAN", help="End after so long, e.g. 60s.  [default: at Ctrl-C]")
@click.option(
    "--every", "every_ns", type=SPAN, default="5s", show_default=True, metavar="SPAN", help="Length of an interval."
)
def command(
    interface: str,
    expression: str | None,
    snaplen: int,
    folder: Path | None,
    ring_size: int,
    for_ns: int | None,
    every_ns: int,
) -> ExitCode:
    """Watch an interface: who waits now, and why.

    \b
    tcpstall live eth0 --filter 'port 443'
    tcpstall live eth0 --for 60s | jq .lost_ns

    tcpdump captures, which must be installed and allowed to. A terminal shows the services by the time that they
    lost in the last interval, and the flows that lost most: s sorts, arrows and Enter open a flow, e saves its
    packets (with --ring), q ends. Elsewhere each interval is a line of JSON. At the end, Ctrl-C too, comes the
    report of all that was read. A wait counts once it is over, and dropped packets are told.
    """  # fmt: skip  # noqa: D301
    if every_ns < _LEAST_NS:
        raise click.UsageError("--every: an interval lasts 100ms at least")
    if ring_size < _LEAST_RING:
        raise click.UsageError("--ring-size: a ring needs 16M at least")
    with Tcpdump(interface, snaplen=snaplen, expression=expression) as capture, _ring(folder, ring_size) as ring:
        following = Following(capture, interface=interface, every_ns=every_ns, for_ns=for_ns, ring=ring)
        with Arrivals(following.states(), capture.stop) as arrivals:
            last = _watched(arrivals, capture, ring)
    if ring is not None:
        complain(f"the report is from all intervals; `tcpstall analyze` reads the newest packets in {ring.folder}")
    return outcome([last.capture] if last else [])


@contextmanager
def _ring(folder: Path | None, ring_size: int) -> Iterator[Ring | None]:
    if folder is None:
        yield None
        return
    with writing(str(folder)):
        ring = Ring(folder, ring_size)
    try:
        yield ring
    finally:
        ring.close()


def _watched(arrivals: Arrivals, capture: Tcpdump, ring: Ring | None) -> State | None:
    """Shows the states as they arrive, then the report of the last one; what ended it early is raised behind that."""
    draws = sys.stdout.isatty() and os.environ.get("TERM") != _DUMB
    show = partial(_drawn, ring=ring) if draws else _lines
    with _stopping(capture) as times:
        try:
            show(arrivals, capture)
        except BrokenPipeError:
            raise
        except (KeyboardInterrupt, OSError):
            if times() <= 1:
                capture.stop()
                _report(arrivals.last(), draws=draws)
            raise
        last = arrivals.last()
    _report(last, draws=draws)
    return last


@contextmanager
def _stopping(capture: Tcpdump) -> Iterator[Callable[[], int]]:
    """The first Ctrl-C ends the capture, so that what it still has is read; the second ends the command."""
    times = 0

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal times
        times += 1
        capture.stop()
        if times > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: times
    finally:
        signal.signal(signal.SIGINT, before)


def _lines(arrivals: Arrivals, _capture: Tcpdump) -> None:
    from tcpstall.report.live.as_json import state_json

    for state in arrivals:
        with writing("standard output"):
            print(state_json(state), flush=True)


def _drawn(arrivals: Arrivals, capture: Tcpdump, *, ring: Ring | None) -> None:
    from tcpstall.cli.process.screen import watch

    watch(arrivals, stop=capture.stop, save=None if ring is None else partial(_save, ring))


def _save(ring: Ring, flow: Flow) -> str:
    """Writes the flow's packets that the ring still has into a file beside it; says what became of it."""
    from tcpstall.cli.copies import joined_copy
    from tcpstall.packets.extract import extract

    files = [str(path) for path in ring.between(flow.start_ns, flow.end_ns)]
    if not files:
        return f"the ring has no packet of flow {flow.id} any more"
    began = f"{date(flow.start_ns)}T{clock(flow.start_ns)[:8]}".replace("-", "").replace(":", "")
    target = ring.folder / f"flow-{flow.id}-{began}.pcap"
    with writing(str(target)):
        copied = extract(joined_copy([(file, file) for file in files]), target, flow)
    return f"{copied.written} packets of flow {flow.id} are in {target}"


def _report(last: State | None, *, draws: bool) -> None:
    """All that was read: as analyze shows it, or as a line of JSON."""
    if last is None:
        return
    with writing("standard output"):
        if not draws:
            from tcpstall.report.live.as_json import state_json

            print(state_json(last, final=True), flush=True)
            return
        from tcpstall.cli.process.terminal import console, show
        from tcpstall.report.page import render

        screen = console()
        for part in render(last.analysis(), width=screen.width):
            show(part, screen)
