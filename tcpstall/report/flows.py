"""The ranking of flows."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.model import Flow, Sort
from tcpstall.report.outcome import owner
from tcpstall.report.style import cause_text, figures, table, words
from tcpstall.report.waits import real_stalls
from tcpstall.units import duration, number, percent
from tcpstall.untrusted import in_terminal

__all__ = ["flow_list", "flow_table"]

_ORDER = {
    "lost": "time waited, then by time lost",
    "duration": "length",
    "bytes": "bytes",
    "start": "start",
    "stalls": "number of stalls",
}

_ROOM_FOR_ONE_LINE = 150

_LABEL = 60
"""Characters of a label in the table; the flow's own verdict has all of it."""


def flow_table(flows: Sequence[Flow], *, sort: Sort, width: int) -> Table:
    """A row a flow in the order given; two lines a row on narrow terminals."""
    title = f"flows by {_ORDER[sort]}"
    if width >= _ROOM_FOR_ONE_LINE:
        columns = [
            *figures("flow"),
            words("client → server"),
            *figures("bytes →", "bytes ←", "length", "lost", "share", "handshake", "stalls"),
            words("mostly"),
        ]
        return table(title, columns, [_one_line(flow) for flow in flows], width)
    columns = [
        *figures("flow"),
        words("client\n→ server"),
        *figures("bytes →\nbytes ←", "length\nhandshake", "lost\nshare"),
        words("mostly\nstalls"),
    ]
    return table(title, columns, [_two_lines(flow) for flow in flows], width)


_WIDEST_FIRST = (
    ("flow", "client → server", "bytes", "length", "lost", "idle", "share", "mostly"),
    ("flow", "client → server", "bytes", "length", "lost", "share", "mostly"),
    ("flow", "client → server", "bytes", "length", "lost", "mostly"),
    ("flow", "client → server", "length", "lost", "mostly"),
    ("flow", "client → server", "lost", "mostly"),
    ("flow", "server", "length", "lost", "mostly"),
    ("flow", "server", "lost", "mostly"),
)
"""Columns of the list, which are left out from right to left where the terminal is narrow."""

_FIGURES = {"flow", "bytes", "length", "lost", "idle", "share"}

_GAP = 2


def flow_list(flows: Sequence[Flow], *, sort: Sort, width: int) -> Table:
    """A row and a line a flow in the order given: what fits into the width."""
    cells = [_cells(flow) for flow in flows]
    forms = _WIDEST_FIRST if any(flow.idle_ns for flow in flows) else _WIDEST_FIRST[1:]
    chosen = next((names for names in forms if _needed(names, cells) <= width), forms[-1])
    columns = [figures(name)[0] if name in _FIGURES else words(name) for name in chosen]
    return table(f"flows by {_ORDER[sort]}", columns, [[row[name] for name in chosen] for row in cells], width)


def _cells(flow: Flow) -> dict[str, str | Text]:
    return {
        "flow": number(flow.id),
        "client → server": f"{flow.client} → {flow.server}",
        "server": str(flow.server),
        "bytes": number(sum(direction.bytes for direction in flow.directions.values())),
        "length": duration(flow.duration_ns),
        "lost": duration(flow.lost_ns),
        "idle": duration(flow.idle_ns) if flow.idle_ns else "",
        "share": percent(flow.lost_ns, flow.duration_ns),
        "mostly": _main_cause(flow),
    }


def _needed(names: Sequence[str], rows: Sequence[dict[str, str | Text]]) -> int:
    return sum(max(cell_len(name), *(cell_len(str(row[name])) for row in rows)) + _GAP for name in names)


def _one_line(flow: Flow) -> list[str | Text]:
    return [
        number(flow.id),
        f"{flow.client} → {flow.server}{_label(flow)}",
        number(flow.directions["client"].bytes),
        number(flow.directions["server"].bytes),
        duration(flow.duration_ns),
        duration(flow.lost_ns),
        percent(flow.lost_ns, flow.duration_ns),
        _handshake(flow),
        number(len(real_stalls(flow))),
        _main_cause(flow),
    ]


def _two_lines(flow: Flow) -> list[str | Text]:
    id_, _, client_bytes, server_bytes, length, lost, share, handshake, stalls, mostly = _one_line(flow)
    return [
        id_,
        f"{flow.client}\n→ {flow.server}{_label(flow)}",
        f"{client_bytes}\n{server_bytes}",
        f"{length}\n{handshake}",
        f"{lost}\n{share}",
        Text.assemble(mostly, f"\n{stalls}"),
    ]


def _label(flow: Flow) -> str:
    """The flow's label, on a line of its own."""
    if not flow.label:
        return ""
    label = in_terminal(flow.label)
    return f"\n{label}" if len(label) <= _LABEL else f"\n{label[: _LABEL - 1]}…"


def _handshake(flow: Flow) -> str:
    return "?" if flow.handshake.duration_ns is None else duration(flow.handshake.duration_ns)


def _main_cause(flow: Flow) -> Text:
    cause = max(Cause, key=lambda candidate: flow.time_ns.get(candidate, 0))
    if not flow.time_ns.get(cause, 0):
        return Text(flow.outcome or "–")
    return cause_text(cause).append(owner(flow, cause).removeprefix(cause.value), "default")
