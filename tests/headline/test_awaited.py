"""A late answer among small messages: a query met a lock, and the client asks on at once; no event, no typing."""

import pytest

from tests.headline.test_pushes import found
from tests.scene import Scene

QUERIES = (41, 11, 26, 33, 57, 14, 29, 62)
"""Bytes of each query."""


def asks(scene: Scene, *, late_ms: float, think_ms: float = 0, queries: tuple[int, ...] = QUERIES) -> None:
    """Queries with small answers; the fourth answer comes late, and the client thinks before each query."""
    scene.handshake(rtt_ms=20)
    for number, size in enumerate(queries):
        scene.wait_ms(think_ms)
        scene.client_sends(size)
        scene.server_acks()
        scene.wait_ms(late_ms if number == 3 else 2)
        scene.server_sends(60)
        scene.client_acks()
    scene.closes()


def test_a_late_answer_to_a_program_leads(scene: Scene) -> None:
    asks(scene, late_ms=2_500)
    rows = found(scene)
    assert next(iter(rows)) == "server-slow"
    assert rows["server-slow"].time_ns == pytest.approx(2.5e9, rel=0.05)
    assert rows["server-slow"].counted == 1


@pytest.mark.parametrize(
    ("late_ms", "think_ms", "queries"),
    [(300, 0, QUERIES), (2_500, 400, QUERIES), (2_500, 0, (26,) * 8)],
    ids=["soon-enough", "somebody-types", "acknowledgements-of-events"],
)
def test_a_message_that_nobody_may_have_waited_for_does_not(
    scene: Scene, late_ms: float, think_ms: float, queries: tuple[int, ...]
) -> None:
    asks(scene, late_ms=late_ms, think_ms=think_ms, queries=queries)
    assert "server-slow" not in found(scene)


@pytest.mark.parametrize(
    ("think_ms", "rtt_ms", "turns"),
    [(0, 100, True), (300, 100, False), (0, 0.2, False)],
    ids=["a-program", "somebody-types", "no-distance"],
)
def test_small_messages_of_a_program_lose_a_round_trip_each(
    scene: Scene, think_ms: float, rtt_ms: float, turns: bool
) -> None:
    scene.handshake(rtt_ms=rtt_ms)
    for size in QUERIES * 3:
        scene.wait_ms(think_ms)
        scene.client_sends(size)
        scene.server_sends(60)
        scene.client_acks()
    scene.closes()
    rows = found(scene)
    assert ("round-trips" in rows) == turns
    if turns:
        assert rows["round-trips"].time_ns == pytest.approx(24 * rtt_ms * 1e6, rel=0.1)


@pytest.mark.parametrize(
    ("sizes", "slow"),
    [
        (((32,) * 3, (32,), (32,) * 2, (32,) * 4), False),
        (((96,), (33,), (64,), (127,)), True),
        (((25,), (5,), (10,), (40,)), True),
    ],
    ids=["as-often-as-needed", "queries", "words-of-a-protocol-of-text"],
)
def test_several_acknowledgements_of_events_ask_no_more_than_one(
    scene: Scene, sizes: tuple[tuple[int, ...], ...], slow: bool
) -> None:
    """The client acknowledges each notice of the server with a message of its own: three notices, three messages."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    scene.wait_ms(3_000)
    for number, messages in enumerate(sizes):
        scene.server_sends(1_100)
        for size in messages:
            scene.client_sends(size)
            scene.server_acks()
        scene.wait_ms(8_000 + 900 * number)
    scene.server_sends(1_100)
    scene.client_acks()
    assert ("server-slow" in found(scene, drop=(1, 2))) == slow
