"""Experiments that nothing was tuned on: other parameters, and paths that change or lose what they should not."""

from tests.tools.lab.scenario import BIG_WINDOW, Host, Rule, Scenario, talk

_ROOMY = Host(sysctl=BIG_WINDOW)
_CUBIC = "opt cc cubic\n"


def _route(metrics: str) -> Host:
    return Host(route=metrics)


def _clamp(segments: int) -> Host:
    return Host(route=f"cwnd lock {segments}")


def _threshold(segments: int) -> Host:
    return Host(route=f"ssthresh lock {segments}", sysctl={"tcp_no_ssthresh_metrics_save": 0})


def _lost(offset: int, times: int = 1) -> Rule:
    """The segment with this byte, and its repetitions up to `times`."""
    return Rule("drop", first=offset, last=offset + 1, times=times)


def _bulk(
    name: str,
    why: str,
    one_way_us: int,
    size: int,
    *,
    control: str = "cubic",
    options: str = "",
    reader: str = "",
    write: str = "",
    read: str = "",
    upload: bool = False,
    family: int = 4,
    receiver: Host = _ROOMY,
    **knobs: object,
) -> Scenario:
    """One transfer of `size` bytes, or what `write` and `read` say."""
    talking = talk(
        write or f"write {size}\n", read or f"read {size}\n", options=f"opt cc {control}\n{options}",
        reader=f"{_CUBIC}{reader}", upload=upload, family=family,
    )  # fmt: skip
    return Scenario(name, why, (talking,), one_way_us, family=family, receiver=receiver, **knobs)  # type: ignore[arg-type]


def _known_families() -> list[Scenario]:
    """Experiments of the literature, at other round trips, sizes and buffers."""
    return [
        _bulk("slowstart-3ms-300k", "slow start at 3 ms", 1500, 300_000),
        _bulk("slowstart-38ms-900k-up", "slow start at 38 ms, upload", 19_000, 900_000, upload=True),
        _bulk("slowstart-180ms-400k-v6", "slow start at 180 ms, IPv6", 90_000, 400_000, family=6),
        _bulk("slowstart-64ms-iw32-reno", "initcwnd 32, reno, 64 ms", 32_000, 700_000, control="reno",
              sender=_route("initcwnd 32")),
        _bulk("slowstart-25ms-iw4", "initcwnd 4", 12_500, 250_000, sender=_route("initcwnd 4")),
        _bulk("slowstart-11ms-mtu1280", "MTU 1280", 5500, 400_000, mtu=1280),
        _bulk("slowstart-30ms-mtu9000", "jumbo frames", 15_000, 2_000_000, mtu=9000),
        _bulk("slowstart-80ms-notso-up", "no segmentation offload", 40_000, 600_000, upload=True,
              sender=Host(offload=False)),
        _bulk("bbr-45ms-1m", "bbr without a bottleneck", 22_500, 1_000_000, control="bbr"),
        _bulk("sndbuf-24k-9ms", "SO_SNDBUF 24 KB at 9 ms", 4500, 900_000, options="opt sndbuf 24576\n",
              write="write 900000 32768\n"),
        _bulk("sndbuf-64k-70ms-up", "SO_SNDBUF 64 KB at 70 ms, upload", 35_000, 1_500_000, upload=True,
              options="opt sndbuf 65536\n", write="write 1500000 16384\n"),
        _bulk("sndbuf-12k-33ms-8kwrites", "SO_SNDBUF 12 KB, writes of 8 KB", 16_500, 300_000,
              options="opt sndbuf 12288\n", write="write 300000 8192\n"),
        _bulk("sndbuf-40k-15ms-notso", "SO_SNDBUF 40 KB, one segment a buffer", 7500, 800_000,
              sender=Host(gso_max_segs=1),
              options="opt sndbuf 40960\n", write="write 800000 65536\n"),
        _bulk("wmem-16k-28ms", "tcp_wmem 16384", 14_000, 400_000, sender=Host(sysctl={"tcp_wmem": "4096 16384 16384"}),
              write="write 400000 20000\n"),
        _bulk("rcvbuf-16k-13ms", "SO_RCVBUF 16 KB", 6500, 300_000, reader="opt rcvbuf 16384\n", receiver=Host()),
        _bulk("rcvbuf-48k-90ms-v6-up", "SO_RCVBUF 48 KB, IPv6, upload", 45_000, 800_000, reader="opt rcvbuf 49152\n",
              receiver=Host(), family=6, upload=True),
        _bulk("rmem-12k-21ms", "tcp_rmem 12288", 10_500, 250_000,
              receiver=Host(sysctl={"tcp_rmem": "4096 12288 12288"})),
        _bulk("idle-1500ms-16ms", "1.5 s idle, then slow start again", 8000, 0, read="read 1200000\n",
              write="write 600000\nsleep 1500\nwrite 600000\n"),
        _bulk("idle-900ms-off-42ms", "idle with slow start after idle off", 21_000, 0, read="read 1400000\n",
              write="write 700000\nsleep 900\nwrite 700000\n", sender=Host(sysctl={"tcp_slow_start_after_idle": 0})),
        _bulk("idle-400ms-60ms", "idle of a little over one timeout", 30_000, 0, read="read 1500000\n",
              write="write 900000\nsleep 460\nwrite 600000\n"),
    ]  # fmt: skip


def _losses() -> list[Scenario]:
    """Loss, duplication and reordering, of data and of ACKs."""
    return [
        _bulk("loss-14ms-one", "one segment lost at 14 ms", 7000, 600_000, rules=(_lost(90_000),)),
        _bulk("loss-75ms-three-up", "three segments lost, upload", 37_500, 900_000, upload=True,
              rules=(_lost(120_000), _lost(130_000), _lost(400_000))),
        _bulk("loss-31ms-twice", "a retransmission lost as well", 15_500, 600_000, rules=(_lost(150_000, 2),)),
        _bulk("loss-22ms-blackout", "180 ms of nothing", 11_000, 700_000, rules=(Rule("drop", begin_s=0.09,
              end_s=0.27),)),
        _bulk("loss-50ms-tail2", "the last two segments lost", 25_000, 200_000,
              rules=(Rule("drop", first=198_000, times=1),)),
        _bulk("loss-17ms-random", "0.4 % of segments lost at random", 8500, 3_000_000, seed=7,
              rules=(Rule("drop", first=0, chance=0.004),)),
        _bulk("loss-44ms-random-reno-v6", "0.3 % lost, reno, IPv6", 22_000, 2_500_000, seed=11, control="reno",
              family=6,
              rules=(Rule("drop", first=0, chance=0.003),)),
        _bulk("sndbuf-32k-after-loss", "send buffer limit, a loss, and the limit again", 13_000, 1_200_000,
              options="opt sndbuf 32768\n", write="write 1200000 65536\n", rules=(_lost(300_000),)),
        _bulk("sndbuf-64k-after-loss-notso", "the same with one segment a buffer", 20_000, 1_200_000,
              options="opt sndbuf 65536\n", write="write 1200000 32768\n", sender=Host(gso_max_segs=1),
              rules=(_lost(200_000), _lost(500_000))),
        _bulk("acks-lost-third", "every third ACK lost", 12_000, 1_000_000,
              rules=(Rule("drop", way="b", pure_ack=True, every=3, begin_s=0.05),)),
        _bulk("acks-lost-most", "9 of 10 ACKs lost for 200 ms", 15_000, 1_000_000, seed=3,
              rules=(Rule("drop", way="b", pure_ack=True, chance=0.9, begin_s=0.1, end_s=0.3),)),
        _bulk("reorder-3-deep", "every 40th segment 1 ms late at 20 ms", 10_000, 1_000_000,
              rules=(Rule("delay", first=0, every=40, extra_us=1000),)),
        _bulk("reorder-deep-24ms", "every 100th segment 9 ms late at 24 ms", 12_000, 1_500_000,
              rules=(Rule("delay", first=0, every=100, extra_us=9000),)),
        _bulk("dup-every-30-up", "every 30th segment doubled", 18_000, 700_000, upload=True,
              rules=(Rule("dup", first=0, every=30),)),
        _bulk("syn-lost-55ms", "the first SYN lost", 27_500, 150_000, rules=(Rule("drop", way="b", syn=True,
              times=1),)),
    ]  # fmt: skip


def _paths() -> list[Scenario]:
    """Paths that change, that are slow, and windows that other things than the receiver bound."""
    return [
        _bulk("rtt-step-up", "20 ms becomes 60 ms", 10_000, 12_000_000, options="opt sndbuf 49152\n",
              write="write 12000000 65536\n",
              delay=((0, 10_000), (0.5, 10_000), (0.501, 30_000))),
        _bulk("rtt-step-down", "80 ms becomes 20 ms", 40_000, 1_500_000, reader="opt rcvbuf 65536\n", receiver=Host(),
              delay=((0, 40_000), (0.8, 40_000), (0.801, 10_000))),
        _bulk("rtt-ramp", "15 ms grows to 90 ms", 7500, 600_000, options="opt sndbuf 32768\n",
              sender=Host(gso_max_segs=1), write="write 600000 16384\n",
              delay=((0, 7500), (0.2, 7500), (2.0, 45_000))),
        _bulk("rtt-spike", "a spike of 150 ms", 12_000, 2_000_000, reader="opt rcvbuf 32768\n", receiver=Host(),
              delay=((0, 12_000), (0.4, 12_000), (0.401, 75_000), (0.5, 75_000), (0.501, 12_000))),
        _bulk("rtt-step-slowstart", "10 ms becomes 40 ms in slow start", 5000, 900_000,
              delay=((0, 5000), (0.03, 5000), (0.031, 20_000))),
        _bulk("rtt-step-down-cwnd", "60 ms becomes 15 ms under a clamped window", 30_000, 1_500_000,
              sender=_clamp(50), acquainted=True, delay=((0, 30_000), (0.5, 30_000), (0.501, 7500))),
        _bulk("rtt-ramp-cwnd", "20 ms grows to 80 ms under a clamped window", 10_000, 1_500_000,
              sender=_clamp(40), acquainted=True, delay=((0, 10_000), (0.2, 10_000), (1.0, 40_000))),
        _bulk("clamp-ca-26ms", "cwnd clamped at 40 by the route", 13_000, 1_000_000, sender=_clamp(40),
              acquainted=True),
        _bulk("ssthresh-ca-36ms", "congestion avoidance from 24 segments on", 18_000, 1_200_000,
              sender=_threshold(24), acquainted=True),
        _bulk("ssthresh-ca-reno-12ms", "congestion avoidance from 16 segments on, reno", 6000, 800_000, control="reno",
              sender=_threshold(16), acquainted=True),
        _bulk("rate-deep-8mbit", "8 Mbit/s behind a deep queue", 15_000, 1_500_000, rate_a=8e6, queue_a=1_000_000),
        _bulk("rate-shallow-20mbit", "20 Mbit/s behind 25 KB", 12_000, 3_000_000, rate_a=20e6, queue_a=25_000),
        _bulk("rate-cross-30mbit", "30 Mbit/s with cross traffic that comes and goes", 10_000, 4_000_000, rate_a=30e6,
              queue_a=120_000, cross=((0.3, 0.6, 0.7), (0.9, 1.3, 0.5))),
        _bulk("taps-56ms", "the middle at 20, 50 and 80 %", 28_000, 900_000, taps=(0.2, 0.5, 0.8)),
        _bulk("taps-sndbuf-30ms", "the middle at 20, 50 and 80 %, send buffer", 15_000, 900_000, taps=(0.2, 0.5, 0.8),
              options="opt sndbuf 32768\n", write="write 900000 65536\n"),
        _bulk("taps-rcvbuf-30ms", "the middle at 20, 50 and 80 %, receive buffer", 15_000, 500_000, taps=(0.2, 0.5,
              0.8),
              reader="opt rcvbuf 16384\n", receiver=Host()),
        _bulk("taps-loss-30ms", "the middle at 20, 50 and 80 %, losses", 15_000, 1_200_000, taps=(0.2, 0.5, 0.8),
              seed=5,
              rules=(Rule("drop", first=0, chance=0.003),)),
    ]  # fmt: skip


def _programs() -> list[Scenario]:
    """Programs that think, pause, write little or read slowly."""
    return [
        _bulk("rpc-think-24ms", "requests over keep-alive, 90 ms of thought", 12_000, 0,
              write="sleep 90\nwrite 24000\nread 147\n" * 7 + "write 24000\n",
              read="read 24000\nsleep 150\nwrite 147\n" * 7 + "read 24000\n"),
        _bulk("rpc-small-6ms", "small requests and answers", 3000, 0,
              write="write 900\nread 147\n" * 30 + "write 900\n",
              read="read 900\nwrite 147\n" * 30 + "read 900\n"),
        _bulk("slow-reader-100k", "a reader that takes 10 KB every 20 ms", 8000, 0, write="write 800000\n",
              read="readslow 800000 10000 20\n", receiver=Host()),
        _bulk("slow-reader-1m", "a reader that takes 40 KB every 12 ms", 20_000, 0, write="write 1500000\n",
              read="readslow 1500000 40000 12\n", receiver=Host()),
        _bulk("pausing-reader", "a reader that stops for 700 ms again and again", 10_000, 0, write="write 2000000\n",
              read="read 400000\nsleep 700\n" * 4 + "read 400000\n", receiver=Host()),
        _bulk("pausing-reader-v6-up", "a reader that stops for 300 ms again and again", 25_000, 0,
              write="write 1500000\n",
              read="read 250000\nsleep 300\n" * 5 + "read 250000\n", receiver=Host(), family=6, upload=True),
        _bulk("writes-300b-nagle-18ms", "300 bytes every 3 ms", 9000, 0, write="write 45000 300 3\n",
              read="read 45000\n"),
        _bulk("writes-300b-nodelay-18ms", "the same without Nagle", 9000, 0, options="opt nodelay 1\n",
              write="write 45000 300 3\n", read="read 45000\n"),
        _bulk("write-write-read-12ms", "write, write, read", 6000, 0, write="write 200\nwrite 300\nread 50\n" * 20,
              read="read 500\nwrite 50\n" * 20),
        _bulk("write-write-read-nodelay", "write, write, read without Nagle", 6000, 0, options="opt nodelay 1\n",
              write="write 200\nwrite 300\nread 50\n" * 20, read="read 500\nwrite 50\n" * 20),
        _bulk("pauses-in-bulk-35ms", "pauses of 60 to 140 ms in a bulk transfer", 17_500, 0, read="read 1500000\n",
              write="write 300000\nsleep 60\nwrite 300000\nsleep 140\nwrite 300000\nsleep 90\nwrite 600000\n"),
        _bulk("chunks-20k-9ms", "20 KB every 30 ms", 4500, 0, write="write 600000 20000 30\n", read="read 600000\n"),
        _bulk("chunks-60k-40ms", "60 KB every 25 ms at 40 ms", 20_000, 0, write="write 1500000 60000 25\n",
              read="read 1500000\n"),
        _bulk("paced-1mbps-16ms", "SO_MAX_PACING_RATE 700 KB/s", 8000, 700_000, options="opt maxpacing 700000\n"),
        _bulk("mss-536-26ms", "MSS 536", 13_000, 200_000, reader="opt mss 536\n"),
    ]  # fmt: skip


def scenarios() -> list[Scenario]:
    """All of them."""
    return [*_known_families(), *_losses(), *_paths(), *_programs()]
