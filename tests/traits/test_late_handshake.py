"""A sender whose answer in the handshake came late, without timestamps: the rounds of its data show how far it is."""

from tests.causes.triple import fires, near_miss
from tests.scene import Scene

SEGMENT = 1_460
RTT_MS = 40


def handshake(scene: Scene, answer_ms: float) -> None:
    """The server's answer to the SYN comes so much later than the path takes; then it has something to send at once."""
    scene.handshake(rtt_ms=RTT_MS, timestamps=False, answer_ms=answer_ms)


def waits(scene: Scene) -> list[tuple[str, bool]]:
    """Cause of each of the server's waits, seen beside the client, and whether it is sure."""
    rows = [row for row in scene.flow("client")["stalls"] if row["sender"] == "server" and row["cause"] != "handshake"]
    return [(row["cause"], row["confidence"] >= 0.8) for row in rows]


def upload(scene: Scene, answer_ms: float) -> set[str]:
    """Causes of the waits of a transfer in slow start."""
    handshake(scene, answer_ms)
    scene.server_transfers(300_000, tso=1)
    found = [cause for cause, _ in waits(scene)]
    assert len(found) > 3
    return set(found)


@fires
def test_data_that_comes_a_little_before_its_ack_could_have_shows_a_nearer_sender(scene: Scene) -> None:
    assert upload(scene, answer_ms=3) == {"cwnd-limited"}


@fires
def test_a_burst_cut_within_the_data_shows_it_at_once_however_late_the_answer_was(scene: Scene) -> None:
    assert upload(scene, answer_ms=20) == {"cwnd-limited"}


@near_miss
def test_a_writer_that_keeps_a_beat_beside_an_answered_request_is_no_nearer(scene: Scene) -> None:
    """The server's kernel acknowledges the request at once: that confirms the distance, whatever the SYN took."""
    handshake(scene, answer_ms=3)
    scene.client_sends(147)
    scene.server_acks()
    scene.server_writes(*((0.9 * RTT_MS * beat, 2 * SEGMENT) for beat in range(12)), tso=1)
    found = [cause for cause, _ in waits(scene)][1:]
    assert len(found) > 5
    assert not {"cwnd-limited", "sndbuf-limited"} & set(found), found


@near_miss
def test_bursts_that_never_grow_and_end_with_psh_are_not_surely_the_applications(scene: Scene) -> None:
    """They may be a full send buffer, nearer than the handshake said, or writes at a beat."""
    handshake(scene, answer_ms=20)
    for _ in range(12):
        scene.server_sends(4 * SEGMENT, tso=1)
        scene.client_acks()
        scene.server.now_ns = scene.server.acts_ns()
    assert not any(sure for _, sure in waits(scene))


def repaired(scene: Scene, *, answer_ms: float) -> list[str]:
    """Causes of the later waits of such a transfer. Before it a timer had sent the first of four segments again in
    vain, and new data had followed 15 ms later, sooner than the ACK of the four reached the server."""
    handshake(scene, answer_ms)
    begin = scene.server.acts_ns()
    scene.server_sends(4 * SEGMENT, tso=1, push=False)
    scene.server.now_ns = begin + 10_000_000
    scene.server_repeats(0, SEGMENT, push=False)
    scene.server.now_ns = begin + 25_000_000
    scene.server_sends(2 * SEGMENT, tso=1, push=False)
    scene.client.now_ns = scene.client.heard_ns = begin + 20_100_000
    scene.client_acks(upto=4 * SEGMENT)
    scene.client.now_ns = scene.client.heard_ns = begin + 45_100_000
    scene.client_acks(upto=6 * SEGMENT)
    scene.server_transfers(300_000, tso=1)
    return [cause for cause, _ in waits(scene)][-3:]


@fires
def test_data_that_follows_a_needless_repair_is_no_answer_to_a_later_ack(scene: Scene) -> None:
    """An earlier duplicate ACK or a timer let it go (RFC 3042)."""
    assert repaired(scene, answer_ms=0) == ["cwnd-limited"] * 3


@near_miss
def test_two_round_trips_after_a_repair_rounds_show_a_nearer_sender_again(scene: Scene) -> None:
    assert repaired(scene, answer_ms=3) == ["cwnd-limited"] * 3
