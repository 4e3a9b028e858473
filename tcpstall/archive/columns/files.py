"""Columns of `captures` and `errors`: a file, and what reading it came to."""

from dataclasses import replace

from tcpstall.archive.columns.column import BYTES, COUNT, SEGMENTS, SINCE_1970, TEXT, column
from tcpstall.archive.columns.within import SCAN, SENSOR

__all__ = ["CAPTURES", "ERRORS"]

_SET = column(TEXT, "", "capture_set", "the capture point whose files are analysed as one stream: folder and pattern")
_SIZE = column(COUNT, BYTES, "size_bytes", "size of the file")
_CHANGED = column(COUNT, SINCE_1970, "changed_ns", "time of the last write to the file")
_EXIT_CODE = column(COUNT, "", "exit_code", "0 read whole, 1 given up, 4 not a capture, 5 damaged")
_SCANNED = column(COUNT, SINCE_1970, "scanned_ns", "time of the analysis, by the clock of the machine that ran it")

CAPTURES = (
    replace(SCAN, meaning="the analysis of the file; null where the file could not be read"),
    column(TEXT, "", "chain", "first analysis of its set, which later ones continue as files are added"),
    _SET,
    column(TEXT, "", "name", "path or URL of the file, for a tar member with the member's name"),
    _SIZE,
    _CHANGED,
    column(TEXT, "", "fingerprint", "digest that recognises a moved file"),
    column(TEXT, "", "format", "pcap, pcapng, snoop, tcpdump-text"),
    column(TEXT, "", "compression", "gzip, zstd, lz4, xz, bzip2; null without"),
    column(TEXT, "", "link_types", "link types of its packets, separated by commas"),
    column(COUNT, "packets", "packets", "packets in the file"),
    column(COUNT, SEGMENTS, "tcp_segments", "TCP segments in the file"),
    column(COUNT, SINCE_1970, "first_ns", "earliest packet, by the file's own clock"),
    column(COUNT, SINCE_1970, "last_ns", "latest packet"),
    _EXIT_CODE,
    column(TEXT, "", "error", "damage or failure in one line; null without"),
    column(TEXT, "", "warnings", "warnings for the reader, separated by semicolons"),
    column(COUNT, "", "flows", "flows that began in the file"),
    column(COUNT, SINCE_1970, "resume_ns", "start of the oldest flow open at the end of its set; null without one"),
    column(TEXT, "", "tcpstall", "version of tcpstall that analysed the file"),
    _SCANNED,
    SENSOR,
)

ERRORS = (
    column(TEXT, "", "name", "path or URL of the file"),
    _SET,
    _SIZE,
    _CHANGED,
    _EXIT_CODE,
    column(TEXT, "", "error", "damage or failure in one line"),
    _SCANNED,
    SENSOR,
)
