"""Columns of `hours`: waits added up by hour, sensor, service, host and cause."""

from tcpstall.archive.columns.column import COUNT, NS, SINCE_1970, TEXT, column
from tcpstall.archive.columns.within import SENSOR

__all__ = ["HOURS"]

HOURS = (
    column(COUNT, SINCE_1970, "start_ns", "start of the hour in which the waits began"),
    SENSOR,
    column(TEXT, "", "server_address", "address of the end that accepted the connections"),
    column(COUNT, "", "server_port", "port of that end"),
    column(TEXT, "", "host", "address of the end that caused the waits, as in stalls"),
    column(TEXT, "", "cause", "cause of the waits; null where a finding has none"),
    column(COUNT, "", "waits", "waits that lost time"),
    column(COUNT, NS, "lost_ns", "time that they lost"),
    column(COUNT, NS, "recoverable_ns", "time that changes could give back, by the findings that began in the hour"),
)
