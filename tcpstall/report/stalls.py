"""The stalls of one flow, longest kept, in order of time."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.model import Flow, Side, Stall
from tcpstall.report.limits import figure
from tcpstall.report.phrases import candidates
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.report.trust import short_doubts
from tcpstall.report.waits import sum_by_cause
from tcpstall.units import clock, confidence, counted, exact, number, offset

__all__ = ["bytes_of", "length_of", "longest", "packets_of", "stall_list"]

_ROOM_FOR_ONE_LINE = 140

_WINDOW = "peer\nwindow"


def stall_list(
    flow: Flow, *, width: int, rows: int, min_stall_ns: int = 0, trust: bool = False
) -> Iterator[RenderableType]:
    """A table of the `rows` longest stalls and a line about the rest; nothing for a flow that only shook hands.

    With `trust` it is said how far they can be trusted, unless fully.
    """
    if not any(stall.detail or stall.cause is not Cause.HANDSHAKE for stall in flow.stalls):
        return
    long_enough = [stall for stall in flow.stalls if stall.duration_ns >= min_stall_ns]
    shown = longest(long_enough, rows)
    yield Text()
    if shown:
        title = f"stalls of flow {flow.id}  {flow.client} ↔ {flow.server}"
        title += f"\n{doubt}" if trust and (doubt := short_doubts(flow)) else ""
        yield (_wide if width >= _ROOM_FOR_ONE_LINE else _narrow)(flow, shown, title, width)
    kept = {id(stall) for stall in shown}
    left_out = [stall for stall in flow.stalls if id(stall) not in kept]
    if left_out:
        rest = f"and {counted(len(left_out), 'shorter stall')} of flow {flow.id}: {sum_by_cause(left_out)}"
        yield Padding(Text(rest, "dim"), (0, 0, 0, 1))


def longest(stalls: Sequence[Stall], rows: int) -> list[Stall]:
    """The `rows` longest, in order of time."""
    longest = sorted(range(len(stalls)), key=lambda index: -stalls[index].duration_ns)[:rows]
    return [stalls[index] for index in sorted(longest)]


def _wide(flow: Flow, stalls: Sequence[Stall], title: str, width: int) -> Table:
    columns = [
        *figures("after start", "clock", "stall"),
        words("sender"),
        words("cause"),
        *figures("duration", "burst before", "in flight", "peer window", "confidence"),
        words("packets"),
    ]
    rows: list[list[str | Text]] = [
        [
            offset(stall.start_ns - flow.start_ns),
            clock(stall.start_ns),
            number(stall.number),
            stall.sender,
            cause_text(stall.cause).append(f" {stall.detail}" if stall.detail else "", "default").append(new, "dim"),
            length_of(stall),
            *(bytes_of(stall, name) for name in ("burst_bytes", "in_flight_bytes", "peer_window_bytes")),
            confidence(stall.confidence),
            packets_of(stall),
        ]
        for stall, new in _with_figures(stalls)
    ]
    return table(title, columns, rows, width)


def _narrow(flow: Flow, stalls: Sequence[Stall], title: str, width: int) -> Table:
    """Two lines a stall, so that 80 columns hold every figure."""
    columns = [
        *figures("after start\nclock"),
        words("# sender\npackets"),
        words("cause\ndetail"),
        *figures("duration\nconfidence", "burst\nin flight", _WINDOW),
    ]
    rows: list[list[str | Text]] = [
        [
            f"{offset(stall.start_ns - flow.start_ns)}\n{clock(stall.start_ns)}",
            f"{number(stall.number)} {stall.sender}\n{packets_of(stall)}",
            cause_text(stall.cause).append(f"\n{stall.detail or ''}", "default").append(new, "dim"),
            f"{length_of(stall)}\n{confidence(stall.confidence)}",
            f"{bytes_of(stall, 'burst_bytes')}\n{bytes_of(stall, 'in_flight_bytes')}",
            bytes_of(stall, "peer_window_bytes"),
        ]
        for stall, new in _with_figures(stalls)
    ]
    return table(title, columns, rows, width, spare=(_WINDOW,))


def _with_figures(stalls: Sequence[Stall]) -> Iterator[tuple[Stall, str]]:
    """Each stall with a line for its figure, where that is not the one of the last stall of its cause."""
    told: dict[tuple[Side, Cause, str | None], str] = {}
    for stall in stalls:
        what, key = figure(stall) or _candidates(stall), (stall.sender, stall.cause, stall.detail)
        new = what and told.get(key) != what
        told[key] = what
        yield stall, f"\n{what}" if new else ""


def _candidates(stall: Stall) -> str:
    return candidates([stall]) if stall.cause in (Cause.UNEXPLAINED, Cause.CAPTURE_GAP) else ""


def length_of(stall: Stall) -> str:
    """Duration: `7.124 ms`, or `≥ 1.200 s` without an end."""
    return exact(stall.duration_ns) if stall.ended else f"≥ {exact(stall.duration_ns)}"


def bytes_of(stall: Stall, name: str) -> str:
    """A size from the evidence; `?` where unknown."""
    value = stall.evidence.get(name)
    return "?" if value is None else number(value)


def packets_of(stall: Stall) -> str:
    """Last data before the wait, what freed it, first data after it."""
    numbers = [stall.evidence.get(name) for name in ("last_packet", "freed_by_packet", "next_packet")]
    if not any(numbers):
        return "–"
    return "→".join("?" if value is None else str(value) for value in numbers)
