"""An experiment: the hosts, the path between them, and the programs that talk."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SENDER = {4: "10.77.0.1", 6: "fd77::1"}
RECEIVER = {4: "10.77.0.2", 6: "fd77::2"}
PORT = 5001
REQUEST = 147
BIG_WINDOW = {"tcp_rmem": "4096 4194304 33554432"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A change to packets of one direction (`a` from the sender, `b` towards it) that match every given field.

    `first` and `last` bound the payload offset, `begin_s` and `end_s` the time since the first SYN; `nth` counts
    segments with payload from 1; `times` is how often the rule acts on one offset (0: always).
    """

    do: str
    way: str = "a"
    first: int | None = None
    last: int | None = None
    begin_s: float | None = None
    end_s: float | None = None
    nth: tuple[int, ...] = ()
    syn: bool = False
    pure_ack: bool = False
    every: int = 1
    chance: float = 1.0
    times: int = 0
    extra_us: int = 0


@dataclass(frozen=True, slots=True)
class Host:
    """One host's knobs: sysctls, the route's metrics, the interface."""

    sysctl: Mapping[str, Any] = field(default_factory=dict)
    route: str = ""
    gso_max_segs: int = 0
    offload: bool = True


@dataclass(frozen=True, slots=True)
class Connection:
    """The scripts of both ends of one connection; `upload` means that the sender is the client."""

    sender: str
    receiver: str
    port: int = PORT
    upload: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """One experiment.

    `delay` lists (seconds since the first SYN, one-way µs) and is linear between the points; without it
    `one_way_us` holds throughout. `rate_*` is bits per second behind a queue of `queue_*` bytes. `taps` are shares of
    the path at which the middle is captured. `cross` is (begin s, end s, share of rate_a) of other people's traffic.
    `acquainted` hosts talked before: else Linux heeds no route's cwnd and ssthresh (tcp_init_metrics).
    `watched` hosts are captured. With `sample_us` 0 nobody reads the kernel's state: there is a capture, but no truth.
    """

    name: str
    why: str
    connections: tuple[Connection, ...]
    one_way_us: int
    expect: tuple[str, ...] = ()
    family: int = 4
    mtu: int = 1500
    sender: Host = Host()
    receiver: Host = Host()
    rules: tuple[Rule, ...] = ()
    rate_a: float = 0
    queue_a: int = 0
    rate_b: float = 0
    queue_b: int = 0
    delay: tuple[tuple[float, int], ...] = ()
    cross: tuple[tuple[float, float, float], ...] = ()
    taps: tuple[float, ...] = (0.5,)
    sample_us: int = 300
    snaplen: int = 128
    seed: int = 1
    limit_s: float = 30
    acquainted: bool = False
    watched: tuple[str, ...] = ("sender", "receiver")

    def parameters(self) -> dict[str, Any]:
        """The knobs that were turned, as truth.json names them."""
        shown: dict[str, Any] = {"one_way_us": self.one_way_us, "snaplen": self.snaplen}
        if self.mtu != 1500:
            shown["mtu"] = self.mtu
        for key in ("rate_a", "queue_a", "rate_b", "queue_b", "delay", "cross", "taps"):
            if value := getattr(self, key):
                shown[key] = value
        if self.rules:
            shown["rules"] = [
                {k: v for k, v in asdict(rule).items() if v not in (None, (), 0, False)} for rule in self.rules
            ]
            shown["seed"] = self.seed
        for key, host in (("snd", self.sender), ("rcv", self.receiver)):
            if host != Host():
                shown[f"host_{key}"] = {k: v for k, v in asdict(host).items() if v not in ({}, "", 0)}
        return shown


def script(*lines: str) -> str:
    """Lines of a script, one command each."""
    return "".join(f"{line}\n" for line in lines if line)


def talk(sends: str, reads: str, *, options: str = "", reader: str = "", upload: bool = False, family: int = 4,
         port: int = PORT, drain_ms: int = 20_000, reads_on: bool = True) -> Connection:  # fmt: skip
    """A connection on which the sender runs `sends` and the receiver `reads`; a download starts with a request."""
    last = "readeof\n" if reads_on else ""
    closing = f"drain {drain_ms}\n"
    if upload:
        address = RECEIVER[family]
        sender = f"{options}connect {address} {port}\n{sends}{closing}shut\nreadeof\nclose\n"
        return Connection(sender, f"{reader}listen {address} {port}\n{reads}{last}close\n", port, upload=True)
    address = SENDER[family]
    sender = f"{options}listen {address} {port}\nread {REQUEST}\n{sends}{closing}close\n"
    return Connection(sender, f"{reader}connect {address} {port}\nwrite {REQUEST}\n{reads}{last}close\n", port)
