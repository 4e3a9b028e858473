"""Each kind of picture shows what its name says, on paper that holds all of it."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import click
import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from tcpstall import plot
from tcpstall.causes import Cause
from tcpstall.cli.plot import command
from tcpstall.errors import NothingToShow
from tcpstall.model import Analysis, Endpoint, Exchange, analyze
from tcpstall.plot import bands, latencies, parts, picture, style, timeline
from tcpstall.plot.bands import Band
from tests.report.flows import Canned

FIXTURES = Path(__file__).parents[2] / "fixtures"
SLOWSTART = FIXTURES / "slowstart-rtt7ms-512k.pcap"
LAB = FIXTURES / "lab"
SEVERAL = [LAB / name / "sender.pcap" for name in ("rpc-30k", "zero-window-6s", "idle-restart-on", "edge-14481")]


@pytest.fixture(scope="module")
def several() -> Analysis:
    return analyze(SEVERAL, bursts=False)


@pytest.fixture(scope="module")
def waits(several: Analysis) -> Figure:
    with matplotlib.rc_context(style.RC):
        figure = timeline.draw(several, 3, None, None, 12.0)
    assert figure is not None
    return figure


@pytest.fixture(scope="module")
def sums(several: Analysis) -> Figure:
    with matplotlib.rc_context(style.RC):
        figure = latencies.draw(several, 3, None, None, 12.0)
    assert figure is not None
    return figure


def one(kind: str, path: Path = SLOWSTART) -> Figure:
    flow = analyze(path)[0]
    (subject,) = plot.subjects(path, [flow])
    with matplotlib.rc_context(style.RC):
        if kind == "rtt-by-position":
            return picture.by_position(subject, 0, flow.duration_ns, 12.0)
        return picture.over_time(kind, subject, 0, flow.duration_ns, 12.0)


def lines(figure: Figure, axes: str) -> dict[str, np.ndarray]:
    panel = next(panel for panel in figure.axes if panel.get_label() == axes)
    return {str(line.get_label()).split("\n")[0]: np.asarray(line.get_ydata()) for line in panel.get_lines()}


def test_the_command_line_offers_every_kind() -> None:
    (choice,) = (parameter.type for parameter in command.params if parameter.name == "kind")
    assert isinstance(choice, click.Choice)
    assert tuple(choice.choices) == plot.KINDS
    assert set(plot.KINDS) == {*picture.OVER_TIME, "rtt-by-position", *plot.KINDS_OF_MANY}


@pytest.mark.parametrize("kind", plot.KINDS)
@pytest.mark.parametrize("path", [SLOWSTART, LAB / "zero-window-dead" / "receiver.pcap"], ids=["slow", "dead"])
def test_each_kind_is_drawn(tmp_path: Path, kind: str, path: Path) -> None:
    plot.draw(path, None, tmp_path / "picture.png", kind=kind)
    assert (tmp_path / "picture.png").stat().st_size > 5_000


def test_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(plot.UnknownPicture, match="in-flight"):
        plot.draw(SLOWSTART, None, tmp_path / "picture.png", kind="pie")


@pytest.mark.parametrize("kind", ["sequence", "in-flight", "rtt", "rtt-by-position", "throughput"])
def test_what_stands_on_the_paper_stays_on_it_and_apart(kind: str) -> None:
    fits(one(kind))


def test_pictures_of_many_flows_stay_on_their_paper(waits: Figure, sums: Figure) -> None:
    fits(waits)
    fits(sums)


def test_round_trips_lie_at_or_above_the_base() -> None:
    for kind in ("rtt", "rtt-by-position"):
        drawn = lines(one(kind), "round trip")
        base = drawn["base round trip"][0]
        assert len(drawn["round trip of an ACK"]) > 5
        assert drawn["round trip of an ACK"].min() >= base * 0.99


def test_throughput_is_drawn_below_the_bottleneck_of_a_full_path() -> None:
    flow = analyze(SLOWSTART)[0]
    drawn = lines(one("throughput"), "throughput")
    mean = flow.directions["server"].bytes * 8_000 / flow.duration_ns  # Mbit/s
    assert np.nanmean(drawn["acknowledged by the client"][:-1]) == pytest.approx(mean, rel=0.15)


def test_a_timeline_names_each_flow_and_says_what_the_others_lost(several: Analysis, waits: Figure) -> None:
    (axes,) = waits.axes
    named = [label.get_text() for label in axes.get_yticklabels()]
    assert len(named) == 3
    shown = sorted((several[row] for row in several.ranked()[:3]), key=lambda flow: flow.start_ns)
    assert [text.split(":")[0] for text in named] == [f"flow {flow.id}" for flow in shown]
    assert f"of {len(several)}" in waits.texts[0].get_text()
    assert f"{len(several) - 3} other flow" in waits.texts[1].get_text()


def test_the_longest_addresses_have_room_beside_a_timeline() -> None:
    longest = Endpoint("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", 65_535)
    shaken = replace(analyze(SLOWSTART)[0], client=longest, server=longest)
    with matplotlib.rc_context(style.RC):
        figure = timeline.draw(Canned([shaken]), 3, None, None, 12.0)
    assert figure is not None
    fits(figure)


def test_a_timeline_of_an_interval_without_flows_is_none(several: Analysis, tmp_path: Path) -> None:
    assert timeline.draw(several, 3, 0, 1, 12.0) is None
    with pytest.raises(NothingToShow):
        plot.draw(SEVERAL, None, tmp_path / "picture.png", kind="timeline", until_ns=1)


def test_the_bars_of_an_exchange_add_up_to_its_latency(several: Analysis, sums: Figure) -> None:
    every = [exchange for flow in several for exchange in flow.exchanges]
    slowest = sorted(every, key=lambda exchange: -exchange.latency_ns)[:3]
    (axes,) = sums.axes
    lengths: dict[int, float] = {}
    for bar in (one for one in axes.containers if isinstance(one, BarContainer)):
        box = bar.patches[0].get_bbox()
        row = round((box.y0 + box.y1) / 2)
        lengths[row] = lengths.get(row, 0.0) + box.width
    expected = [exchange.latency_ns for exchange in sorted(slowest, key=lambda exchange: exchange.start_ns)]
    scale_ns = 1e6 if max(expected) < 2e9 else 1e9
    assert [lengths[row] * scale_ns for row in range(3)] == pytest.approx(expected)


def test_a_capture_without_exchanges_says_so(tmp_path: Path) -> None:
    lonely = analyze(SLOWSTART, exchanges=False)
    with pytest.raises(NothingToShow, match="exchange"):
        plot.draw(SLOWSTART, None, tmp_path / "picture.png", kind="exchanges", analysis=lonely)


def test_alike_neighbours_are_one_bar(several: Analysis) -> None:
    def looks(exchange: Exchange) -> list[str]:
        return [look.name + look.hatch for look, _, _ in parts.stacked(exchange)]

    for flow in several:
        for exchange in flow.exchanges:
            assert all(left != right for left, right in pairwise(looks(exchange)))


@st.composite
def apart(draw: st.DrawFn) -> list[Band]:
    row, at_ns = [], 0
    for _ in range(draw(st.integers(0, 12))):
        start_ns = at_ns + draw(st.integers(0, 30))
        at_ns = start_ns + draw(st.integers(1, 60))
        row.append(Band(start_ns, at_ns, draw(st.sampled_from(list(Cause)[:3]))))
    return row


@given(apart(), apart())
def test_what_lies_below_shows_only_where_nothing_covers_it(below: list[Band], covers: list[Band]) -> None:
    def times(row: list[Band]) -> set[int]:
        return {at for band in row for at in range(band.start_ns, band.end_ns)}

    left = list(bands.uncovered(below, covers))
    assert times(left) == times(below) - times(covers)
    assert all(one.end_ns <= other.start_ns for one, other in pairwise(left))


def fits(figure: Figure) -> None:
    figure.canvas.draw()
    apart = [artist.get_window_extent() for artist in [*figure.texts, *figure.artists]]
    inside = [text.get_window_extent() for axes in figure.axes for text in axes.texts if text.get_text()]
    for axes in figure.axes:
        ticks = axes.get_window_extent()
        labels = [label.get_window_extent() for label in axes.get_yticklabels() if label.get_text()]
        inside += [box for box in labels if ticks.y0 <= (box.y0 + box.y1) / 2 <= ticks.y1]
    for number, box in enumerate(apart):
        assert not any(box.overlaps(other) for other in apart[:number])
    for box in [*apart, *inside]:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
