"""Columns that rows of several tables share: the scan, the flow and its ends."""

from tcpstall.archive.columns.column import COUNT, FLAG, TEXT, column

__all__ = ["AT_END", "CAPTURE", "ENDS", "FLOW", "LABEL", "NAMES", "SCAN", "SENSOR", "WITHIN"]

SCAN = column(TEXT, "", "scan", "the analysis that made the row, 16 hexadecimal digits")
FLOW = column(COUNT, "", "flow", "number of the flow within its scan; `--store S --flow SCAN/FLOW` opens it")
CAPTURE = column(TEXT, "", "capture", "name of the capture in which the flow began")
SENSOR = column(TEXT, "", "sensor", "place of the capture, as `scan --sensor` named it; null where it was not named")
ENDS = (
    column(TEXT, "", "client_address", "address of the end that opened the connection"),
    column(COUNT, "", "client_port", "port of that end"),
    column(TEXT, "", "server_address", "address of the end that accepted the connection"),
    column(COUNT, "", "server_port", "port of that end"),
)
AT_END = column(FLAG, "", "at_end", "the flow was still open where its capture ended, or the last file of its set")
LABEL = column(TEXT, "", "label", "content of the flow: an HTTP request line with its host, or a TLS server name")
NAMES = (
    column(TEXT, "", "server_name", "name in the TLS hello (SNI), in lower case; null without one"),
    column(TEXT, "", "http_host", "Host of the first HTTP request, in lower case, without the port; null without one"),
)

WITHIN = (SCAN, FLOW, CAPTURE, SENSOR, *ENDS, LABEL, *NAMES, AT_END)
"""The first columns of each row that lies within a flow."""
