"""Experiments in corners of the same limits: tiny windows, paces faster than the path, programs that talk both ways."""

from tests.tools.lab.scenario import BIG_WINDOW, PORT, Host, Rule, Scenario, talk

_ROOMY = Host(sysctl=BIG_WINDOW)
_PLAIN = Host()
_CUBIC = "opt cc cubic\n"


def _talk(
    name: str,
    why: str,
    one_way_us: int,
    write: str,
    read: str,
    *,
    options: str = "",
    reader: str = "",
    upload: bool = False,
    receiver: Host = _ROOMY,
    **knobs: object,
) -> Scenario:
    talking = talk(write, read, options=_CUBIC + options, reader=_CUBIC + reader, upload=upload)
    return Scenario(name, why, (talking,), one_way_us, receiver=receiver, **knobs)  # type: ignore[arg-type]


def _bulk(name: str, why: str, one_way_us: int, size: int, write: int = 1 << 20, **knobs: object) -> Scenario:
    return _talk(name, why, one_way_us, f"write {size} {write}\n", f"read {size}\n", **knobs)  # type: ignore[arg-type]


def _windows() -> list[Scenario]:
    return [
        _bulk("iw1-30ms", "an initial window of one segment", 15_000, 150_000, sender=Host(route="initcwnd 1")),
        _bulk("iw3-notso-up", "an initial window of three, one segment a buffer, upload", 20_000, 200_000, upload=True,
              sender=Host(route="initcwnd 3", gso_max_segs=1)),
        _bulk("noscale-40ms", "a receiver without window scaling", 20_000, 900_000,
              receiver=Host(sysctl={"tcp_window_scaling": 0})),
        _bulk("notimestamps-sndbuf", "no timestamps, SO_SNDBUF 32 KB", 12_000, 700_000, 32_768,
              options="opt sndbuf 32768\n", sender=Host(sysctl={"tcp_timestamps": 0})),
        _bulk("sndbuf128-gso1", "SO_SNDBUF 128 KB, one segment a buffer", 17_000, 2_000_000, 16_384,
              options="opt sndbuf 131072\n", sender=Host(gso_max_segs=1)),
        _bulk("paced-fast-1ms", "a pace of 8 MB/s, faster than the path is long", 500, 3_000_000,
              options="opt maxpacing 8000000\n"),
        _bulk("paced-mid-2ms", "a pace of 2 MB/s at 2 ms", 1000, 1_200_000, options="opt maxpacing 2000000\n"),
    ]  # fmt: skip


def _programs() -> list[Scenario]:
    several, reads = "write 300\nwrite 500\nwrite 200\nread 50\n" * 12, "read 1000\nwrite 50\n" * 12
    return [
        _talk("three-writes-80ms", "three writes, then a read", 40_000, several, reads),
        _talk("no-quick-ack-2ms", "write, write, read, and no quick ACKs", 1000, "write 200\nwrite 700\nread 50\n" * 14,
              "read 900\nwrite 50\n" * 14, reader="opt quickack 0\n"),
        _talk("small-writes-5ms", "800 bytes every 6 ms at 5 ms", 2500, "write 120000 800 6\n", "read 120000\n"),
        _talk("duplex-20ms", "both ends write, then both read", 10_000, "write 90000\nread 80000\n" * 6,
              "write 80000\nread 90000\n" * 6),
        _talk("stopping-reader", "a reader that stops in the middle of slow start", 4000, "write 1000000\n",
              "read 250000\nsleep 200\n" * 3 + "read 250000\n", receiver=_PLAIN),
        _talk("answers-with-losses", "requests and answers of 12 KB, 6 % lost", 20_000,
              "write 12000\nread 147\n" * 10 + "write 12000\n", "read 12000\nwrite 147\n" * 10 + "read 12000\n",
              rules=(Rule("drop", first=0, chance=0.06), Rule("drop", way="b", nth=(3, 7))), seed=5),
        _talk("half-closed", "a client that closes its half before the answer", 12_000, "write 600000\n",
              "shut\nread 600000\n"),
    ]  # fmt: skip


def _together() -> Scenario:
    """Four connections at once, each with another limit."""
    talks = (
        talk("write 900000\n", "read 900000\n", options=_CUBIC),
        talk("write 400000 32768\n", "read 400000\n", options=f"{_CUBIC}opt sndbuf 25000\n", port=PORT + 1),
        talk("write 300000\n", "read 300000\n", options=_CUBIC, reader="opt rcvbuf 12000\n", port=PORT + 2),
        talk("write 900\nread 147\n" * 10 + "write 900\n", "read 900\nsleep 30\nwrite 147\n" * 10 + "read 900\n",
             options=_CUBIC, port=PORT + 3),
    )  # fmt: skip
    return Scenario("four-at-once", "four limits on four connections", talks, 10_000, receiver=_PLAIN)


def scenarios() -> list[Scenario]:
    """All of them."""
    return [*_windows(), *_programs(), _together()]
