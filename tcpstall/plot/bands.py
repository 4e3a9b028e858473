"""Stalls as bands in their causes' colours, and where a band's name fits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tcpstall.causes import Cause, Detail
from tcpstall.model import Flow, Side, Stall
from tcpstall.plot.reduce import View

_HANDSHAKE_CODE = 0
_PEERS_TURN = Detail.AWAITING_PEER  # a detail of app-limited
_PADDING_PX = 2.5
_NEIGHBOURS_PX = 5.0  # bands this close read as one row of the same thing


@dataclass(frozen=True)
class Band:
    """A wait, ns since the flow's start."""

    start_ns: int
    end_ns: int
    cause: Cause
    merged: bool = False  # several waits that one pixel cannot tell apart

    @property
    def length_ns(self) -> int:
        """Length of the band."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Label:
    """A name and the middle of the stretch it is written in."""

    text: str
    middle_ns: float
    cause: Cause


def bands_of(flow: Flow, side: Side) -> list[Band]:
    """Waits of `side` once the connection stood, in order of time."""
    stalls = (stall for stall in flow.stalls if stall.sender == side and stall.cause is not _handshake())
    return [_band(stall, flow) for stall in stalls]


def row_of(flow: Flow) -> list[Band]:
    """The waits of both ends in one row: where one waits for the other's turn, what the other did counts."""
    turns: list[Band] = []
    own = handshake_of(flow)
    for stall in flow.stalls:
        if stall.cause is not _handshake():
            (turns if stall.detail == _PEERS_TURN else own).append(_band(stall, flow))
    own.sort(key=lambda band: band.start_ns)
    turns.sort(key=lambda band: band.start_ns)
    return sorted([*own, *uncovered(turns, own)], key=lambda band: band.start_ns)


def uncovered(bands: Iterable[Band], covers: Sequence[Band]) -> Iterator[Band]:
    """Parts of the bands between the covers; both in order of time."""
    first = 0
    for band in bands:
        start_ns = band.start_ns
        while first < len(covers) and covers[first].end_ns <= band.start_ns:
            first += 1
        for number in range(first, len(covers)):
            cover = covers[number]
            if cover.start_ns >= band.end_ns:
                break
            if cover.start_ns > start_ns:
                yield Band(start_ns, cover.start_ns, band.cause)
            start_ns = max(start_ns, cover.end_ns)
        if start_ns < band.end_ns:
            yield Band(start_ns, band.end_ns, band.cause)


def handshake_of(flow: Flow) -> list[Band]:
    """The handshake, for which both ends wait; nothing where no SYN was captured."""
    listed = [_band(stall, flow) for stall in flow.stalls if stall.cause is _handshake()]
    length_ns = flow.handshake.duration_ns
    return listed or ([Band(0, length_ns, _handshake())] if length_ns else [])


def shifted(bands: Iterable[Band], by_ns: int) -> list[Band]:
    """The bands so much later."""
    return [Band(band.start_ns + by_ns, band.end_ns + by_ns, band.cause) for band in bands]


def cut(bands: Iterable[Band], start_ns: int, end_ns: int) -> list[Band]:
    """The parts of the bands that lie between two times."""
    parts = (Band(max(band.start_ns, start_ns), min(band.end_ns, end_ns), band.cause) for band in bands)
    return [part for part in parts if part.length_ns > 0]


def apart(bands: Sequence[Band], view: View) -> list[Band]:
    """The bands that pixels can show apart; where they crowd, a column's short ones become one of their main cause."""
    if len(bands) <= view.columns // 2:
        return list(bands)
    pixel_ns = view.length_ns / view.columns
    shown = [band for band in bands if band.length_ns >= pixel_ns]
    columns: dict[int, list[Band]] = {}
    for band in bands:
        if band.length_ns < pixel_ns:
            columns.setdefault(int((band.start_ns - view.start_ns) / pixel_ns), []).append(band)
    shown += [_merged(crowd) for crowd in columns.values()]
    return sorted(shown, key=lambda band: band.start_ns)


def _merged(crowd: Sequence[Band]) -> Band:
    time_ns: dict[Cause, int] = {}
    for band in crowd:
        time_ns[band.cause] = time_ns.get(band.cause, 0) + band.length_ns
    main = max(time_ns, key=lambda cause: time_ns[cause])
    return Band(crowd[0].start_ns, crowd[-1].end_ns, main, merged=len(crowd) > 1)


def labels(bands: Sequence[Band], view: View, width_px: Callable[[str], float]) -> list[Label]:
    """Names that fit: one in each band, or one for a row of neighbours of one cause, or none."""
    px_per_ns = view.columns / view.length_ns

    def fits(text: str, start_ns: int, end_ns: int) -> bool:
        return width_px(text) + 2 * _PADDING_PX <= (end_ns - start_ns) * px_per_ns

    placed: list[Label] = []
    for run in _runs(bands, _NEIGHBOURS_PX / px_per_ns):
        start_ns, end_ns, cause = run[0].start_ns, run[-1].end_ns, run[0].cause
        if all(fits(cause.value, band.start_ns, band.end_ns) for band in run):
            placed += [Label(cause.value, (band.start_ns + band.end_ns) / 2, cause) for band in run]
            continue
        number = "" if any(band.merged for band in run) else f" × {len(run):,}"
        for text in (f"{cause.value}{number}", cause.value):
            if fits(text, start_ns, end_ns):
                placed.append(Label(text, (start_ns + end_ns) / 2, cause))
                break
    return placed


def _band(stall: Stall, flow: Flow) -> Band:
    return Band(stall.start_ns - flow.start_ns, stall.end_ns - flow.start_ns, stall.cause)


def _handshake() -> Cause:
    return next(cause for cause in Cause if cause.code == _HANDSHAKE_CODE)


def _runs(bands: Sequence[Band], gap_ns: float) -> list[list[Band]]:
    runs = [[band] for band in bands[:1]]
    for before, band in pairwise(bands):
        if band.cause is before.cause and band.start_ns - before.end_ns <= gap_ns:
            runs[-1].append(band)
        else:
            runs.append([band])
    return runs
