"""Two spans of time compared: which services lose more or less to which causes."""

from collections.abc import Mapping
from typing import Any

from tcpstall.archive.asking.session import Session
from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.storing.literals import literal
from tcpstall.causes import Cause
from tcpstall.lost_time import Change, Changes, Lost, Span
from tcpstall.model import Endpoint

__all__ = ["changes"]


def changes(asked: Session, before: Span, after: Span, chosen: Chosen, most: int) -> Changes:
    """The largest changes first, by lost time an hour: the spans may differ in length, and may overlap."""
    lost = f"{_in_each('sum(lost_ns)', 'ns', before, after)}, {_in_each('count(*)', 'waits', before, after)}"
    flows = _in_each("count(*)", "flows", before, after)
    in_either = f"({_within(before)} OR {_within(after)})"
    stalls = f"FROM stalls {chosen.where('lost_ns > 0', in_either)}"
    rows = asked.rows(
        f"SELECT server_address, server_port, cause, {lost}, count(*) OVER () AS keys {stalls} "
        f"GROUP BY server_address, server_port, cause "
        f"ORDER BY abs(after_ns / {after.length_ns} - before_ns / {before.length_ns}) DESC, "
        f"after_ns DESC, server_address, server_port, cause LIMIT {most}"
    )
    [everything] = asked.rows(
        f"SELECT * FROM (SELECT {lost} {stalls}), (SELECT {flows} FROM flows {chosen.flows_where(in_either)})"
    )
    services = sorted({(row["server_address"], row["server_port"]) for row in rows})
    these = ", ".join(f"({literal(address)}, {port})" for address, port in services) or "(NULL, NULL)"
    of_service = {
        (row["server_address"], row["server_port"]): row
        for row in asked.rows(
            f"SELECT server_address, server_port, {flows} FROM flows "
            f"{chosen.flows_where(in_either, f'(server_address, server_port) IN ({these})')} GROUP BY ALL"
        )
    }
    none = {"before_flows": 0, "after_flows": 0}
    each = []
    for row in rows:
        service = row["server_address"], row["server_port"]
        sums = row | of_service.get(service, none)
        each.append(Change(Endpoint(*service), Cause(row["cause"]), _lost("before", sums), _lost("after", sums)))
    keys = rows[0]["keys"] if rows else 0
    return Changes(before, after, tuple(each), keys, _lost("before", everything), _lost("after", everything))


def _within(span: Span) -> str:
    return f"(start_ns >= {span.start_ns} AND start_ns < {span.end_ns})"


def _in_each(value: str, name: str, before: Span, after: Span) -> str:
    """The value as the columns `before_…` and `after_…`."""
    return ", ".join(
        f"coalesce({value} FILTER ({_within(span)}), 0) AS {when}_{name}"
        for when, span in (("before", before), ("after", after))
    )


def _lost(when: str, sums: Mapping[str, Any]) -> Lost:
    return Lost(int(sums[f"{when}_ns"]), int(sums[f"{when}_waits"]), int(sums[f"{when}_flows"]))
