"""The founding experiments: each shows one limit in its simplest form, and a test reads it."""

from tests.tools.lab.scenario import BIG_WINDOW, Host, Rule, Scenario, talk

_ROOMY = Host(sysctl=BIG_WINDOW)
_PLAIN = Host()


def _one(
    name: str,
    why: str,
    one_way_us: int,
    write: str,
    read: str,
    *,
    options: str = "",
    reader: str = "",
    upload: bool = False,
    receiver: Host = _PLAIN,
    drain_ms: int = 20_000,
    reads_on: bool = True,
    **knobs: object,
) -> Scenario:
    cubic = "opt cc cubic\n"
    talking = talk(
        write, read, options=cubic + options, reader=cubic + reader, upload=upload, drain_ms=drain_ms, reads_on=reads_on
    )
    return Scenario(name, why, (talking,), one_way_us, receiver=receiver, snaplen=96, **knobs)  # type: ignore[arg-type]


def _windows() -> list[Scenario]:
    half, twice = ("write 524288\n", "read 524288\n"), "write 524288\nsleep 3000\nwrite 524288\n"
    return [
        _one("slowstart-512k", "512 KB at 7 ms: slow start", 3500, *half, receiver=_ROOMY),
        _one("initcwnd-100", "512 KB at 7 ms with an initial window of 100 segments", 3500, *half,
             sender=Host(route="initcwnd 100"), receiver=Host(sysctl=BIG_WINDOW, route="initrwnd 400")),
        _one("edge-14480", "14480 bytes at 100 ms: the initial window to the byte", 50_000, "write 14480\nread 100\n",
             "read 14480\nwrite 100\n", upload=True),
        _one("edge-14481", "one byte more: one more round trip", 50_000, "write 14481\nread 100\n",
             "read 14481\nwrite 100\n", upload=True),
        _one("rpc-30k", "a request and a response of 30 KB at 100 ms", 50_000, "write 30000\nread 30000\n",
             "read 30000\nwrite 30000\n", upload=True),
        _one("idle-restart-on", "512 KB, 3 s idle, 512 KB", 1750, twice, "read 1048576\n", receiver=_ROOMY),
        _one("idle-restart-off", "the same without slow start after idle", 1750, twice, "read 1048576\n",
             receiver=_ROOMY,
             sender=Host(sysctl={"tcp_slow_start_after_idle": 0})),
    ]  # fmt: skip


def _buffers() -> list[Scenario]:
    small = "4096 4096 4096"
    sending, reading = "write 250000 65536\n", "read 250000\n"
    some, all_of_it = "write 100000 32768\n", "read 100000\n"
    return [
        _one("sndbuf-16k", "SO_SNDBUF 16 KB at 20 ms", 10_000, sending, reading, options="opt sndbuf 16384\n",
             sender=Host(gso_max_segs=1), receiver=_ROOMY),
        _one("sndbuf-32k-5ms", "SO_SNDBUF 32 KB at 5 ms", 2500, "write 500000 65536\n", "read 500000\n",
             options="opt sndbuf 32768\n", sender=Host(gso_max_segs=1), receiver=_ROOMY),
        _one("sndbuf-32k-1ms", "SO_SNDBUF 32 KB at 1 ms", 500, "write 500000 65536\n", "read 500000\n",
             options="opt sndbuf 32768\n", sender=Host(gso_max_segs=1), receiver=_ROOMY, sample_us=100),
        _one("rcvbuf-8k-40ms", "SO_RCVBUF 8 KB at 40 ms", 20_000, some, all_of_it, reader="opt rcvbuf 8192\n"),
        _one("rcvbuf-8k-0.1ms", "SO_RCVBUF 8 KB at 0.1 ms", 30, some, all_of_it, reader="opt rcvbuf 8192\n",
             sample_us=60),
        _one("zero-window-6s", "a receiver that stops reading for 6 s", 5000, "write 400000\n",
             "read 100000\nsleep 6000\nread 300000\n"),
        _one("zero-window-dead", "the same, and its host falls silent: probes never answered", 5000, "write 800000\n",
             "read 50000\nsleep 6500\n", sender=Host(sysctl={"tcp_retries2": 3}), rules=(Rule("drop", way="b",
             begin_s=1.0),),
             drain_ms=7000, reads_on=False),
        _one("wmem-4096", "tcp_wmem 4096 at 20 ms", 10_000, some, all_of_it, sender=Host(sysctl={"tcp_wmem": small})),
        _one("wmem-default", "tcp_wmem as it comes at 20 ms", 10_000, some, all_of_it),
        _one("wmem-4096-up", "tcp_wmem 4096 at the other end, which only acknowledges", 10_000, some, all_of_it,
             receiver=Host(sysctl={"tcp_wmem": small})),
        _one("rmem-4096", "tcp_rmem 4096 at 20 ms", 10_000, "write 40000\n", "read 40000\n",
             receiver=Host(sysctl={"tcp_rmem": small})),
        _one("rmem-default", "tcp_rmem as it comes at 20 ms", 10_000, "write 400000\n", "read 400000\n"),
        _one("rmem-4096-up", "tcp_rmem 4096 at the sender, which only reads a request", 10_000, some, all_of_it,
             sender=Host(sysctl={"tcp_rmem": small})),
    ]  # fmt: skip


def scenarios() -> list[Scenario]:
    """All of them."""
    return [*_windows(), *_buffers()]
