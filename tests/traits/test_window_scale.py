"""The scale of a window whose SYN the capture lacks: the flights follow the window."""

from collections.abc import Iterable

from tests.causes.triple import SYNS, fires, look_alike, near_miss, share
from tests.scene import Scene
from tests.scene.network import Tap

SCALE = 8
SEGMENT = 1_260
FIELDS = (10, 15, 20, 25)


def fills(scene: Scene, fields: Iterable[int], *, whole: bool = True) -> None:
    """Each flight fills the window to less than a segment, or all flights are two segments."""
    scene.handshake(rtt_ms=40, mss=SEGMENT + 12, client_scale=SCALE, client_window=64_256)
    scene.request()
    scene.server_sends(SEGMENT)
    for field in fields:
        scene.client_acks(window=field << SCALE)
        segments = (field << SCALE) // SEGMENT if whole else 2
        scene.server_sends(segments * SEGMENT, push=False)


def overruns(scene: Scene, times: int) -> None:
    """The capture lacks the ACK between two flights: they seem to be out together."""
    for _ in range(times):
        scene.client_acks(window=10 << SCALE)
        scene.server_sends(4 * SEGMENT, push=False)


@fires
def test_windows_of_four_sizes_that_the_flights_fill_are_the_limit_although_two_flights_seem_larger(
    scene: Scene,
) -> None:
    fills(scene, FIELDS * 8)
    overruns(scene, 2)
    assert share(scene, "rwnd-limited", "client", drop=SYNS) > 0.6


@near_miss
def test_one_size_of_the_window_may_be_the_applications(scene: Scene) -> None:
    fills(scene, (10,) * 32)
    overruns(scene, 2)
    assert share(scene, "rwnd-limited", "client", drop=SYNS) < 0.2


@look_alike
def test_flights_that_stand_while_the_window_moves_are_not_filled_by_it(scene: Scene) -> None:
    fills(scene, FIELDS * 8, whole=False)
    overruns(scene, 2)
    assert share(scene, "rwnd-limited", "client", drop=SYNS) < 0.2


def requests(scene: Scene, size: int) -> float:
    """Share of the client's waits that a window of unknown scale has; the second of two writes fills most of it."""
    scene.handshake(rtt_ms=40, mss=SEGMENT + 12, server_scale=2, server_window=1_440)
    for _ in range(6):
        scene.client_sends(474)
        scene.server_acks(window=1_440)
        scene.client_sends(size)
        scene.server_acks(window=1_440)
        scene.server_sends(257)
    return share(scene, "rwnd-limited", "client", drop=SYNS, sender="client")


@look_alike
def test_writes_after_which_the_peer_speaks_fill_no_window(scene: Scene) -> None:
    assert requests(scene, 1_167) == 0


def test_without_its_handshake_a_window_is_taken_to_hold_a_segment_once(scene: Scene, tap: Tap) -> None:
    """The field alone says 63 bytes; under the smallest scale that makes it a segment, it holds both writes."""
    scene.handshake(rtt_ms=2, server_scale=10)
    for _ in range(4):
        scene.client_sends(100)
        scene.wait_ms(40)
        scene.server_acks()
        scene.client_sends(100)
        scene.server_sends(50)
    rows = scene.flow(tap, drop=(1, 2, 3))["stalls"]
    delayed = [row for row in rows if row["cause"] == "delayed-ack"]
    assert len(delayed) == 4
    assert not any(word.startswith("window scale") for row in delayed[1:] for word in row["missing"])


def cut_to_the_byte(scene: Scene, field: int, *, times: int = 6) -> float:
    """Share of a window of which each fifth flight fills the last byte; the others are short writes."""
    scene.handshake(rtt_ms=40, mss=SEGMENT + 12, client_scale=SCALE, client_window=64_256)
    scene.request()
    scene.server_sends(SEGMENT, push=False)
    window = field << SCALE
    for number in range(5 * times):
        scene.client_acks(window=window)
        if number % 5:
            scene.server_sends(300)
            continue
        scene.server_sends(SEGMENT, push=False)
        scene.server_sends(window - SEGMENT)
    return share(scene, "rwnd-limited", "client", drop=SYNS)


@fires
def test_segments_that_are_cut_to_the_byte_show_the_window_though_few_flights_fill_it(scene: Scene) -> None:
    assert cut_to_the_byte(scene, 9) > 0.1
    waits = [stall for stall in scene.flow("client", drop=SYNS)["stalls"] if stall["cause"] == "rwnd-limited"]
    assert waits
    assert all(stall["confidence"] >= 0.8 for stall in waits)


@near_miss
def test_flights_as_long_as_a_power_of_two_may_be_writes(scene: Scene) -> None:
    assert cut_to_the_byte(scene, 8) == 0


@near_miss
def test_two_segments_that_fill_a_window_to_the_byte_are_an_accident(scene: Scene) -> None:
    assert cut_to_the_byte(scene, 9, times=2) == 0
