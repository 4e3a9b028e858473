"""The tap's distance from a sender whose handshake the capture lacks, inferred from rounds of burst and silence."""

from tests.causes.triple import NOT_A_STALL_MS, SYNS, causes, fires, look_alike, near_miss, share
from tests.scene import Reader, Scene
from tests.scene.verdict import Stall


@fires
def test_flights_that_double_every_40_ms_show_a_receiver_40_ms_away(scene: Scene) -> None:
    """No handshake and no timestamps: all that is left are rounds of one length, whose flights grow."""
    scene.handshake(rtt_ms=40, timestamps=False)
    scene.server_writes((0, 400_000))
    assert share(scene, "cwnd-limited", "client", drop=SYNS) > 0.9


@fires
def test_a_full_window_shows_at_a_receiver_without_the_handshake(scene: Scene) -> None:
    scene.handshake(rtt_ms=40, timestamps=False, client_scale=None, client_window=5_840)
    scene.server_writes((0, 150_000), nodelay=True, reader=Reader(buffer=5_840))
    assert share(scene, "rwnd-limited", "client", drop=SYNS) > 0.8


@near_miss
def test_two_rounds_show_no_distance(scene: Scene) -> None:
    scene.handshake(rtt_ms=40, timestamps=False)
    scene.server_writes((0, 40 * 1_460))
    stalls: list[Stall] = scene.stalls("server", "client", over_ms=NOT_A_STALL_MS, drop=SYNS)
    assert len(stalls) == 2
    assert scene.flow("client", drop=SYNS)["vantage"]["side"] == "unknown"


@look_alike
def test_a_neighbour_that_writes_at_the_tick_of_a_timer_is_not_40_ms_away(scene: Scene) -> None:
    """Each write is ten whole segments, and PSH marks its end."""
    scene.handshake(rtt_ms=0.2, timestamps=False)
    scene.server_writes(*((40.0 * i, 14_600) for i in range(12)), nodelay=True, tso=1)
    assert causes(scene, "client", drop=SYNS) == ["app-limited"]
