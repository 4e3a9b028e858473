"""Pairs that a model of windows finds hard: loss, queues that overflow, growing windows, changes that slow."""

from typing import Any

from tests.tools.lab.changes.pairs import Plan
from tests.tools.lab.changes.situation import Situation

_K = 1024
_OFF = "slow-start-after-idle=0"


def _plan(changes: str, name: str, why: str, rtt_ms: float, size: int, *, runs: int = 3, ranked: bool = False,
          **figures: Any) -> Plan:  # fmt: skip
    figures.setdefault("response", (size,))
    return Plan(Situation(name, why, rtt_ms, **figures), tuple(changes.split(", ")), runs, ranked)


def _losses() -> list[Plan]:
    """Each run throws the dice anew."""
    return [
        _plan("loss=0, initcwnd=40", "loss-500k-20ms", "500 KB at 20 ms, 1 % lost", 20, 500_000, runs=5, loss=0.01),
        _plan(f"loss=0, initcwnd=40, {_OFF}", "loss-100k-30ms", "100 KB five times at 30 ms, 700 ms between, 1 % lost",
              30, 100_000, runs=5, loss=0.01, exchanges=5, think_ms=700),
        _plan("loss=0, rtt=20ms", "loss-1m-40ms-reno", "1 MB at 40 ms, reno, 0.5 % lost", 40, 1_000_000, runs=5,
              loss=0.005, control="reno"),
        _plan("loss=0, reuse-connection=1", "loss-new-15ms", "60 KB at 15 ms, a new connection each time, 2 % lost",
              15, 60_000, runs=5, loss=0.02, exchanges=6, reuse=False),
    ]  # fmt: skip


def _queues() -> list[Plan]:
    return [
        _plan("initcwnd=40, rate=100Mbit, rtt=10ms", "queue-47k-20ms", "200 KB at 20 ms over 10 Mbit/s, 47 KB of queue",
              20, 200_000, rate=10e6, queue=47_000),
        _plan(f"initcwnd=60, rate=100Mbit, {_OFF}", "queue-60k-30ms",
              "150 KB four times at 30 ms over 20 Mbit/s, 60 KB of queue", 30, 150_000, rate=20e6, queue=60_000,
              exchanges=4, think_ms=800),
        _plan("rate=50Mbit, initcwnd=20", "queue-100k-15ms", "3 MB at 15 ms over 25 Mbit/s, 100 KB of queue", 15,
              3_000_000, rate=25e6, queue=100_000),
    ]  # fmt: skip


def _growing_windows() -> list[Plan]:
    growing: dict[str, Any] = {"roomy": False}
    return [
        _plan("initcwnd=20, initcwnd=40, initcwnd=100", "win-512k-20ms", "512 KB at 20 ms, the kernel's window", 20,
              512 * _K, ranked=True, **growing),
        _plan(f"initcwnd=40, initcwnd=100, {_OFF}", "win-200k-50ms", "200 KB three times at 50 ms, 1 s between", 50,
              200_000, exchanges=3, think_ms=1000, **growing),
        _plan("reuse-connection=1, initcwnd=40, initcwnd=100", "win-new-12ms",
              "150 KB at 12 ms, a new connection each time", 12, 150_000, exchanges=4, reuse=False, ranked=True,
              **growing),
        _plan("initcwnd=40, initcwnd=100", "win-2m-30ms", "2 MB at 30 ms, the kernel's window", 30, 2_000_000,
              **growing),
        _plan("initcwnd=60, rtt=60ms", "win-400k-40ms-up", "an upload of 400 KB at 40 ms", 40, 200, request=(400_000,),
              upload=True, **growing),
    ]  # fmt: skip


def _send_buffers() -> list[Plan]:
    return [
        _plan(f"sndbuf=auto, initcwnd=40, nodelay=1, {_OFF}", "tso-16k-20ms", "300 KB three times, SO_SNDBUF 16 KB",
              20, 300_000, exchanges=3, think_ms=600, sndbuf=16 * _K, ranked=True),
        _plan("sndbuf=auto, sndbuf=96K, initcwnd=40", "tso-32k-30ms", "1 MB at 30 ms, SO_SNDBUF 32 KB", 30,
              1_000_000, sndbuf=32 * _K, ranked=True),
        _plan("sndbuf=auto, reuse-connection=1, initcwnd=40", "tso-new-15ms",
              "120 KB at 15 ms, a new connection each time, SO_SNDBUF 16 KB", 15, 120_000, exchanges=4, reuse=False,
              sndbuf=16 * _K, ranked=True),
        _plan("sndbuf=auto, initcwnd=40", "tso-24k-25ms-up", "uploads of 250 KB at 25 ms, SO_SNDBUF 24 KB", 25, 200,
              request=(250_000,), exchanges=2, upload=True, sndbuf=24 * _K),
    ]  # fmt: skip


def _small_writes() -> list[Plan]:
    return [
        _plan("reuse-connection=1, nodelay=1, initcwnd=20", "nagle-new-10ms",
              "requests in two writes on a new connection each time at 10 ms", 10, 400, request=(200, 300),
              upload=True, exchanges=8, reuse=False, ranked=True),
        _plan("reuse-connection=1, nodelay=1, initcwnd=20", "nagle-new-response-15ms",
              "head and body on a new connection each time at 15 ms", 15, 0, response=(250, 900), exchanges=8,
              reuse=False, ranked=True),
        _plan("reuse-connection=1, nodelay=0", "nodelay-new-12ms", "two writes without Nagle, new connections", 12, 400,
              request=(200, 300), upload=True, exchanges=8, reuse=False, nodelay=True),
        _plan("nodelay=1, initcwnd=40", "nagle-many-20ms", "thirty writes of 700 bytes at 20 ms", 20, 0,
              response=(700,) * 30, exchanges=5),
    ]  # fmt: skip


def _for_the_worse() -> list[Plan]:
    return [
        _plan("sndbuf=16K, rcvbuf=16K, initcwnd=4, rtt=40ms", "worse-500k-20ms", "500 KB at 20 ms", 20, 500_000),
        _plan("nodelay=0, reuse-connection=0, delayed-ack=0", "worse-writes-10ms", "two writes without Nagle at 10 ms",
              10, 300, request=(200, 300), upload=True, exchanges=10, nodelay=True),
        _plan("reuse-connection=0, slow-start-after-idle=1, initcwnd=4", "worse-idle-25ms",
              "100 KB four times at 25 ms, no idle restart", 25, 100_000, exchanges=4, think_ms=600,
              idle_restart=False),
        _plan("sndbuf=32K, rate=20Mbit, sndbuf=16K", "worse-rate-20ms", "2 MB at 20 ms over 100 Mbit/s", 20,
              2_000_000, rate=100e6),
        _plan("rcvbuf=32K, sndbuf=256K", "worse-window-30ms", "700 KB at 30 ms, the kernel's window", 30, 700_000,
              roomy=False),
    ]  # fmt: skip


def _bbr() -> list[Plan]:
    return [
        _plan("initcwnd=40, loss=0", "bbr-500k-30ms", "500 KB at 30 ms, BBR", 30, 500_000, control="bbr"),
        _plan(f"{_OFF}, initcwnd=40", "bbr-100k-40ms", "100 KB three times at 40 ms, BBR", 40, 100_000, exchanges=3,
              think_ms=800, control="bbr"),
        _plan("reuse-connection=1, initcwnd=20", "bbr-new-20ms", "60 KB, a new connection each time, BBR", 20, 60_000,
              exchanges=4, reuse=False, control="bbr"),
        _plan("rate=100Mbit", "bbr-rate-20ms", "1 MB at 20 ms over 20 Mbit/s, BBR", 20, 1_000_000, rate=20e6,
              control="bbr"),
    ]  # fmt: skip


def _lossier_paths() -> list[Plan]:
    """Each run throws the dice anew, so more runs are made: where losses fall decides much."""
    return [
        _plan("loss=1%, loss=3%", "lossy-500k-20ms", "500 KB at 20 ms", 20, 500_000, runs=21),
        _plan("loss=1%", "lossy-60k-40ms", "60 KB eight times at 40 ms", 40, 60_000, exchanges=8, runs=21),
        _plan("loss=0.5%, loss=2%", "lossy-2m-15ms", "2 MB at 15 ms, 1 % lost", 15, 2_000_000, loss=0.01, runs=21),
        _plan("loss=2%", "lossy-300k-30ms-reno", "300 KB twice at 30 ms, reno", 30, 300_000, exchanges=2, runs=21,
              control="reno"),
    ]  # fmt: skip


def _other_queues() -> list[Plan]:
    return [
        _plan("queue=32K, queue=64K, queue=128K", "depth-3m-20ms", "3 MB at 20 ms over 20 Mbit/s, a deep queue", 20,
              3_000_000, rate=20e6, queue=1_000_000),
        _plan("queue=200K, queue=24K", "depth-1m-30ms", "1 MB at 30 ms over 15 Mbit/s, 60 KB of queue", 30, 1_000_000,
              rate=15e6, queue=60_000),
        _plan("queue=40K, queue=300K", "depth-400k-25ms-reno", "400 KB twice at 25 ms over 30 Mbit/s, reno", 25,
              400_000, rate=30e6, queue=100_000, exchanges=2, control="reno"),
    ]  # fmt: skip


def _other_controls() -> list[Plan]:
    return [
        _plan("cc=reno, cc=bbr", "cc-400k-25ms", "400 KB at 25 ms", 25, 400_000),
        _plan("cc=cubic, cc=bbr", "cc-300k-40ms-reno", "300 KB twice at 40 ms, reno, 700 ms between", 40, 300_000,
              exchanges=2, think_ms=700, control="reno"),
        _plan("cc=reno, cc=bbr", "cc-3m-20ms-rate", "3 MB at 20 ms over 20 Mbit/s, 80 KB of queue", 20, 3_000_000,
              rate=20e6, queue=80_000),
        _plan("cc=cubic, cc=bbr", "cc-2m-30ms-reno-rate", "2 MB at 30 ms over 15 Mbit/s, 60 KB of queue, reno", 30,
              2_000_000, rate=15e6, queue=60_000, control="reno"),
        _plan("cc=reno, cc=bbr", "cc-500k-30ms-loss", "500 KB at 30 ms, 1 % lost", 30, 500_000, runs=5, loss=0.01),
        _plan("cc=bbr, cc=cubic", "cc-1m-25ms-reno-loss", "1 MB at 25 ms, reno, 1 % lost", 25, 1_000_000, runs=21,
              loss=0.01, control="reno"),
        _plan("cc=bbr", "cc-150k-40ms-loss", "150 KB four times at 40 ms, 600 ms between, 0.5 % lost", 40, 150_000,
              exchanges=4, think_ms=600, runs=21, loss=0.005),
        _plan("cc=bbr", "cc-4m-30ms-queue", "4 MB at 30 ms over 40 Mbit/s, 60 KB of queue", 30, 4_000_000, rate=40e6,
              queue=60_000),
        _plan("cc=bbr", "cc-200k-20ms-up", "uploads of 200 KB three times at 20 ms", 20, 200, request=(200_000,),
              exchanges=3, think_ms=500, upload=True, roomy=False),
        _plan("cc=cubic", "cc-600k-20ms-bbr-loss", "600 KB at 20 ms, BBR, 1 % lost", 20, 600_000, runs=21, loss=0.01,
              control="bbr"),
        _plan("cc=cubic, cc=reno", "cc-500k-30ms-bbr", "500 KB at 30 ms, BBR", 30, 500_000, control="bbr"),
    ]  # fmt: skip


def _one_end() -> list[Plan]:
    return [
        _plan("server.initcwnd=40, client.initcwnd=40, client.rcvbuf=32K", "end-200k-30ms", "200 KB at 30 ms", 30,
              200_000, roomy=False),
        _plan("client.sndbuf=auto, server.sndbuf=auto", "end-300k-25ms-up", "uploads of 300 KB, SO_SNDBUF 16 KB", 25,
              200, request=(300_000,), upload=True, exchanges=2, sndbuf=16 * _K, one_segment=True),
        _plan("server.nodelay=1, client.nodelay=1", "end-nagle-20ms", "head and body at 20 ms", 20, 0,
              response=(250, 900), exchanges=8),
        _plan(f"client.rcvbuf=auto, server.rcvbuf=auto, server.{_OFF}", "end-window-20ms",
              "200 KB twice at 20 ms, SO_RCVBUF 16 KB", 20, 200_000, exchanges=2, think_ms=700, rcvbuf=16 * _K,
              roomy=False),
    ]  # fmt: skip


def plans() -> list[Plan]:
    """All of them; the repository keeps none, each is drawn."""
    return [
        *_losses(), *_queues(), *_growing_windows(), *_send_buffers(), *_small_writes(), *_for_the_worse(), *_bbr(),
        *_lossier_paths(), *_other_queues(), *_other_controls(), *_one_end(),
    ]  # fmt: skip
