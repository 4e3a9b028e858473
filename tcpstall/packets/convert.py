"""TCP segments written as a pcap file: headers true to the input, payload all zeros and cut by the snap length."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcpstall import _core
from tcpstall.errors import CannotOpen, CannotWrite, NotACapture, NothingToShow, about
from tcpstall.output import written

if TYPE_CHECKING:
    from scapy.packet import Packet

__all__ = ["convert"]

_LINKTYPE_RAW = 101
"""Packets begin with the IP header (tcpdump.org/linktypes): a paste shows no link layer, so none is made up."""

_LARGEST_LENGTH_FIELD = 65_535
"""Beyond it Linux writes 0 into the IP length (BIG TCP), and so does this."""

_MOST_BUILT = 262_144
"""Bytes of payload that are built: no usual frame is longer, and what headers claim is a stranger's word."""

_LARGEST_WIRE_LENGTH = 2**32 - 1
"""The largest number that a pcap record's field holds."""

_OPTIONS_ROOM = 40
"""Bytes: the data offset counts to fifteen words (RFC 9293 §3.1)."""

_SECOND_NS = 10**9
_MICROSECOND_NS = 10**3
_SECONDS_IN_PCAP = 2**32

_DEFAULT_TTL = 64


def convert(source: str, output: Path, *, snaplen: int = 128) -> tuple[int, str | None]:
    """Writes every TCP segment of `source` to `output`; how many there were, and why there are no more if so.

    Sequence numbers are absolute, lengths are those of the wire; `snaplen` bytes of each packet are kept.
    Raises CannotOpen, NotACapture, NothingToShow (no TCP), CannotWrite.
    """
    rows, damage = _segments(source)
    if not rows:
        raise NothingToShow(damage or f"{source} holds no TCP segment to convert")
    _write(rows, output, snaplen)
    return len(rows), damage


def _segments(source: str) -> tuple[list[dict[str, Any]], str | None]:
    try:
        table, status = _core.segments(source)
    except OSError as error:
        raise CannotOpen(about(source, str(error))) from error
    except ValueError as error:
        raise NotACapture(about(source, str(error))) from error
    columns = {name: table.column(name) for name in table.names}
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    return rows, status.error and about(source, status.error)


def _write(rows: list[dict[str, Any]], output: Path, snaplen: int) -> None:
    from scapy.utils import RawPcapWriter

    nano = any(row["time_ns"] % _MICROSECOND_NS for row in rows)
    with written(output) as file:
        writer = RawPcapWriter(file, linktype=_LINKTYPE_RAW, endianness="<", nano=nano, snaplen=snaplen)
        writer.write_header(None)
        for row in rows:
            _write_one(writer, row, nano, snaplen)


def _write_one(writer: Any, row: Mapping[str, Any], nano: bool, snaplen: int) -> None:
    seconds, rest = divmod(row["time_ns"], _SECOND_NS)
    if not 0 <= seconds < _SECONDS_IN_PCAP:
        raise CannotWrite(f"packet {row['packet']} has a time that pcap cannot hold")
    whole = bytes(_packet(row))
    kept = whole[:snaplen]
    fraction = rest if nano else rest // _MICROSECOND_NS
    size = len(whole) + max(row["bytes"] - _MOST_BUILT, 0)
    writer.write_packet(kept, sec=seconds, usec=fraction, caplen=len(kept), wirelen=min(size, _LARGEST_WIRE_LENGTH))


def _packet(row: Mapping[str, Any]) -> "Packet":
    """One segment; its payload is there while checksums are made, which count how much there is."""
    from scapy.layers.inet import IP, TCP
    from scapy.layers.inet6 import IPv6
    from scapy.packet import Raw

    tcp = TCP(
        sport=row["source_port"],
        dport=row["destination_port"],
        seq=row["seq"],
        ack=row["ack"] or 0,
        flags=row["flags"],
        window=row["window"],
        options=_options(row),
    ) / Raw(bytes(min(row["bytes"], _MOST_BUILT)))
    ends = {"src": row["source"], "dst": row["destination"]}
    hops = row["ttl"] or _DEFAULT_TTL
    if any(":" in end for end in ends.values()):
        # An IPv4-mapped address among IPv6 ones is shown as the IPv4 address that it maps.
        ends = {name: end if ":" in end else f"::ffff:{end}" for name, end in ends.items()}
        return IPv6(**ends, hlim=hops, plen=_length_field(len(tcp))) / tcp
    return IP(**ends, ttl=hops, id=row["ip_id"] or 0, flags="DF", len=_length_field(20 + len(tcp))) / tcp


def _length_field(size_bytes: int) -> int:
    return size_bytes if size_bytes <= _LARGEST_LENGTH_FIELD else 0


def _options(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The options in the order in which Linux writes them; scapy pads the last word."""
    options: list[tuple[str, Any]] = []
    if row["mss"] is not None:
        options.append(("MSS", row["mss"]))
    if row["sack_permitted"]:
        options.append(("SAckOK", b""))
    if row["ts_value"] is not None:
        lead = [] if options else [("NOP", None), ("NOP", None)]
        options += [*lead, ("Timestamp", (row["ts_value"], row["ts_echo"] or 0))]
    if row["window_scale"] is not None:
        options += [("NOP", None), ("WScale", row["window_scale"])]
    if row["sacks"]:
        edges = tuple(int(edge) for block in row["sacks"].split() for edge in block.split("-"))
        options += [("NOP", None), ("NOP", None), ("SAck", edges)]
    return _fitting(options)


def _fitting(options: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Without the padding between them, and without the last, where a stranger's packet or paste had no room for it."""
    if _size(options) > _OPTIONS_ROOM:
        options = [option for option in options if option[0] != "NOP"]
    while _size(options) > _OPTIONS_ROOM:
        options = options[:-1]
    return options


def _size(options: list[tuple[str, Any]]) -> int:
    sizes = {"NOP": 1, "SAckOK": 2, "WScale": 3, "MSS": 4, "Timestamp": 10}
    return sum(sizes[name] if name in sizes else 2 + 4 * len(value) for name, value in options)
