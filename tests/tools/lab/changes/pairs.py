"""The pairs: a situation, and changes really made to it one by one."""

from dataclasses import dataclass
from typing import Any

from tests.tools.lab.changes.situation import Situation

_K = 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """One situation, the changes, and how often each is run; `ranked` where the changes compete to be the remedy."""

    situation: Situation
    changes: tuple[str, ...]
    runs: int = 5
    ranked: bool = False


def _plan(changes: str, name: str, why: str, rtt_ms: float, size: int, *, runs: int = 5, ranked: bool = False,
          **figures: Any) -> Plan:  # fmt: skip
    """Changes apart by commas; `size` is the response's, where `response` is not among the figures."""
    figures.setdefault("response", (size,))
    return Plan(Situation(name, why, rtt_ms, **figures), tuple(changes.split(", ")), runs, ranked)


def _initial_windows() -> list[Plan]:
    return [
        _plan("initcwnd=20", "iw-24k-5ms", "24 KB at 5 ms", 5, 24_000),
        _plan("initcwnd=20, initcwnd=40", "iw-30k-100ms", "30 KB at 100 ms", 100, 30_000),
        _plan("initcwnd=20, initcwnd=40", "iw-64k-50ms", "64 KB at 50 ms", 50, 64_000),
        _plan("initcwnd=20, initcwnd=40, initcwnd=100", "iw-200k-20ms", "200 KB at 20 ms", 20, 200_000, ranked=True),
        _plan("initcwnd=100", "iw-512k-5ms", "512 KB at 5 ms", 5, 512 * _K),
        _plan("initcwnd=40, initcwnd=100", "iw-512k-100ms", "512 KB at 100 ms", 100, 512 * _K),
        _plan("initcwnd=100", "iw-140k-100ms-v6", "140 KB at 100 ms, IPv6", 100, 140_000, family=6),
        _plan("initcwnd=100", "iw-512k-20ms-window", "512 KB at 20 ms into a receive window of 64 KB that grows", 20,
              512 * _K, roomy=False),
        _plan("initcwnd=40", "iw-100k-50ms-reno", "100 KB at 50 ms, reno", 50, 100_000, control="reno"),
        _plan("initcwnd=40", "iw-300k-35ms-up", "an upload of 300 KB at 35 ms", 35, 200, request=(300_000,),
              upload=True),
    ]  # fmt: skip


def _send_buffers() -> list[Plan]:
    return [
        _plan("sndbuf=64K, sndbuf=auto", "sb1-16k-20ms", "SO_SNDBUF 16 KB, one segment a buffer, 1 MB at 20 ms", 20,
              1 << 20, sndbuf=16 * _K, one_segment=True),
        _plan("sndbuf=auto", "sb1-64k-20ms", "SO_SNDBUF 64 KB, one segment a buffer, 1.5 MB at 20 ms", 20, 3 << 19,
              sndbuf=64 * _K, one_segment=True),
        _plan("sndbuf=64K, sndbuf=auto", "sb1-16k-5ms", "SO_SNDBUF 16 KB, one segment a buffer, 200 KB at 5 ms", 5,
              200_000, sndbuf=16 * _K, one_segment=True),
        _plan("sndbuf=64K, sndbuf=auto", "sb1-16k-100ms", "SO_SNDBUF 16 KB, one segment a buffer, 300 KB at 100 ms",
              100, 300_000, sndbuf=16 * _K, one_segment=True),
        _plan("sndbuf=64K, sndbuf=auto", "sb-16k-20ms", "SO_SNDBUF 16 KB, 2 MB at 20 ms", 20, 2 << 20,
              sndbuf=16 * _K),
        _plan("sndbuf=auto", "sb-64k-50ms", "SO_SNDBUF 64 KB, 4 MB at 50 ms", 50, 4 << 20, sndbuf=64 * _K),
        _plan("sndbuf=auto", "sb-32k-100ms-up", "an upload of 1 MB at 100 ms, SO_SNDBUF 32 KB", 100, 200,
              request=(1 << 20,), upload=True, sndbuf=32 * _K),
        _plan("sndbuf=130K, sndbuf=auto", "sb1-22m-20ms-100mbit",
              "22 MB at 20 ms over 100 Mbit/s, SO_SNDBUF 16 KB, one segment a buffer", 20, 22_000_000,
              sndbuf=16 * _K, one_segment=True, rate=100e6, runs=3),
    ]  # fmt: skip


def _receive_buffers() -> list[Plan]:
    small: dict[str, Any] = {"rcvbuf": 8 * _K, "roomy": False}
    return [
        _plan("rcvbuf=auto", "rb-8k-5ms", "SO_RCVBUF 8 KB, 300 KB at 5 ms", 5, 300_000, **small),
        _plan("rcvbuf=64K, rcvbuf=auto", "rb-8k-40ms", "SO_RCVBUF 8 KB, 200 KB at 40 ms", 40, 200_000, **small),
        _plan("rcvbuf=auto", "rb-8k-100ms", "SO_RCVBUF 8 KB, 100 KB at 100 ms", 100, 100_000, **small),
        _plan("rcvbuf=auto", "rb-32k-20ms", "SO_RCVBUF 32 KB, 1 MB at 20 ms", 20, 1 << 20, rcvbuf=32 * _K,
              roomy=False),
    ]  # fmt: skip


def _idle_times() -> list[Plan]:
    off = "slow-start-after-idle=0"
    return [
        _plan(off, "idle-512k-3.5ms", "512 KB twice at 3.5 ms, 3 s between", 3.5, 512 * _K, exchanges=2,
              think_ms=3000),
        _plan(off, "idle-512k-20ms", "512 KB three times at 20 ms, 1 s between", 20, 512 * _K, exchanges=3,
              think_ms=1000),
        _plan(off, "idle-200k-50ms", "200 KB four times at 50 ms, 1.5 s between", 50, 200_000, exchanges=4,
              think_ms=1500),
        _plan(off, "idle-100k-100ms", "100 KB four times at 100 ms, 2 s between", 100, 100_000, exchanges=4,
              think_ms=2000),
    ]  # fmt: skip


def _small_writes() -> list[Plan]:
    two: dict[str, Any] = {"request": (200, 300), "upload": True}
    return [
        _plan("nodelay=1", "nagle-1ms", "requests in two writes at 1 ms", 1, 100, exchanges=12, **two),
        _plan("nodelay=1", "nagle-20ms", "requests in two writes at 20 ms", 20, 100, exchanges=12, **two),
        _plan("nodelay=1", "nagle-50ms", "requests in two writes, 1.7 KB, at 50 ms", 50, 400, exchanges=8,
              request=(300, 1400), upload=True),
        _plan("nodelay=1", "nagle-response-20ms", "responses as head and body at 20 ms", 20, 0, exchanges=10,
              response=(250, 900)),
    ]  # fmt: skip


def _distances() -> list[Plan]:
    return [
        _plan("rtt=20ms, rtt=100ms", "near-rpc-1ms", "20 small requests at 1 ms", 1, 900, exchanges=20),
        _plan("rtt=20ms, rtt=100ms", "near-30k-1ms", "30 KB each way at 1 ms, 4 times", 1, 30_000, exchanges=4,
              request=(30_000,)),
        _plan("rtt=20ms, rtt=100ms", "near-512k-1ms", "512 KB at 1 ms", 1, 512 * _K),
        _plan("rtt=100ms", "near-30k-20ms", "30 KB each way at 20 ms, 4 times", 20, 30_000, exchanges=4,
              request=(30_000,)),
        _plan("rtt=100ms", "near-new-1ms", "5 requests on a new connection each at 1 ms", 1, 20_000, exchanges=5,
              reuse=False),
    ]  # fmt: skip


def _new_connections() -> list[Plan]:
    again = "reuse-connection=1"
    return [
        _plan(again, "new-30k-100ms", "30 KB each way at 100 ms, a new connection each time", 100, 30_000,
              exchanges=3, request=(30_000,), reuse=False),
        _plan(again, "new-100k-20ms", "100 KB at 20 ms, a new connection each time", 20, 100_000, exchanges=6,
              think_ms=20, reuse=False),
        _plan(again, "new-2k-5ms", "2 KB at 5 ms, a new connection each time", 5, 2000, exchanges=12, reuse=False),
        _plan(again, "new-200k-50ms", "200 KB at 50 ms, a new connection each time, 100 ms between", 50, 200_000,
              exchanges=4, think_ms=100, reuse=False),
    ]  # fmt: skip


def _several_remedies() -> list[Plan]:
    """Each remedy alone, so that their true order is known."""
    old: dict[str, Any] = {"one_segment": True, "ranked": True}
    off = "slow-start-after-idle=0"
    return [
        _plan(f"sndbuf=auto, initcwnd=40, {off}", "many-sndbuf-50ms", "300 KB twice at 50 ms, SO_SNDBUF 16 KB", 50,
              300_000, exchanges=2, think_ms=1000, sndbuf=16 * _K, **old),
        _plan("reuse-connection=1, initcwnd=40, initcwnd=20", "many-new-50ms",
              "60 KB at 50 ms, a new connection each time", 50, 60_000, exchanges=4, reuse=False, ranked=True),
        _plan(f"{off}, initcwnd=40, initcwnd=100, nodelay=1", "many-idle-20ms",
              "300 KB three times at 20 ms, 1 s between", 20, 300_000, exchanges=3, think_ms=1000, ranked=True),
        _plan("nodelay=1, delayed-ack=0, initcwnd=40", "many-nagle-10ms", "requests in two writes at 10 ms", 10, 100,
              exchanges=12, request=(200, 300), upload=True, ranked=True),
        _plan("rcvbuf=auto, sndbuf=auto, initcwnd=40", "many-rcvbuf-20ms",
              "300 KB at 20 ms, SO_RCVBUF 8 KB and SO_SNDBUF 16 KB", 20, 300_000, rcvbuf=8 * _K, roomy=False,
              sndbuf=16 * _K, **old),
        _plan("sndbuf=auto, rcvbuf=auto, initcwnd=40", "many-both-40ms",
              "400 KB at 40 ms, SO_SNDBUF 16 KB and SO_RCVBUF 64 KB", 40, 400_000, rcvbuf=64 * _K, roomy=False,
              sndbuf=16 * _K, **old),
        _plan("sndbuf=auto, rate=100Mbit, initcwnd=40", "many-rate-sndbuf-20ms",
              "2 MB at 20 ms over 20 Mbit/s, SO_SNDBUF 16 KB", 20, 2_000_000, rate=20e6, sndbuf=16 * _K, **old),
        _plan("rate=100Mbit, initcwnd=40, rtt=10ms", "many-rate-20ms", "1.5 MB at 20 ms over 10 Mbit/s", 20,
              1_500_000, rate=10e6, ranked=True),
        _plan(f"reuse-connection=1, initcwnd=20, {off}", "many-new-100ms",
              "20 KB at 100 ms, a new connection each time", 100, 20_000, exchanges=5, reuse=False, ranked=True),
        _plan("rtt=20ms, initcwnd=100, initcwnd=40", "many-far-100ms", "300 KB at 100 ms", 100, 300_000, ranked=True),
        _plan(f"{off}, initcwnd=40, initcwnd=100, nodelay=1", "many-up-30ms",
              "uploads of 300 KB at 30 ms, 800 ms between", 30, 200,
              exchanges=4, request=(300_000,), think_ms=800, upload=True, ranked=True),
        _plan("sndbuf=auto, reuse-connection=1, initcwnd=40", "many-sndbuf-new-20ms",
              "200 KB at 20 ms, a new connection each time, SO_SNDBUF 16 KB", 20, 200_000, exchanges=4, reuse=False,
              sndbuf=16 * _K, **old),
        _plan(f"initcwnd=40 {off}, initcwnd=40, initcwnd=100, {off}", "many-idle-100ms",
              "150 KB three times at 100 ms, 1.5 s between", 100, 150_000, exchanges=3, think_ms=1500, ranked=True),
    ]  # fmt: skip


def _measured_rates() -> list[Plan]:
    return [
        _plan("cc=bbr", "cc-300k-25ms", "300 KB twice at 25 ms", 25, 300_000, exchanges=2, think_ms=500),
        _plan("initcwnd=40, cc=cubic", "cc-300k-30ms-bbr", "300 KB at 30 ms, BBR", 30, 300_000, control="bbr"),
    ]  # fmt: skip


def plans() -> list[Plan]:
    """All of them."""
    return [
        *_initial_windows(), *_send_buffers(), *_receive_buffers(), *_idle_times(), *_small_writes(), *_distances(),
        *_new_connections(), *_measured_rates(), *_several_remedies(),
    ]  # fmt: skip
