"""The same cause on many flows of one host as one finding: its level, since when, and the flow that shows it best."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tcpstall.archive.chosen import Chosen
from tcpstall.archive.columns import OF_THE_RECEIVER
from tcpstall.archive.examples import Wanted, examples
from tcpstall.archive.session import Session
from tcpstall.causes import Cause
from tcpstall.losses import Level, Pattern
from tcpstall.model import Side

__all__ = ["findings"]

_NOBODYS = (Cause.UNEXPLAINED, Cause.CAPTURE_GAP)
"""Where the capture does not tell, nobody has anything to change."""

_FEWEST = 1_000
"""What owns less than a thousandth of all lost time is no finding."""

_HOSTS = 3
"""So many hosts are told of one cause and detail, or the commonest would leave room for no other."""

_STEPS_AN_OCTAVE = 4
"""Levels within a fifth of each other are one: what is in flight varies by a segment around a full buffer."""

_LEVELS: Mapping[Cause, tuple[str, str]] = {
    Cause.SNDBUF_LIMITED: ("in_flight_bytes", "bytes"),
    Cause.RWND_LIMITED: ("peer_window_bytes", "bytes"),
}
"""The figure in which a limit shows."""

_INITIAL_WINDOW = "initial-window"

_NAMES = "cause, detail, side, host, step"
"""What makes a pattern."""


def _quoted(causes: Iterable[Cause]) -> str:
    return ", ".join(f"'{cause.value}'" for cause in causes)


_SIDE = (
    f"if(cause IN ({_quoted(OF_THE_RECEIVER)}), if(sender = 'client', 'server', 'client'), "
    f"if(cause = '{Cause.HANDSHAKE.value}', 'server', sender))"
)


def findings(asked: Session, chosen: Chosen, most: int) -> list[Pattern]:
    """What lost most, most first."""
    rows = asked.rows(
        f"SELECT {_NAMES}, count(*) AS waits, sum(lost_ns) AS lost, sum(sum(lost_ns)) OVER () AS all_lost, "
        "min(start_ns) AS first_ns, max(end_ns) AS last_ns "
        f"FROM {_source(chosen)} GROUP BY {_NAMES} "
        f"QUALIFY row_number() OVER (PARTITION BY cause, detail ORDER BY lost DESC, host) <= {_HOSTS} "
        f"ORDER BY lost DESC, {_NAMES} LIMIT {most}"
    )
    rows = [row for row in rows if row["lost"] * _FEWEST >= row["all_lost"]]
    if not rows:
        return []
    flows = _flows(asked, chosen, rows)
    shown = examples(asked, [_wanted(flows[_key(row)]) for row in rows])
    found = []
    for row, example in zip(rows, shown, strict=True):
        side: Side = "server" if row["side"] == "server" else "client"
        found.append(
            Pattern(
                Cause(row["cause"]),
                row["detail"],
                side,
                row["host"],
                _level(row, flows[_key(row)]["level"]),
                flows[_key(row)]["flows"],
                int(row["waits"]),
                int(row["lost"]),
                row["first_ns"],
                row["last_ns"],
                example,
            )
        )
    return found


def _source(chosen: Chosen) -> str:
    """The waits that can be somebody's to change, with the pattern that each belongs to."""
    cases = " ".join(f"WHEN '{cause.value}' THEN {column}" for cause, (column, _) in _LEVELS.items())
    initial = f"if(detail = '{_INITIAL_WINDOW}', in_flight_segments, NULL)"
    figure = f"CASE cause {cases} WHEN '{Cause.CWND_LIMITED.value}' THEN {initial} END"
    meant = (
        "lost_ns > 0",
        f"cause NOT IN ({_quoted(_NOBODYS)})",
        # A client that has nothing to ask keeps nobody waiting, and a handshake takes its round trip.
        f"NOT (cause = '{Cause.APP_LIMITED.value}' AND sender = 'client')",
        f"NOT (cause = '{Cause.HANDSHAKE.value}' AND detail IS NULL)",
    )
    inner = f"SELECT *, {_SIDE} AS side, {figure} AS figure FROM stalls {chosen.where(*meant)}"
    step = f"round(log2(if(figure > 0, figure, NULL)) * {_STEPS_AN_OCTAVE})::INTEGER"
    return f"(SELECT *, {step} AS step FROM ({inner}))"


def _flows(asked: Session, chosen: Chosen, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """How many flows each pattern has, and of the flow that lost most its longest wait."""
    causes = ", ".join(sorted({f"'{row['cause']}'" for row in rows}))
    hosts = ", ".join(sorted({f"'{row['host']}'" for row in rows}))
    found = asked.rows(
        f"WITH each AS (SELECT {_NAMES}, scan, flow, sum(lost_ns) AS lost, "
        "arg_max({stall: stall, moment: start_ns}, lost_ns) AS longest, arg_max(figure, lost_ns) AS figure "
        f"FROM {_source(chosen)} WHERE cause IN ({causes}) AND host IN ({hosts}) GROUP BY ALL) "
        f"SELECT {_NAMES}, count(*) AS flows, median(figure) AS level, "
        "arg_max({scan: scan, flow: flow, lost: lost, stall: longest.stall, moment: longest.moment}, lost) AS best "
        f"FROM each GROUP BY {_NAMES}"
    )
    return {_key(row): {"flows": row["flows"], "level": row["level"], **row["best"]} for row in found}


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _NAMES.split(", "))


def _wanted(row: Mapping[str, Any]) -> Wanted:
    return Wanted(row["scan"], row["flow"], int(row["lost"]), row["stall"], row["moment"])


def _level(row: Mapping[str, Any], value: float | None) -> Level | None:
    if value is None:
        return None
    if row["cause"] == Cause.CWND_LIMITED:
        return Level("initial window", round(value), "segments")
    name = "send buffer" if row["cause"] == Cause.SNDBUF_LIMITED else "window"
    return Level(name, round(value), "bytes")
