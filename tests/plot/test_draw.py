"""The picture of a real transfer: files of each format, bands that are the flow's stalls, axes that belong together."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tcpstall import _core, plot
from tcpstall.errors import CannotOpen, NothingToShow, TcpstallError
from tcpstall.findings import findings
from tcpstall.findings.finding import RATES
from tcpstall.model import Flow, analyze
from tcpstall.plot import picture, series, title
from tcpstall.plot.subject import Subject
from tests.crowd.captures import all_kinds
from tests.scene import Scene

SLOWSTART = Path(__file__).parent.parent.parent / "fixtures" / "slowstart-rtt7ms-512k.txt"
MAGIC = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.fixture(scope="module")
def flow() -> Flow:
    return analyze(SLOWSTART)[0]


@pytest.fixture(scope="module")
def figure(flow: Flow) -> Figure:
    drawn = series.read(_core.samples([str(SLOWSTART)], [flow.id])[0], "server", flow.start_ns)
    return picture.over_time("overview", Subject(flow, drawn, "server"), 0, flow.duration_ns, 12.0)


def named(figure: Figure, label: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_label() == label)


@pytest.mark.parametrize("suffix", plot.SUFFIXES)
def test_each_suffix_writes_its_own_format(tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"picture{suffix}"
    plot.draw(str(SLOWSTART), 0, str(output))
    assert output.read_bytes().startswith(MAGIC[suffix])


def test_text_in_svg_is_text(tmp_path: Path) -> None:
    plot.draw(SLOWSTART, None, tmp_path / "1.svg")
    picture = ElementTree.parse(tmp_path / "1.svg")
    texts = [text.text or "" for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith("192.168.247.129:80 → ") for text in texts)
    assert any(text.startswith("lost ") for text in texts)
    assert any("retransmission" in text or "data" in text for text in texts)


def test_the_same_capture_gives_the_same_svg(tmp_path: Path) -> None:
    one, two = tmp_path / "1.svg", tmp_path / "2.svg"
    for output in (one, two):
        plot.draw(SLOWSTART, None, output)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("output", ["picture.gif", "picture"])
def test_another_suffix_is_refused_before_anything_is_read(tmp_path: Path, output: str) -> None:
    with pytest.raises(plot.UnknownPicture, match=r"\.png, \.svg, \.pdf") as caught:
        plot.draw("/no/such/capture", None, str(tmp_path / output))
    assert isinstance(caught.value, TcpstallError)
    assert isinstance(caught.value, ValueError)


def test_a_capture_that_is_not_there_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen):
        plot.draw("/no/such/capture", None, str(tmp_path / "picture.png"))


def test_a_flow_that_is_not_there_says_how_to_find_one(tmp_path: Path) -> None:
    with pytest.raises(NothingToShow, match="tcpstall analyze"):
        plot.draw(SLOWSTART, 7, tmp_path / "picture.png")


def test_an_interval_without_the_flow_has_no_picture(flow: Flow, tmp_path: Path) -> None:
    with pytest.raises(NothingToShow, match="interval"):
        plot.draw(SLOWSTART, 0, tmp_path / "picture.png", since_ns=flow.end_ns + 1)


def test_the_bands_are_the_stalls_of_the_flow(figure: Figure, flow: Flow) -> None:
    expected = {
        (stall.cause.value, (stall.start_ns - flow.start_ns) / 1e6, (stall.end_ns - flow.start_ns) / 1e6)
        for stall in flow.stalls
        if stall.sender == "server"
    } | {("handshake", 0.0, (flow.handshake.duration_ns or 0) / 1e6)}  # both ends wait for it
    assert band_edges(named(figure, "server waits")) == {
        (name, approx(left), approx(right)) for name, left, right in expected
    }


def test_the_bands_tint_both_panels(figure: Figure) -> None:
    lane = band_edges(named(figure, "server waits"))
    assert len(lane) == 7
    assert [band_edges(named(figure, panel)) for panel in ("sequence", "in flight")] == [lane, lane]


def test_bands_have_the_colours_of_the_native_table(figure: Figure) -> None:
    colours = {cause.name: cause.colour.lower() for cause in _core.causes()}
    for boxes in polygons(named(figure, "server waits")):
        assert to_hex(np.asarray(boxes.get_facecolor())[0]) == colours[str(boxes.get_label())]


def test_all_axes_share_the_time_of_the_flow(figure: Figure, flow: Flow) -> None:
    for axes in figure.axes:
        assert axes.get_xlim() == pytest.approx((0, flow.duration_ns / 1e6))


def test_the_sequence_panel_spans_what_was_sent(figure: Figure, flow: Flow) -> None:
    sequence = named(figure, "sequence")
    line = next(line for line in sequence.get_lines() if line.get_label() == "data")
    assert "(kB)" in sequence.get_ylabel()
    assert np.nanmax(line.get_ydata()) == pytest.approx((flow.directions["server"].bytes + 1) / 1000)


def test_the_title_names_the_flow_and_what_its_time_was_lost_to(figure: Figure, flow: Flow) -> None:
    what, losses = (text.get_text() for text in figure.texts)
    assert what.startswith("192.168.247.129:80 → 192.168.247.130:44612, 524,583 bytes in 63.1 ms")
    assert "cwnd-limited 28.5 ms, rwnd-limited 13.8 ms" in losses


def test_no_text_overlaps_another_or_leaves_the_sheet(figure: Figure) -> None:
    lane = named(figure, "server waits")
    legends = [artist for artist in figure.artists if artist.get_visible()]
    boxes = [artist.get_window_extent() for artist in [*lane.texts, *figure.texts, *legends]]
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1


def test_legends_stand_beside_the_data(figure: Figure) -> None:
    for legend in figure.artists:
        assert legend.get_window_extent().x0 > named(figure, "sequence").get_window_extent().x1


def test_a_part_of_the_flow_is_shown_with_its_own_axis(flow: Flow, tmp_path: Path) -> None:
    drawn = series.read(_core.samples([str(SLOWSTART)], [flow.id])[0], "server", flow.start_ns)
    part = picture.over_time("overview", Subject(flow, drawn, "server"), 20_000_000, 30_000_000, 12.0)
    assert named(part, "sequence").get_xlim() == pytest.approx((20, 30))
    assert "shown: 20.0 ms to 30.0 ms" in part.texts[0].get_text()
    for _, left, right in band_edges(named(part, "server waits")):
        assert 20 <= left < right <= 30


def test_drawing_never_imports_pyplot(tmp_path: Path) -> None:
    script = (
        "import sys; from tcpstall import plot; plot.draw(sys.argv[1], None, sys.argv[2]);"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script, SLOWSTART, tmp_path / "picture.png"], check=True)


def polygons(axes: Axes) -> list[PolyCollection]:
    # fill_between makes a subclass; the bands are plain.
    return [drawn for drawn in axes.collections if type(drawn) is PolyCollection]


def band_edges(axes: Axes) -> set[tuple[str, float, float]]:
    return {
        (
            str(boxes.get_label()),
            approx(np.asarray(path.vertices)[:, 0].min()),
            approx(np.asarray(path.vertices)[:, 0].max()),
        )
        for boxes in polygons(axes)
        for path in boxes.get_paths()
    }


def approx(milliseconds: float) -> float:
    """To the nanosecond, so that floats compare as members of a set."""
    return round(float(milliseconds), 6)


@pytest.mark.parametrize(
    ("owner", "told"),
    [
        ("path", "66.5 Mbit/s set by the path; lost "),
        ("congestion-window", "66.5 Mbit/s set by the congestion window; lost "),
        ("pacing", "66.5 Mbit/s set by pacing; lost "),
        (None, "lost "),
    ],
)
def test_the_line_says_what_set_the_rate_where_there_is_room(flow: Flow, owner: str | None, told: str) -> None:
    paced = dataclasses.replace(flow, rate_set_by=owner)
    assert title.losses(paced, lambda _: True).startswith(told)
    short = title.losses(paced, lambda line: len(line) <= 45)
    assert len(short) <= 45
    assert "lost " in short


@pytest.mark.parametrize("pace", [None, 1_500_000.0])
def test_a_flow_says_what_set_its_rate_as_its_finding_does(scene: Scene, pace: float | None) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(1_500_000, pace=pace)
    analysis = analyze(scene.capture())
    kinds = {found.kind for found in findings(analysis)} & RATES
    assert kinds == (set() if pace is None else {"rate-sender"})
    assert analysis[0].rate_set_by == (None if pace is None else "sender")


def test_without_a_number_the_flow_of_the_first_finding_is_drawn(tmp_path: Path) -> None:
    crowd = all_kinds(tmp_path / "crowd")
    analysis = analyze(crowd, bursts=False)
    lead = next(found for found in findings(analysis) if found.is_lead)
    assert lead.example is not None
    assert lead.example.flow != analysis.worst.id
    output = tmp_path / "x.svg"
    plot.draw(crowd, None, output)
    shown = next(one for one in analysis if one.id == lead.example.flow)
    assert str(shown.client) in output.read_text()
