"""Pictures of captures: one flow over its time, round trips by position, many flows' waits, exchanges as sums."""

import os
from io import BytesIO
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tcpstall.errors import ExitCode, NothingToShow, TcpstallError
from tcpstall.findings import first_to_see
from tcpstall.model import Analysis, Flow, Paths, analyze
from tcpstall.output import written
from tcpstall.plot import choice, style
from tcpstall.plot.subject import Subject, subjects

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "KINDS",
    "KINDS_OF_MANY",
    "SUFFIXES",
    "UnknownPicture",
    "draw",
    "draw_flow",
    "draw_many",
    "interval",
    "subjects",
]

SUFFIXES = (".png", ".svg", ".pdf")

KINDS_OF_MANY = ("timeline", "exchanges")
"""Kinds that show all flows unless one is chosen."""

KINDS = ("overview", "sequence", "in-flight", "rtt", "throughput", "rtt-by-position", *KINDS_OF_MANY)
"""Kinds of pictures; the first is drawn unless another is chosen."""


class UnknownPicture(TcpstallError, ValueError):
    """The output's suffix names no picture format that can be written, or there is no such kind of picture."""

    exit_code = ExitCode.USAGE


def draw(
    paths: Paths,
    flow: int | None,
    output: str | os.PathLike[str],
    *,
    kind: str = KINDS[0],
    width_in: float = style.WIDTH_IN,
    since_ns: int | None = None,
    until_ns: int | None = None,
    rows: int | None = None,
    analysis: Analysis | None = None,
) -> None:
    """Draws a picture of that kind of a capture, or of several read as one, as png, svg or pdf.

    The flow with id `flow` is drawn; None is the one that lost most time, for a timeline and exchanges all flows.
    `since_ns` and `until_ns` (ns since the epoch) show that part; it is diagnosed as a whole all the same. `rows` is
    how many flows or exchanges such a picture holds, `width_in` at least 6 inches. `analysis` is the one of these
    paths, where there is one already; for a kind of many flows all that it holds are drawn. Else the captures are read
    for it too. They cannot be standard input.

    Raises UnknownPicture for another suffix of `output` or kind, NothingToShow if there is no such flow or none of its
    time is in that interval, CannotOpen and NotACapture like analyze(), OSError where `output` cannot be written.
    """
    suffix = PurePath(output).suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownPicture(f"{output}: no picture format ends in {suffix!r}; use one of {', '.join(SUFFIXES)}")
    if kind not in KINDS:
        raise UnknownPicture(f"there is no picture of the kind {kind!r}; use one of {', '.join(KINDS)}")
    if analysis is None:
        analysis = analyze(paths, flows=[] if flow is None else [flow], bursts=False)
    chosen = _chosen(analysis, flow)
    if chosen is None:
        wanted = "no TCP flow" if flow is None else f"no flow {flow}"
        raise NothingToShow(f"{_named(paths)}: {wanted} in this capture; `tcpstall analyze` lists what there is")
    if kind in KINDS_OF_MANY:
        draw_many(analysis, output, kind=kind, width_in=width_in, since_ns=since_ns, until_ns=until_ns, rows=rows)
        return
    found = subjects(paths, [chosen])
    if not found:
        raise NothingToShow(f"{_named(paths)}: flow {chosen.id} only shook hands; there is nothing to draw")
    draw_flow(found[0], output, kind=kind, width_in=width_in, since_ns=since_ns, until_ns=until_ns)


def draw_flow(
    subject: Subject,
    output: str | os.PathLike[str],
    *,
    kind: str = KINDS[0],
    width_in: float = style.WIDTH_IN,
    since_ns: int | None = None,
    until_ns: int | None = None,
) -> None:
    """Draws a kind that shows one flow; see draw()."""
    import matplotlib

    with matplotlib.rc_context(style.RC):
        _save(_of_one(kind, subject, since_ns, until_ns, width_in), output)


def draw_many(
    analysis: Analysis,
    output: str | os.PathLike[str],
    *,
    kind: str,
    width_in: float = style.WIDTH_IN,
    since_ns: int | None = None,
    until_ns: int | None = None,
    rows: int | None = None,
) -> None:
    """Draws a kind of KINDS_OF_MANY of all flows that `analysis` holds; see draw()."""
    import matplotlib

    with matplotlib.rc_context(style.RC):
        _save(_of_many(kind, analysis, rows, since_ns, until_ns, width_in), output)


def _chosen(analysis: Analysis, flow: int | None) -> Flow | None:
    if not len(analysis):
        return None
    if flow is None:
        return first_to_see(analysis)
    ids = analysis.flows.column("flow")
    return analysis[ids.index(flow)] if flow in ids else None


def _save(figure: "Figure", output: str | os.PathLike[str]) -> None:
    suffix = PurePath(output).suffix.lower()
    whole = BytesIO()  # a PDF's writer asks where it is, which a pipe cannot say
    figure.savefig(whole, format=suffix[1:], metadata=_metadata(suffix))
    with written(Path(output)) as file:
        file.write(whole.getbuffer())


def _of_one(kind: str, subject: Subject, since_ns: int | None, until_ns: int | None, width_in: float) -> "Figure":
    start_ns, end_ns = interval(subject.flow, since_ns, until_ns)
    from tcpstall.plot import picture

    if kind == "rtt-by-position":
        return picture.by_position(subject, start_ns, end_ns, width_in)
    return picture.over_time(kind, subject, start_ns, end_ns, width_in)


def interval(flow: Flow, since_ns: int | None, until_ns: int | None) -> tuple[int, int]:
    """The part of the flow between two times since the epoch, in ns since its start.

    Raises NothingToShow where it had none.
    """
    start_ns = max(flow.start_ns, since_ns if since_ns is not None else flow.start_ns)
    end_ns = min(flow.end_ns, until_ns if until_ns is not None else flow.end_ns)
    if start_ns > end_ns:
        raise NothingToShow(f"flow {flow.id} has no packet in that interval; widen it")
    return start_ns - flow.start_ns, max(end_ns, start_ns + 1) - flow.start_ns


def _of_many(
    kind: str, analysis: Analysis, rows: int | None, since_ns: int | None, until_ns: int | None, width_in: float
) -> "Figure":
    from tcpstall.plot import latencies, timeline

    shown = rows or choice.ROWS
    if kind == "timeline":
        figure = timeline.draw(analysis, shown, since_ns, until_ns, width_in)
    else:
        figure = latencies.draw(analysis, shown, since_ns, until_ns, width_in)
    if figure is None:
        raise NothingToShow(f"there is no {kind.removesuffix('s')} to show; widen the interval or choose another flow")
    return figure


def _named(paths: Paths) -> str:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return ", ".join(os.fspath(path) for path in several)


def _metadata(suffix: str) -> dict[str, str | None]:
    """Without the time of drawing: the same capture gives the same file."""
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    return {dates[suffix]: None} if suffix in dates else {}
