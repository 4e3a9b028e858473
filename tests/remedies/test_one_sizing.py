"""Every command prints the same size for the same question: analyze, remedies, whatif and the page."""

import re
from collections.abc import Callable, Sequence

import pytest

from tcpstall import Cause, analyze
from tcpstall.advice.treatment import Treatment, treatments
from tcpstall.model import Side
from tcpstall.report.answer import findings
from tcpstall.report.first_change import first_change
from tcpstall.report.html.foretold import foretold
from tcpstall.report.whatif.words import written
from tcpstall.units import number
from tcpstall.whatif import Forecast, whatif
from tests.scene import Scene
from tests.scene.gallery import EVERYTHING
from tests.scene.plan import Reader


def large_response_behind_a_small_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=40, client_window=29_200)
    scene.download(600_000, reader=Reader(buffer=2_000_000))
    scene.closes()


def large_response_into_a_wide_window(scene: Scene) -> None:
    scene.handshake(rtt_ms=40, client_scale=9, client_window=2_000_000)
    scene.download(600_000, reader=Reader(buffer=4_000_000))
    scene.closes()


def slow_start_into_a_narrow_path(scene: Scene) -> None:
    scene.path(rtt_ms=40, server_mbit=10)
    scene.handshake(client_scale=9, client_window=2_000_000)
    scene.download(600_000, reader=Reader(buffer=4_000_000))
    scene.closes()


def small_send_buffer(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000, tso=1, send_buffer=16_000)
    scene.closes()


SCENES = {
    act.__name__: act
    for act in (
        *EVERYTHING.values(),
        large_response_behind_a_small_window,
        large_response_into_a_wide_window,
        slow_start_into_a_narrow_path,
        small_send_buffer,
    )
}

NEEDED = re.compile(r"needed in flight: ([\d.,]+ \w+), ([^;)]+)")
ROOM = re.compile(r"(?:room for|a window of|enough for) ([\d.,]+ \w+)(?: in flight)? \(([^()]+)\)")


class Seen:
    """One scene as all commands see it."""

    def __init__(self, scene: Scene) -> None:
        capture = scene.capture("server")
        (self.flow,) = analyze(capture)
        self.treatments = treatments(self.flow)
        (self.forecast,) = whatif(capture).forecasts


@pytest.fixture(scope="module", params=list(SCENES.values()), ids=list(SCENES))
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    act: Callable[[Scene], None] = request.param
    scene = Scene(tmp_path_factory.mktemp("scene"))
    act(scene)
    return Seen(scene)


def values(name: str, found: Sequence[Treatment]) -> dict[Side, set[str]]:
    """Values that remedies print for a change, by the end whose data waits."""
    printed: dict[Side, set[str]] = {}
    for treated in found:
        for remedy in treated.remedies:
            change, _, value = (remedy.whatif or "").partition("=")
            if change == name and value not in ("", "auto"):
                printed.setdefault(treated.case.sender, set()).add(value)
    return printed


def suggested(name: str, forecast: Forecast) -> set[str]:
    every = (written(change) for outcome in forecast.outcomes for change in outcome.changes)
    return {value for change, _, value in (text.partition("=") for text in every) if change == name}


def test_one_initial_window(seen: Seen) -> None:
    printed = values("initcwnd", seen.treatments)
    sized = {size.sender: {str(size.initcwnd_segments)} for size in seen.forecast.sizing}
    assert printed.items() <= sized.items()
    assert suggested("initcwnd", seen.forecast) <= set().union(*printed.values(), *sized.values())
    if printed and suggested("initcwnd", seen.forecast):
        assert suggested("initcwnd", seen.forecast) == {max(set().union(*printed.values()), key=int)}
    told = re.findall(r"initcwnd (\d+)", " ".join(foretold(seen.forecast).sizes))
    assert set(told) <= set().union(*sized.values())


def test_one_link(seen: Seen) -> None:
    both = [*values("rate", seen.treatments).values(), suggested("rate", seen.forecast)]
    assert len(set().union(*both)) <= 1


def test_one_send_buffer(seen: Seen) -> None:
    printed = values("sndbuf", seen.treatments)
    for size in seen.forecast.sizing:
        if size.sndbuf_bytes is not None and size.sender in printed:
            assert printed[size.sender] == {str(size.sndbuf_bytes)}
    for treated in seen.treatments:
        for remedy in treated.remedies:
            asked = re.search(r"set SO_SNDBUF to ([\d,]+)", remedy.title)
            if asked:
                assert {asked[1]} == {number(int(value)) for value in printed[treated.case.sender]}


def test_one_flight(seen: Seen) -> None:
    """By cause: what analyze says must fit into a buffer is what remedies make room for."""
    for finding in findings(seen.flow):
        told = set(NEEDED.findall(finding.advice))
        room = {
            found
            for treated in seen.treatments
            if treated.case.cause is finding.cause
            for remedy in treated.remedies
            for found in ROOM.findall(remedy.title)
        }
        assert told <= room or not room
        assert len(room) <= 1


def test_the_page_quotes_the_first_remedy(seen: Seen) -> None:
    change = first_change(seen.flow)
    if change is not None:
        assert change.title == seen.treatments[0].remedies[0].title


@pytest.mark.parametrize(
    ("act", "segments"),
    [
        (large_response_behind_a_small_window, 28_672 // 1_448),
        (large_response_into_a_wide_window, 100),
        (slow_start_into_a_narrow_path, -(-47_890 // 1_448)),
    ],
    ids=["window", "burst", "path"],
)
def test_the_scenes_ask_for_different_initial_windows(
    scene: Scene, act: Callable[[Scene], None], segments: int
) -> None:
    act(scene)
    (size,) = (size for size in Seen(scene).forecast.sizing if size.sender == "server")
    assert size.initcwnd_segments == segments


def test_a_scene_asks_for_a_send_buffer(scene: Scene) -> None:
    small_send_buffer(scene)
    seen = Seen(scene)
    assert values("sndbuf", seen.treatments).keys() == {"server"}
    (blocked,) = (one for one in findings(seen.flow) if one.cause is Cause.SNDBUF_LIMITED)
    assert NEEDED.search(blocked.advice)
