"""Pictures of a flow: time/sequence above bytes in flight, with the waits as bands."""

import os
from pathlib import PurePath

import matplotlib

from tcpstall import _core
from tcpstall.errors import ExitCode, NothingToShow, TcpstallError
from tcpstall.model import Flow, Side, analyze
from tcpstall.plot import picture, series, style

__all__ = ["SUFFIXES", "UnknownPicture", "draw"]

SUFFIXES = (".png", ".svg", ".pdf")


class UnknownPicture(TcpstallError, ValueError):
    """The output's suffix names no picture format that can be written."""

    exit_code = ExitCode.USAGE


def draw(
    path: str | os.PathLike[str],
    flow: int | None,
    output: str | os.PathLike[str],
    *,
    width_in: float = style.WIDTH_IN,
    since_ns: int | None = None,
    until_ns: int | None = None,
) -> None:
    """Draws the flow with id `flow` of a capture (None: the one that lost most time) as png, svg or pdf.

    `since_ns` and `until_ns` (ns since the epoch) show that part of the flow; it is diagnosed as a whole all the same.
    `width_in` is at least 6 inches. The capture is read twice, so it cannot be standard input.

    Raises UnknownPicture for another suffix of `output`, NothingToShow if there is no such flow or none of its time is
    in that interval, CannotOpen and NotACapture like analyze(), OSError where `output` cannot be written.
    """
    suffix = PurePath(output).suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownPicture(f"{output}: no picture format ends in {suffix!r}; use one of {', '.join(SUFFIXES)}")
    chosen = _choose(path, flow)
    start_ns = max(chosen.start_ns, since_ns if since_ns is not None else chosen.start_ns)
    end_ns = min(chosen.end_ns, until_ns if until_ns is not None else chosen.end_ns)
    if start_ns > end_ns:
        raise NothingToShow(f"{path}: flow {chosen.id} has no packet in that interval; widen it")
    side = _side(chosen)
    with matplotlib.rc_context(style.RC):
        figure = picture.draw(
            chosen,
            series.read(_samples(path, chosen), side, chosen.start_ns),
            side,
            start_ns - chosen.start_ns,
            max(end_ns, start_ns + 1) - chosen.start_ns,
            width_in,
        )
        figure.savefig(output, format=suffix[1:], metadata=_metadata(suffix))


def _choose(path: str | os.PathLike[str], flow: int | None) -> Flow:
    analysis = analyze(path, flows=[] if flow is None else [flow], bursts=False)
    if not len(analysis):
        wanted = "no TCP flow" if flow is None else f"no flow {flow}"
        raise NothingToShow(f"{path}: {wanted} in this capture; `tcpstall analyze` lists what there is")
    return analysis[analysis.ranked("lost")[0]]


def _samples(path: str | os.PathLike[str], flow: Flow) -> _core.Table:
    (samples,) = _core.samples([os.fspath(path)], [flow.id])
    if not len(samples):
        raise NothingToShow(f"{path}: flow {flow.id} only shook hands; there is nothing to draw")
    return samples


def _side(flow: Flow) -> Side:
    client, server = flow.directions["client"].bytes, flow.directions["server"].bytes
    return "client" if client > server else "server"


def _metadata(suffix: str) -> dict[str, str | None]:
    """Without the time of drawing: the same capture gives the same file."""
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    return {dates[suffix]: None} if suffix in dates else {}
