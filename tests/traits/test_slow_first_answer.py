"""Hosts that take longer for their answer to the SYN than for later ones, where no timestamps measure the distance."""

import pytest

from tests.causes.triple import causes
from tests.scene import Scene

SEGMENT = 1_460
LATER_NS = 150_000
"""What the host takes for its later answers."""


def standing(scene: Scene, *, answer_ms: float = 0.4, push: bool = True) -> list[tuple[str, bool]]:
    """Six segments stand in flight for twenty rounds, each at the ACKs of those before: (cause, sure) of its waits."""
    scene.handshake(rtt_ms=40, timestamps=False, answer_ms=answer_ms)
    for turn in range(20):
        for segment in range(6):
            scene.server_sends(SEGMENT, tso=1, push=push or segment == 5)
        for part in range(1, 7):
            scene.client_acks(upto=(6 * turn + part) * SEGMENT)
        scene.server.now_ns = scene.server.acts_ns() + LATER_NS
    rows = [row for row in scene.flow("server")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 10e6]
    return [(row["cause"], row["confidence"] >= 0.8) for row in rows]


def test_data_at_the_acks_of_a_silence_answers_them_though_the_syn_was_answered_later(scene: Scene) -> None:
    assert "app-limited" not in [cause for cause, _ in standing(scene)]


def test_a_host_may_take_milliseconds_for_the_syn(scene: Scene) -> None:
    """A tenth of the path, and far longer than hosts take for later answers: two silences in a row show it."""
    assert "app-limited" not in [cause for cause, _ in standing(scene, answer_ms=4)][2:]


def test_data_that_follows_an_ack_soon_only_now_and_then_shows_no_slow_answer(scene: Scene) -> None:
    """Twice in three times the writes of a timer meet an ACK."""
    scene.handshake(rtt_ms=40, timestamps=False, answer_ms=4)
    for turn in range(30):
        scene.server_sends(700)
        scene.client_acks()
        scene.server.now_ns = scene.server.acts_ns() + (100_000, 150_000, 17_000_000)[turn % 3]
    rows = [row for row in scene.flow("server")["stalls"] if row["duration_ns"] > 50e6]
    assert len(rows) >= 9
    assert {row["cause"] for row in rows} == {"app-limited"}


def test_writes_that_no_ack_lets_go_do_not_answer_one_soon_after(scene: Scene) -> None:
    """Nor do they wait for the one just after them: what two clocks may have exchanged is `unexplained`."""
    scene.handshake(rtt_ms=40, timestamps=False, answer_ms=0.4)
    for _ in range(60):
        scene.server_sends(700)
        scene.client_acks()
        scene.server.now_ns += 17_000_000
    assert set(causes(scene, "server")) <= {"app-limited", "unexplained"}


def test_a_plateau_of_a_sender_that_marks_each_segment_is_no_sure_buffer(scene: Scene) -> None:
    """It may keep a window of its own that never grows."""
    assert ("sndbuf-limited", True) not in standing(scene, answer_ms=0)


def test_a_plateau_of_a_sender_that_marks_the_end_of_its_data_is_a_buffer(scene: Scene) -> None:
    assert ("sndbuf-limited", True) in standing(scene, answer_ms=0, push=False)


@pytest.mark.parametrize(("again_ms", "after_ms", "judged"), [(230, 5, False), (120, 300, True), (0, 230, True)])
def test_a_server_that_repeats_its_syn_ack_had_no_request(
    scene: Scene, again_ms: float, after_ms: float, judged: bool
) -> None:
    """Either the client's ACK or its request would have completed the handshake: the path lost or delayed both."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(663)
    if again_ms:
        scene.server.now_ns += round(again_ms * 1e6)
        scene.server_repeats_syn_ack()
        scene.client_acks()
    scene.server.now_ns += round(after_ms * 1e6)
    scene.server_sends(5_000)
    scene.client_acks()
    (row,) = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["duration_ns"] > 10**8]
    assert (row["cause"] == "app-limited") == judged
    assert (row["confidence"] >= 0.8) == (judged and not again_ms)
