"""Columns that are computed of others: times, ends as text, the end that caused a wait."""

from collections.abc import Iterable

from tcpstall.archive.columns.column import COUNT, DAY, MOMENT, NS, TEXT, Column
from tcpstall.causes import Cause, Detail

__all__ = ["KEPT_OF_STALLS", "OF_HOURS", "OF_WAITS", "TIMES_AND_ENDS", "host"]

_OF_THE_RECEIVER = (Cause.RWND_LIMITED, Cause.ZERO_WINDOW, Cause.DELAYED_ACK)
"""Causes that the receiving end is responsible for."""
_OF_THE_SERVER = (Cause.HANDSHAKE,)
"""Causes that the server is responsible for, whoever sends."""


def _words(causes: Iterable[Cause]) -> str:
    return ", ".join(f"'{cause.value}'" for cause in causes)


def _end(end: str) -> str:
    """An endpoint as text; brackets keep an IPv6 address apart from its port."""
    address, port = f"{end}_address", f"{end}_port"
    return f"if(contains({address}, ':'), '[' || {address} || ']:', {address} || ':') || {port}"


_HOUR = "make_timestamp(start_ns // 3600000000000 * 3600000000)"
"""Nanoseconds down to whole hours, in the microseconds that TIMESTAMP counts."""

_TIME = Column("time", MOMENT, "", "start_ns as a time, UTC", "make_timestamp(start_ns // 1000)")
_SERVICE = Column("service", TEXT, "", "server's address and port: `192.0.2.1:80`, `[2001:db8::1]:80`", _end("server"))

_TIMES = (
    Column(
        "day",
        DAY,
        "",
        "UTC day of start_ns; files are divided by day, so a question about some days reads only their files",
    ),
    _TIME,
    Column("hour", MOMENT, "", "hour of start_ns, UTC", _HOUR),
)

_CLIENT = Column("client", TEXT, "", "client's address and port", _end("client"))

TIMES_AND_ENDS = (*_TIMES, _SERVICE, _CLIENT)
"""Columns of the views of rows by day."""

OF_WAITS = (*_TIMES, _CLIENT)
"""Those of the view of stalls: their files hold the service."""

OF_HOURS = (_TIME, _SERVICE)


def host(sender: str) -> Column:
    """The end that caused a wait; `sender` is the column of the end whose data waited."""
    return Column(
        "host",
        TEXT,
        "",
        f"address of the end that caused it: the receiver's for {', '.join(_OF_THE_RECEIVER)}, the server's for "
        f"{', '.join(_OF_THE_SERVER)}, else the sender's",
        f"case when cause in ({_words(_OF_THE_SERVER)}) then server_address "
        f"when ({sender} = 'client') = coalesce(cause in ({_words(_OF_THE_RECEIVER)}), false) "
        "then server_address else client_address end",
    )


KEPT_OF_STALLS = (
    Column(
        "lost_ns",
        COUNT,
        NS,
        f"duration_ns, but 0 for `{Detail.AWAITING_PEER}`: the peer's own wait covers that time",
        f"if(detail = '{Detail.AWAITING_PEER}', 0, duration_ns)",
    ),
    host("sender"),
    _SERVICE,
)
"""Columns that the files of stalls hold for readers without this package: to group by them, no rule need be known."""
