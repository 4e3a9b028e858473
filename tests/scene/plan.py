"""Input of a simulated transfer: what its two applications do, and what the path does to it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Reader:
    """The receiving application and its buffer."""

    buffer: int = 4_194_304
    """The most the window ever announces, bytes."""
    pauses: tuple[tuple[int, float], ...] = ()
    """(after so many bytes of this transfer, for so many ms): reads nothing meanwhile."""
    bytes_per_ms: int | None = None
    """Reads at this rate in steps of 5 ms; None reads at once."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One direction's transfer. Byte positions count from the transfer's first byte."""

    writes: tuple[tuple[float, int], ...]
    """(ms after the transfer's start, bytes): what the sending application writes and when."""
    reader: Reader = Reader()
    tso: int = 2
    """Segments in a frame at most."""
    send_buffer: int | None = None
    low_water: int | None = None
    """Bytes that are free before a blocked writer wakes (BSD SO_SNDLOWAT); None: a third of the buffer, as on Linux."""
    nodelay: bool = False
    pace: float | None = None
    """Bytes a second after the first ten segments."""
    burst_cap: int | None = None
    """Segments that one wake-up may send at most; the cap ends with the flight's last ACK."""
    initial_window: int | None = None
    """Segments that the first transfer of the sender begins with; None means 10."""
    slow_start_after_idle: bool = True
    after_idle: Literal["halved", "initial"] = "halved"
    """An idle period halves cwnd once per timeout (RFC 2861), or brings it to the initial window (RFC 5681 §4.1)."""
    growth: Literal["per-segment", "per-ack"] = "per-segment"
    """Slow start adds what was acknowledged (RFC 3465), or one segment an ACK (RFC 5681 §3.1)."""
    nagle: Literal["minshall", "rfc896"] = "minshall"
    """A short segment waits for short ones only (Linux), or for all data outstanding (RFC 896)."""
    grow: bool = True
    """False keeps cwnd where it is, as if the growth were used up."""
    ack_every: int = 2
    delayed_ack_ms: float | None = None
    """The receiver's timer for what ack_every leaves over; None acknowledges it at once, as after a read."""
    lose: tuple[int, ...] = ()
    """The wire packet that holds this byte is lost; a byte named twice loses the repair as well."""
    late: tuple[tuple[int, float], ...] = ()
    """(byte, µs): the wire packet that holds this byte arrives so much later."""
    unseen: tuple[tuple[int, int], ...] = ()
    """(from byte, to byte): arrives, but the capture lacks it."""
    until_ms: float | None = None
    """Stops the scene there, finished or not."""
