"""Reads captures into an analysis."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tcpstall import _core
from tcpstall.errors import CannotOpen, ExitCode, NotACapture, TcpstallError
from tcpstall.keys import derived
from tcpstall.labels import read_label
from tcpstall.model.analysis import Analysis, Held
from tcpstall.model.capture import Capture
from tcpstall.model.order import Sort
from tcpstall.taps import refuse_two_taps

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Sequence[Path]


def analyze(
    paths: Paths,
    *,
    flows: Sequence[int] = (),
    hosts: Sequence[str] = (),
    ports: Sequence[int] = (),
    since_ns: int | None = None,
    until_ns: int | None = None,
    min_stall_ns: int = 0,
    bursts: bool = True,
    link_bytes_per_s: int | None = None,
    max_expansion: int | None = None,
    exchanges: bool = True,
    anonymise: bytes | None = None,
    strict: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
    sets: Sequence[int] = (),
    missing_before: Sequence[int] = (),
    merge: bool = False,
    top: int | None = None,
    sort: Sort = "lost",
    open: Callable[[str], Any] | None = None,  # noqa: A002 the core's word
) -> Analysis:
    """Reads captures (pcap, pcapng, tcpdump's text; `-` is standard input) and says why each sender waited.

    `flows`, `hosts`, `ports` keep only flows with one of these ids, addresses, ports (either end); empty keeps all.
    `since_ns` and `until_ns` use only the packets of that half-open interval, nanoseconds since the epoch.
    `link_bytes_per_s` is what the link carries, where it is known: each direction then says its share of it.
    `max_expansion` is how many times its size a compressed capture may grow to (None: 1000; a gigabyte always).
    `min_stall_ns` leaves shorter stalls out of the list (the time ledger keeps them); `bursts=False` leaves bursts out,
    `exchanges=False` exchanges.
    `anonymise` is a key, any secret of at least 16 bytes: pseudonyms stand for addresses then, prefixes preserved, and
    `capture-1` for the first path, and no labels are read. `hosts` are true addresses all the same.
    `progress(bytes_read, bytes_in_all)` is called now and then; what it raises ends the run.
    Each capture stands by itself, unless `sets` has a number for each path: paths with the same one are one stream, as
    the files of a rotated capture are. They are read in order of time, a flow may cross from file to file, and packets
    that two of them hold count once. `missing_before` names paths, by index, whose predecessor is missing. `merge`
    makes all one stream: several capture points, by time.
    `top` holds only the flows that come first by `sort`, and as many that lost most, so that memory does not grow with
    the flows of a capture; sums are of all flows. None holds every flow.
    `open(path)` gives a binary file object, or None for a file of this machine; it is called from any thread, and twice
    for a path of a set. What it raises is that input's error.

    Raises CannotOpen or NotACapture for the first such input, unless `strict` is False: then what could be read is
    there, and `Analysis.captures` holds each input's error. A damaged input never raises: see its `error`.
    Raises ValueError for an unreadable host, and TwoTaps (a ValueError too) if captures that `merge` makes one hold the
    same packets of a connection, taken at two points of its path: pair() compares such captures.
    """
    several: Sequence[Path] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if merge and sets:
        raise ValueError("merge makes one set of all paths; give sets or merge")
    names = [os.fspath(path) for path in several]
    if merge:
        refuse_two_taps(
            names,
            hosts=hosts,
            ports=ports,
            since_ns=since_ns,
            until_ns=until_ns,
            max_expansion=max_expansion,
            anonymised=anonymise is not None,
        )
    report = _core.analyze(
        names,
        flows=flows,
        hosts=hosts,
        ports=ports,
        since_ns=since_ns,
        until_ns=until_ns,
        min_stall_ns=min_stall_ns,
        bursts=bursts,
        link_bytes_per_s=link_bytes_per_s,
        max_expansion=max_expansion,
        exchanges=exchanges,
        secret=None if anonymise is None else derived(anonymise),
        label=read_label,
        progress=progress,
        sets=[0] * len(names) if merge else sets,
        missing_before=missing_before,
        sort=None if top is None else sort,
        top=top,
        open=open,
    )
    held = None if top is None else Held(top, sort)
    analysis = Analysis(report, anonymised=anonymise is not None, held=held)
    if strict:
        for capture in analysis.captures:
            raise_unreadable(capture)
    return analysis


def raise_unreadable(capture: Capture) -> None:
    """Raises CannotOpen or NotACapture for a capture of which nothing was read."""
    kinds: dict[ExitCode, type[TcpstallError]] = {kind.exit_code: kind for kind in (CannotOpen, NotACapture)}
    if kind := kinds.get(capture.exit_code):
        raise kind(capture.error or capture.path)
