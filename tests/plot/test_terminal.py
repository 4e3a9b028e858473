"""Pictures of characters hold what they say, within the width, with colours and without, in ASCII where need be."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from tcpstall.causes import Cause
from tcpstall.model import Analysis, Flow, analyze
from tcpstall.plot import KINDS, KINDS_OF_MANY, subjects
from tcpstall.plot.bands import Band
from tcpstall.plot.series import Spans, Steps
from tcpstall.plot.terminal import Screen, exchanges, lanes, over_time, timeline
from tcpstall.plot.terminal.axes import GUTTER, round_levels
from tcpstall.plot.terminal.raster import Raster

FIXTURES = Path(__file__).parents[2] / "fixtures"
SLOWSTART = FIXTURES / "slowstart-rtt7ms-512k.pcap"
SEVERAL = [FIXTURES / "lab" / name / "sender.pcap" for name in ("rpc-30k", "zero-window-6s", "sndbuf-16k")]
OF_ONE = [kind for kind in KINDS if kind not in KINDS_OF_MANY]


@pytest.fixture(scope="module")
def several() -> Analysis:
    return analyze(SEVERAL, bursts=False)


@pytest.fixture(scope="module")
def flow() -> Flow:
    return analyze(SLOWSTART)[0]


def plain(lines: Iterable[Text]) -> list[str]:
    return [line.plain for line in lines]


def drawn(kind: str, screen: Screen, path: Path = SLOWSTART) -> list[Text]:
    flow = analyze(path)[0]
    (subject,) = subjects(path, [flow])
    return list(over_time(kind, subject, 0, flow.duration_ns, screen))


@pytest.mark.parametrize("kind", OF_ONE)
@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize("unicode", [True, False], ids=["braille", "ascii"])
def test_no_line_is_wider_than_the_terminal(kind: str, width: int, unicode: bool) -> None:
    lines = plain(drawn(kind, Screen(width, unicode)))
    assert max(map(len, lines)) <= width
    assert unicode or all(line.isascii() for line in lines)


@pytest.mark.parametrize("unicode", [True, False], ids=["braille", "ascii"])
@pytest.mark.parametrize("make", [timeline, exchanges])
def test_many_flows_fit_too(several: Analysis, make: object, unicode: bool) -> None:
    lines = plain(make(several, 30, None, None, Screen(80, unicode)))  # type: ignore[operator]
    assert len(lines) > 6
    assert max(map(len, lines)) <= 80
    assert unicode or all(line.isascii() for line in lines)


def test_the_lane_has_the_letters_of_the_waits_in_their_places(flow: Flow) -> None:
    screen = Screen(101 + GUTTER, unicode=True)
    lane = next(line for line in plain(drawn("overview", screen)) if line.lstrip().startswith("server "))[GUTTER:]
    assert len(lane) == 100
    for stall in (stall for stall in flow.stalls if stall.sender == "server"):
        middle = (stall.start_ns + stall.end_ns) / 2 - flow.start_ns
        assert lane[int(middle / flow.duration_ns * 100)] == lanes.letter(stall.cause)
    assert lane[3] == "H"
    assert lane[-1] == "."


def test_letters_and_their_colours_are_in_the_legend() -> None:
    text = Text("\n").join(drawn("overview", Screen(101 + GUTTER, unicode=True)))
    assert "C cwnd-limited 28.5 ms" in text.plain
    styles = {str(span.style) for span in text.spans}
    assert any(Cause.CWND_LIMITED.colour in one for one in styles)


def test_each_cause_has_a_letter_of_its_own() -> None:
    assert len({lanes.letter(cause) for cause in Cause}) == len(list(Cause))
    assert all(lanes.letter(cause) in cause.value.upper() for cause in Cause)


def test_a_lane_shows_the_cause_that_owns_most_of_a_column() -> None:
    one, other = list(Cause)[1:3]
    lane = lanes.lane([Band(0, 3, one), Band(3, 10, other), Band(10, 20, one)], 0, 40, 4, (0, 29)).plain
    assert lane == f"{lanes.letter(other)}{lanes.letter(one)}. "


def test_exchanges_are_bars_as_long_as_their_latency(several: Analysis) -> None:
    lines = plain(exchanges(several, 2, None, None, Screen(120, unicode=True)))
    every = sorted((one for flow in several for one in flow.exchanges), key=lambda one: -one.latency_ns)[:2]
    lengths = [len(bar.split()[0]) for bar in (lines[-1], lines[-3])]
    assert max(lengths) / min(lengths) == pytest.approx(every[0].latency_ns / every[1].latency_ns, rel=0.2)


def raster(*, unicode: bool = True, rows: int = 4, columns: int = 10) -> Raster:
    return Raster(rows, columns, 0.0, 100.0, 0, 1_000, unicode)


def at(*times: int) -> np.ndarray:
    return np.array(times, np.int64)


def test_a_level_is_held_until_the_next() -> None:
    made = raster(unicode=False)
    made.step(Steps(at(-5, 500), np.array([0.0, 100.0])), "", "#")
    assert [line.plain for line in made.lines()] == ["     #####", "     #    ", "     #    ", "######    "]


def test_an_unknown_level_leaves_a_gap() -> None:
    made = raster(unicode=False)
    made.step(Steps(at(0, 350, 650), np.array([0.0, np.nan, 0.0])), "", "#")
    assert made.lines()[-1].plain == "####  ####"


def test_a_spike_among_many_points_survives() -> None:
    level = np.zeros(100_000)
    level[54_321] = 100.0
    made = Raster(4, 10, 0.0, 100.0, 0, 100_000, unicode=True)
    made.step(Steps(np.arange(100_000), level), "", "#")
    assert made.lines()[0].plain.strip()


def test_braille_dots_stand_where_the_level_is() -> None:
    made = raster(rows=1, columns=2)
    made.strokes(Spans(at(0, 999), np.array([0.0, 100.0]), np.array([100.0, 100.0])), "", "|")
    assert made.lines()[0].plain == "⡇⠈"


def test_what_lies_outside_is_not_drawn_and_marks_lie_above() -> None:
    made = raster(unicode=False)
    made.step(Steps(at(0), np.array([500.0])), "", "#")
    made.marks(Spans(at(0, 5_000), np.array([0.0, 0.0]), np.array([0.0, 0.0])), "", "x")
    assert [line.plain.rstrip() for line in made.lines()] == ["", "", "", "x"]


@given(st.integers(0, 10**15), st.integers(1, 10**15), st.integers(2, 12))
def test_numbers_on_an_axis_are_few_and_inside(low: int, span: int, most: int) -> None:
    levels = round_levels(low, low + span, most)
    assert len(levels) <= most + 1
    assert all(low <= level <= low + span for level in levels)
