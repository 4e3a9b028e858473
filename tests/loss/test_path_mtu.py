"""Full segments that are too large for the path, where nobody tells their sender (RFC 2923 §2.1)."""

import pytest

from tcpstall.findings import advice, sentence
from tests.headline.found import found
from tests.scene import Scene

SEGMENT = 1_448
SHORT = 600


def transfer(scene: Scene, first: int, *, then: int = SEGMENT, timeouts: int = 4) -> None:
    """A first message arrives; what follows never does, however often the timer sends it again."""
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_sends(first)
    scene.request()
    scene.server_sends(2 * then, tso=1, lost=True)
    for attempt in range(timeouts):
        scene.wait_ms(250 * 2**attempt)
        scene.server_repeats(first, then, lost=True)
    scene.client_closes()


def test_where_only_shorter_segments_arrive_the_path_is_too_narrow(scene: Scene) -> None:
    transfer(scene, SHORT)
    first = next(iter(found(scene).values()))
    assert first.kind == "path-mtu"
    assert "1,448 bytes" in sentence(first)
    assert "tcp_mtu_probing" in advice(first)


@pytest.mark.parametrize(
    "how",
    [{"first": 2 * SEGMENT}, {"first": SHORT, "then": SHORT}, {"first": SHORT, "timeouts": 2}],
    ids=["a-full-one-arrived", "short-ones-are-lost-too", "twice-is-chance"],
)
def test_other_losses_say_nothing_of_sizes(scene: Scene, how: dict[str, int]) -> None:
    transfer(scene, **how)
    assert "path-mtu" not in found(scene)
