"""Random scenes for hypothesis: any path, any window, any transfer, with and without loss."""

from collections.abc import Callable

from hypothesis import strategies as st

from tests.scene.plan import Plan, Reader
from tests.scene.scene import Scene
from tests.scene.transfer import transfer

MOST_BYTES = 120_000


@st.composite
def plans(draw: st.DrawFn, *, lossy: bool) -> Plan:
    sizes = draw(st.lists(st.integers(1, MOST_BYTES // 2), min_size=1, max_size=3))
    pauses = draw(st.lists(st.floats(0, 400), min_size=len(sizes), max_size=len(sizes)))
    lost = st.lists(st.integers(0, MOST_BYTES), max_size=4) if lossy else st.just([])
    return Plan(
        writes=tuple(zip(sorted(pauses), sizes, strict=True)),
        reader=Reader(
            buffer=draw(st.sampled_from([4_000, 20_000, 65_535, 1_000_000])),
            pauses=draw(st.sampled_from([(), ((10_000, 300.0),)])),
        ),
        tso=draw(st.sampled_from([1, 2, 5, 40])),
        send_buffer=draw(st.sampled_from([None, None, 20_000, 60_000])),
        nodelay=draw(st.booleans()),
        pace=draw(st.sampled_from([None, None, None, 200_000.0])),
        ack_every=draw(st.sampled_from([1, 2])),
        delayed_ack_ms=draw(st.sampled_from([None, None, 40.0])),
        lose=tuple(draw(lost)),
        until_ms=60_000,
    )


@st.composite
def acts(draw: st.DrawFn, *, lossy: bool = False) -> Callable[[Scene], None]:
    """A function that plays a random connection on an empty stage."""
    rtt_ms = draw(st.sampled_from([1, 7, 20, 100]))
    mbit = draw(st.sampled_from([None, None, None, 2, 10]))
    scales = draw(st.sampled_from([(7, 7), (10, 0), (0, 0), (None, None)]))
    timestamps = draw(st.booleans())
    lost_syns = draw(st.sampled_from([0, 0, 0, 1])) if lossy else 0
    transfers = draw(st.lists(st.tuples(st.booleans(), plans(lossy=lossy)), min_size=1, max_size=3))
    silence = draw(st.sampled_from([0, 50, 2_000]))
    ending = draw(st.sampled_from(["closes", "client_resets", "nothing"]))

    def play(scene: Scene) -> None:
        scene.handshake(
            rtt_ms=rtt_ms, client_scale=scales[0], server_scale=scales[1], timestamps=timestamps, lost_syns=lost_syns
        )
        scene.path(rtt_ms=rtt_ms, client_mbit=mbit, server_mbit=mbit)
        for from_client, plan in transfers:
            ends = (scene.client, scene.server) if from_client else (scene.server, scene.client)
            transfer(*ends, plan)
            scene.wait_ms(silence)
        if ending != "nothing":
            getattr(scene, ending)()

    return play
