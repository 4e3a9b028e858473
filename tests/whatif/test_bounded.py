"""No prediction promises more than the capture shows to be lost to what it changes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall.causes import Cause
from tcpstall.whatif import Change, Forecast, whatif
from tests.scene import Scene
from tests.scene.scene import Scene as Stage
from tests.scene.strategies import acts
from tests.whatif.bounds import broken_promises
from tests.whatif.played import changes

FIXTURES = Path(__file__).parents[2] / "fixtures"
TRANSFERS = sorted((FIXTURES / "lab").glob("*/*.pcap*")) + sorted((FIXTURES / "pairs").glob("*/before.pcap.gz"))

ASKED = [
    changes(text)
    for text in (
        "initcwnd=40",
        "initcwnd=100",
        "sndbuf=auto",
        "sndbuf=64K",
        "rcvbuf=auto",
        "rcvbuf=1M",
        "slow-start-after-idle=0",
        "nodelay=1",
        "delayed-ack=0",
        "reuse-connection=1",
        "loss=0",
        "think=0",
        "rate=1Gbit",
        "rtt=1ms",
    )
] + [changes("initcwnd=100", "sndbuf=auto", "rcvbuf=auto")]

WINDOWS = ("initcwnd=100", "initcwnd=20", "sndbuf=auto", "sndbuf=1M", "rcvbuf=auto", "rcvbuf=1M")


def forecasts(capture: str | Path) -> Iterator[Forecast]:
    yield from whatif(capture).forecasts
    yield from whatif(capture, changes=ASKED).forecasts


@pytest.mark.parametrize("capture", TRANSFERS, ids=lambda path: "-".join(path.relative_to(FIXTURES).parts))
def test_no_prediction_of_a_real_transfer_exceeds_what_its_causes_own(capture: Path) -> None:
    measured = "bbr" in capture.parent.name
    assert [line for one in forecasts(capture) for line in broken_promises(one, measured=measured)] == []


@given(acts(lossy=True), st.sampled_from(["client", "between", "server"]))
def test_no_prediction_of_any_connection_exceeds_what_its_causes_own(act: Callable[[Stage], None], tap: str) -> None:
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        act(scene)
        found = list(forecasts(scene.capture(tap)))  # type: ignore[arg-type]
    assert [line for forecast in found for line in broken_promises(forecast)] == []


def lossy(scene: Scene, *lose: int, rtt_ms: float = 20, lost_syns: int = 0) -> Path:
    scene.handshake(rtt_ms=rtt_ms, lost_syns=lost_syns)
    scene.download(200_000, lose=lose)
    scene.closes()
    return Path(scene.capture("server"))


def saved(capture: Path, *texts: str) -> dict[str, int]:
    """By change; a change whose effect depends on where losses fall promises nothing."""
    sets = [changes(text) for text in texts]
    (forecast,) = whatif(capture, changes=sets).forecasts
    assert forecast.refused is None
    assert {one.refused for one in forecast.unpredicted} <= {"luck"}
    gains = {outcome.changes: outcome.saved_ns for outcome in forecast.outcomes}
    return {text: gains.get(tuple(changes(text)), 0) for text in texts}


TAIL = (199_000, 199_999)
BURST = (30_000, 32_000, 34_000, 36_000, 38_000)


@pytest.mark.parametrize("lose", [TAIL, BURST, (*BURST, *TAIL)], ids=["tail", "burst", "both"])
def test_no_window_removes_a_loss(scene: Scene, lose: tuple[int, ...]) -> None:
    """With losses or without, a window saves the same round trips at most: those in which it was full."""
    with TemporaryDirectory() as folder:
        whole = Scene(Path(folder))
        whole.handshake(rtt_ms=20)
        whole.download(200_000)
        whole.closes()
        most = saved(Path(whole.capture("server")), *WINDOWS)
    for change, gain in saved(lossy(scene, *lose), *WINDOWS).items():
        assert gain <= max(0, most[change]) + 2_000_000, change


@pytest.mark.parametrize("lose", [(199_000,) * 3, (*BURST, *TAIL)], ids=["repairs", "burst and tail"])
def test_the_cure_of_losses_is_ranked_before_any_window(scene: Scene, lose: tuple[int, ...]) -> None:
    (forecast,) = whatif(lossy(scene, *lose)).forecasts
    # Until the first report of a loss the window holds the sender.
    assert 2 * forecast.flow.time_ns[Cause.RETRANSMISSION] > forecast.flow.time_ns.get(Cause.CWND_LIMITED, 0)
    assert forecast.outcomes[0].changes == (Change("loss", 0),)


def test_no_window_removes_a_lost_handshake(scene: Scene) -> None:
    gains = saved(lossy(scene, lost_syns=2), *WINDOWS)
    assert max(gains.values()) < 200_000_000


def test_a_reused_connection_has_the_window_that_its_receiver_has_grown() -> None:
    capture = FIXTURES / "pairs" / "rb-8k-40ms" / "before.pcap.gz"
    (forecast,) = whatif(capture, changes=[changes("reuse-connection=1")]).forecasts
    ledger = forecast.flow.time_ns
    owners = (Cause.HANDSHAKE, Cause.CWND_LIMITED, Cause.RWND_LIMITED)
    assert ledger[Cause.RWND_LIMITED] > 1_000_000
    assert forecast.outcomes[0].owned_ns == sum(ledger.get(owner, 0) for owner in owners)


def test_a_buffer_that_large_frames_fill_owns_the_growth_that_it_held_back() -> None:
    capture = FIXTURES / "pairs" / "sb-64k-50ms" / "before.pcap.gz"
    (forecast,) = whatif(capture, changes=[changes("sndbuf=auto")]).forecasts
    ledger = forecast.flow.time_ns
    assert ledger[Cause.CWND_LIMITED] > 1_000_000
    assert forecast.outcomes[0].owned_ns == ledger[Cause.SNDBUF_LIMITED] + ledger[Cause.CWND_LIMITED]
