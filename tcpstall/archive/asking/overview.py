"""Overview of a store: its counts and sums, the time that they span, and the files that could not be read."""

from tcpstall.archive.asking.session import Session
from tcpstall.archive.asking.where import Chosen
from tcpstall.lost_time import Overview

__all__ = ["overview"]

_REASONS = 20


def overview(asked: Session, chosen: Chosen) -> Overview:
    """All of it, or of the flows that were there at the time; captures and errors are always all."""
    where = chosen.flows_where()
    (flows,) = asked.rows(
        "SELECT count(*) AS flows, min(start_ns) AS first_ns, max(end_ns) AS last_ns, "
        "coalesce(sum(client_bytes + server_bytes), 0) AS bytes, coalesce(sum(stalls), 0) AS waits, "
        f"coalesce(sum(lost_ns), 0) AS lost_ns FROM flows {where}"
    )
    (services,) = asked.rows(
        f"SELECT count(*) AS count FROM (SELECT DISTINCT server_address, server_port FROM flows {where})"
    )
    (captures,) = asked.rows("SELECT count(*) AS count FROM captures")
    # The file's name stands before the reason; without it files with the same reason are one row.
    reasons = asked.rows(
        "SELECT replace(coalesce(error, ''), name || ': ', '') AS reason, count(*) AS files, min(name) AS one, "
        f"sum(count(*)) OVER () AS errors FROM errors GROUP BY reason ORDER BY files DESC, reason LIMIT {_REASONS}"
    )
    return Overview(
        flows=flows["flows"],
        waits=int(flows["waits"]),
        services=services["count"],
        captures=captures["count"],
        errors=int(reasons[0]["errors"]) if reasons else 0,
        bytes=int(flows["bytes"]),
        first_ns=flows["first_ns"],
        last_ns=flows["last_ns"],
        lost_ns=int(flows["lost_ns"]),
        reasons=tuple((row["reason"], row["files"], row["one"]) for row in reasons),
    )
