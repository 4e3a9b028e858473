"""Suggestions could be carried out: no link or buffer smaller than what the flow had, and worth their place."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall.advice.treatment import treatments
from tcpstall.causes import Cause
from tcpstall.model import Flow
from tcpstall.report.whatif.words import written
from tcpstall.whatif import Forecast, change, whatif
from tests.documents import DOCS
from tests.scene import Scene
from tests.scene.scene import Scene as Stage
from tests.scene.strategies import acts
from tests.whatif.bounds import LIFTED
from tests.whatif.test_bounded import FIXTURES, TRANSFERS

SOLD = re.compile(r"rate=[125]0*Mbit")
LEAST_SIZE = 16_384
LEAST_NS = 1_000


def senseless(forecast: Forecast) -> Iterator[str]:
    """Suggestions that nobody would follow, a line each."""
    flow = forecast.flow
    for outcome in forecast.outcomes:
        (one,) = outcome.changes
        yield from senseless_change(flow, written(one), "client", "server")
        assert forecast.replayed is not None
        shorter = forecast.replayed.transfer_ns - outcome.transfer.expected_ns >= LEAST_NS
        if outcome.saved_ns < 0 or (outcome.saved_ns < LEAST_NS and not shorter):
            yield f"{written(one)} saves nothing"
    for size in forecast.sizing:
        if size.sndbuf_bytes is not None:
            yield from senseless_change(flow, f"sndbuf={size.sndbuf_bytes}", size.sender)
    for treatment in treatments(flow):
        for remedy in treatment.remedies:
            yield from senseless_change(flow, remedy.whatif or "", treatment.case.sender)


def senseless_change(flow: Flow, text: str, *senders: str) -> Iterator[str]:
    name, _, value = text.partition("=")
    if name == "rate":
        reached = max(direction.bytes for direction in flow.directions.values()) * 1e9 / max(1, flow.duration_ns)
        if not SOLD.fullmatch(text) or (change(text).value or 0) < 1.5 * reached:
            yield f"{text} for a flow that reached {reached * 8 / 1e6:.3f} Mbit/s"
    if name in ("sndbuf", "rcvbuf") and value != "auto":
        used = max(flow.directions[sender].max_in_flight_bytes for sender in senders)  # type: ignore[index]
        if (change(text).value or 0) < max(used, LEAST_SIZE):
            yield f"{text} for a flow with {used} in flight"
    if name == "initcwnd" and not 2 <= int(value) <= 100:
        yield text


@pytest.mark.parametrize("capture", TRANSFERS, ids=lambda path: "-".join(path.relative_to(FIXTURES).parts))
def test_nothing_senseless_is_suggested_for_a_real_transfer(capture: Path) -> None:
    assert [line for forecast in whatif(capture).forecasts for line in senseless(forecast)] == []


@given(acts(lossy=True), st.sampled_from(["client", "between", "server"]))
def test_nothing_senseless_is_suggested_for_any_connection(act: Callable[[Stage], None], tap: str) -> None:
    with TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        act(scene)
        found = whatif(scene.capture(tap)).forecasts  # type: ignore[arg-type]
    assert [line for forecast in found for line in senseless(forecast)] == []


def test_a_slow_modem_is_not_asked_for_another(scene: Scene) -> None:
    scene.path(rtt_ms=100, server_mbit=0.36)
    scene.handshake()
    scene.download(400_000)
    scene.closes()
    (forecast,) = whatif(scene.capture("server")).forecasts
    assert forecast.flow.time_ns[Cause.BANDWIDTH_LIMITED] > 1e9
    assert "rate=1Mbit" in {written(one) for outcome in forecast.outcomes for one in outcome.changes}
    (sizing,) = (size for size in forecast.sizing if size.sender == "server")
    assert sizing.sndbuf_bytes is not None
    assert sizing.sndbuf_bytes >= forecast.flow.directions["server"].max_in_flight_bytes


def test_each_change_is_bounded_by_the_causes_that_the_page_names() -> None:
    page = (DOCS / "whatif.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| (.*) \|$", page, re.MULTILINE))
    told = {name.strip("`"): text for names, text in rows.items() for name in names.split(", ")}
    for name, owners in LIFTED.items():
        if name != "rtt":
            assert all(f"`{owner}`" in told[name] for owner in owners if owner != "in-transit"), name
