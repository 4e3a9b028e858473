"""Exchanges as the report holds them, in milliseconds and with their parts by name."""

from collections import Counter
from typing import Any

from tests.scene import Scene
from tests.scene.network import Tap


def exchanges_of(scene: Scene, tap: Tap | None = None) -> list[dict[str, Any]]:
    """The exchanges of the scene's flow, each with a sum that is exact."""
    flow = scene.flow(tap)
    for exchange in flow["exchanges"]:
        expect_exact_sum(exchange)
    return list(flow["exchanges"])


def expect_exact_sum(exchange: dict[str, Any]) -> None:
    assert sum(part["duration_ns"] for part in exchange["parts"]) == exchange["latency_ns"]
    assert all(part["duration_ns"] > 0 for part in exchange["parts"])


def parts_ms(exchange: dict[str, Any]) -> Counter[str]:
    """`request cwnd-limited` and the like to milliseconds; what is shorter than a millisecond is left out."""
    spans: Counter[str] = Counter()
    for part in exchange["parts"]:
        name = " ".join([part["part"], *([part["cause"]] if "cause" in part else [])])
        spans[name] += part["duration_ns"] / 1e6
    return Counter({name: round(ms) for name, ms in spans.items() if ms >= 1})
