"""A situation of two programs and their hosts, in figures that `tcpstall whatif --set` can change."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from tests.tools.lab.scenario import BIG_WINDOW, PORT, RECEIVER, SENDER, Connection, Host, Rule, Scenario, script

_HOP_US = 30
"""Delay that the forwarder, two veth pairs and a wake-up add to each way, on the machine that made the fixtures."""
_ROOM = "initrwnd 800"


@dataclass(frozen=True, slots=True)
class Situation:
    """One conversation: the client writes `request` piece by piece, the server answers with the pieces of `response`.

    `exchanges` follow each other, `think_ms` apart, on one connection or (`reuse` False) on a new one each. The sender
    of the lab's network is the server, or with `upload` the client: its capture is the pair's, `initcwnd`, `sndbuf`,
    `one_segment`, `nodelay` and `idle_restart` are its own; `rcvbuf` and `roomy` are the other end's. None of a buffer
    is the kernel's own choice. `roomy` is a receive window that never binds, else the kernel's own with its autotuning.
    `rate` is the narrowest link's, in bits per second, from the sender on, behind `queue` bytes. `loss` is the share of
    the sender's segments that the path loses, as `dice` fall.
    `one_segment` is what stacks without segmentation offload do: each buffer of the send queue holds one segment.
    """

    name: str
    why: str
    rtt_ms: float
    response: tuple[int, ...] = (100_000,)
    request: tuple[int, ...] = (147,)
    exchanges: int = 1
    think_ms: int = 0
    upload: bool = False
    reuse: bool = True
    initcwnd: int = 10
    sndbuf: int | None = None
    one_segment: bool = False
    rcvbuf: int | None = None
    roomy: bool = True
    idle_restart: bool = True
    nodelay: bool = False
    delayed_ack: bool = True
    rate: float = 0
    queue: int = 0
    loss: float = 0
    dice: int = 1
    control: str = "cubic"
    family: int = 4

    @property
    def server(self) -> tuple[str, int]:
        """Address and port of the service."""
        return (RECEIVER if self.upload else SENDER)[self.family], PORT

    @property
    def loses(self) -> bool:
        """True where a run without a lost packet is an exception."""
        return self.loss > 0 or self.queue > 0

    def figures(self) -> dict[str, Any]:
        """Those that are not the defaults."""
        return {one.name: getattr(self, one.name) for one in fields(self)[2:] if getattr(self, one.name) != one.default}

    def scenario(self) -> Scenario:
        """Scenario for the lab: nothing reads the kernel's state beside it, and only the sender is captured."""
        sends, reads = self._host(sends=True), self._host(sends=False)
        rules = (Rule("drop", first=0, chance=self.loss),) if self.loss else ()
        return Scenario(
            self.name, self.why, (self._connection(),), round(self.rtt_ms * 500) - _HOP_US, family=self.family,
            sender=sends, receiver=reads, rate_a=self.rate, queue_a=self.queue, rules=rules, seed=self.dice, taps=(),
            sample_us=0, snaplen=96,
            limit_s=90, watched=("sender",),
        )  # fmt: skip

    def _host(self, *, sends: bool) -> Host:
        sysctl: dict[str, Any] = {}
        if sends:
            sysctl["tcp_slow_start_after_idle"] = int(self.idle_restart)
            route = "" if self.initcwnd == 10 else f"initcwnd {self.initcwnd}"
            return Host(sysctl, route, gso_max_segs=1 if self.one_segment else 0)
        if self.roomy:
            sysctl |= BIG_WINDOW
        return Host(sysctl, f"{_ROOM if self.roomy else ''} {'' if self.delayed_ack else 'quickack 1'}".strip())

    def _connection(self) -> Connection:
        client = self._options(sends=self.upload) + script(*self._client())
        server = self._options(sends=not self.upload) + script(*self._server())
        if self.upload:
            return Connection(client, server, PORT, upload=True)
        return Connection(server, client, PORT)

    def _options(self, *, sends: bool) -> str:
        buffer, size = ("sndbuf", self.sndbuf) if sends else ("rcvbuf", self.rcvbuf)
        return script(
            f"opt cc {self.control}",
            f"opt {buffer} {size}" if size else "",
            "opt nodelay 1" if self.nodelay else "",
        )

    def _client(self) -> list[str]:
        address, port = self.server
        lines = []
        for number in range(self.exchanges):
            if number and self.think_ms:
                lines.append(f"sleep {self.think_ms}")
            if number == 0 or not self.reuse:
                lines.append(f"connect {address} {port}")
            lines += [*(f"write {size}" for size in self.request), f"read {sum(self.response)}"]
            if number == self.exchanges - 1 or not self.reuse:
                lines.append("close")
        return lines

    def _server(self) -> list[str]:
        address, port = self.server
        lines = []
        for number in range(self.exchanges):
            if number == 0 or not self.reuse:
                lines.append(f"listen {address} {port}")
            lines += [f"read {sum(self.request)}", *(f"write {size}" for size in self.response)]
            if number == self.exchanges - 1 or not self.reuse:
                lines += ["readeof", "close"]
        return lines


def _buffer(value: str) -> int | None:
    return None if value == "auto" else round(_number(value))


def _number(value: str) -> float:
    for suffix, factor in {"ms": 1, "Mbit": 1e6, "K": 1024, "M": 1 << 20, "%": 0.01}.items():
        if value.endswith(suffix):
            return float(value.removesuffix(suffix)) * factor
    return float(value)


_KNOBS: dict[str, Callable[[str], dict[str, Any]]] = {
    "initcwnd": lambda value: {"initcwnd": int(value)},
    "sndbuf": lambda value: {"sndbuf": _buffer(value)},
    "rcvbuf": lambda value: {"rcvbuf": _buffer(value)},
    "slow-start-after-idle": lambda value: {"idle_restart": value != "0"},
    "nodelay": lambda value: {"nodelay": value != "0"},
    "delayed-ack": lambda value: {"delayed_ack": value != "0"},
    "rtt": lambda value: {"rtt_ms": _number(value)},
    "rate": lambda value: {"rate": _number(value)},
    "think": lambda value: {"think_ms": int(_number(value))},
    "reuse-connection": lambda value: {"reuse": value != "0"},
    "loss": lambda value: {"loss": _number(value)},
    "queue": lambda value: {"queue": round(_number(value))},
    "cc": lambda value: {"control": value},
}
"""Figure of the situation that each change of `tcpstall whatif --set` sets."""

KNOBS = frozenset(_KNOBS)


_READERS = frozenset({"rcvbuf", "delayed-ack"})
"""Figures of the end that receives; the others of one end are the sender's."""


def _of_end(situation: Situation, knob: str) -> tuple[str, bool]:
    """The knob without its end, and whether this end has the figure: `client.initcwnd` of a download has none."""
    end, _, bare = knob.rpartition(".")
    sends = "client" if situation.upload else "server"
    return bare, not end or (end == sends) != (bare in _READERS)


def changed(situation: Situation, change: str) -> Situation:
    """The situation after changes such as `server.initcwnd=40` or `sndbuf=auto slow-start-after-idle=0`."""
    for one in change.split():
        knob, _, value = one.partition("=")
        bare, there = _of_end(situation, knob)
        if there:
            situation = replace(situation, **_KNOBS[bare](value))
    return situation


def applied(situation: Situation, change: str) -> list[str]:
    """Changes made on each host, as a person would have made them."""
    reader = "client" if not situation.upload else "server"
    sender = "server" if not situation.upload else "client"
    done = []
    for one in change.split():
        knob, _, value = one.partition("=")
        knob, there = _of_end(situation, knob)
        if not there:
            done.append(f"the other end, whose data do not matter here: {one}")
            continue
        kept = "one connection for all exchanges" if value != "0" else "a new connection each time"
        words = {
            "initcwnd": f"{sender}: ip route change 10.77.0.0/24 dev eth0 initcwnd {value}",
            "sndbuf": f"{sender}: setsockopt(SO_SNDBUF, {value})" if value != "auto" else f"{sender}: no SO_SNDBUF",
            "rcvbuf": f"{reader}: setsockopt(SO_RCVBUF, {value})" if value != "auto" else f"{reader}: no SO_RCVBUF",
            "slow-start-after-idle": f"{sender}: sysctl -w net.ipv4.tcp_slow_start_after_idle={value}",
            "nodelay": f"both ends: setsockopt(TCP_NODELAY, {value})",
            "delayed-ack": f"{reader}: ip route change 10.77.0.0/24 dev eth0 quickack 1",
            "rtt": f"the path: {value} round trip",
            "rate": f"the path: {value} per second",
            "think": f"client: {value} between exchanges",
            "reuse-connection": f"client: {kept}",
            "loss": f"the path: loses {value} of the segments",
            "queue": f"the path: {value} of queue before the narrowest link",
            "cc": f"both ends: setsockopt(TCP_CONGESTION, {value})",
        }
        done.append(words[knob])
    return done
