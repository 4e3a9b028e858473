"""The Python interface: columns without a copy, flows decoded when somebody looks."""

import dataclasses
import io
import pickle
import re
from array import array
from html import unescape
from pathlib import Path
from typing import get_args

import duckdb
import polars
import pyarrow
import pytest
from rich.console import Console

import tcpstall
from tcpstall import Analysis, CannotOpen, Cause, NotACapture, _core
from tcpstall.errors import ExitCode
from tcpstall.model import Sort
from tcpstall.report.page import render
from tests.scene import Scene
from tests.test_labels import begin_with

PASTE = Path(__file__).parents[1] / "fixtures" / "slowstart-rtt7ms-512k.txt"


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return tcpstall.analyze(PASTE)


def test_the_flow_is_the_one_that_the_capture_shows(analysis: Analysis) -> None:
    (flow,) = analysis
    assert (str(flow.client), str(flow.server)) == ("192.168.247.130:44612", "192.168.247.129:80")
    assert flow.directions["server"].bytes == 524_583
    assert sum(flow.time_ns.values()) == flow.duration_ns == 63_063_000
    assert [burst.bytes for burst in flow.bursts if burst.sender == "server"] == [
        14480, 28960, 46080, 104256, 78720, 232600, 19487,
    ]  # fmt: skip


def test_the_stalls_carry_their_causes_and_evidence(analysis: Analysis) -> None:
    stalls = [stall for stall in analysis[0].stalls if stall.sender == "server"]
    assert [stall.cause for stall in stalls] == [
        Cause.CWND_LIMITED, Cause.CWND_LIMITED, Cause.RWND_LIMITED,
        Cause.CWND_LIMITED, Cause.RWND_LIMITED, Cause.CWND_LIMITED,
    ]  # fmt: skip
    assert stalls[2].evidence["peer_window_bytes"] == 46_080
    assert all(stall.advice for stall in stalls)


def test_time_lost_is_what_causes_own(analysis: Analysis) -> None:
    flow = analysis[0]
    assert flow.lost_ns == sum(flow.time_ns.get(cause, 0) for cause in Cause)
    assert array("q", analysis.flows.int64("lost_ns")).tolist() == [flow.lost_ns]


def test_the_ledgers_of_all_flows_add_up(analysis: Analysis) -> None:
    total = tcpstall.analyze([PASTE, PASTE]).time_ns()
    assert list(total) == _core.owners()
    assert {owner: span for owner, span in total.items() if span} == {
        owner: 2 * span for owner, span in analysis[0].time_ns.items()
    }


@pytest.mark.parametrize("order", get_args(Sort))
def test_every_order_ranks_every_flow_once(order: Sort) -> None:
    assert sorted(tcpstall.analyze([PASTE, PASTE]).ranked(order)) == [0, 1]


@pytest.mark.parametrize("name", ["flows", "bursts", "stalls"])
def test_polars_pyarrow_and_duckdb_take_the_tables(analysis: Analysis, name: str) -> None:
    rows = getattr(analysis, name)
    assert polars.DataFrame(rows).columns == rows.names
    assert pyarrow.table(rows).num_rows == len(rows)
    counted = duckdb.sql("select count(*) from rows")
    assert counted is not None
    assert counted.fetchall() == [(len(rows),)]


def test_rows_are_reached_from_both_ends_and_not_beyond(analysis: Analysis) -> None:
    assert analysis[-1].id == analysis[0].id
    assert len(analysis) == 1
    with pytest.raises(IndexError):
        analysis[1]


def test_without_bursts_a_flow_has_none() -> None:
    assert tcpstall.analyze(PASTE, bursts=False)[0].bursts == ()


def test_short_stalls_leave_the_list_and_stay_in_the_ledger(analysis: Analysis) -> None:
    kept = tcpstall.analyze(PASTE, min_stall_ns=7_200_000)[0]
    assert [stall.duration_ns for stall in kept.stalls] == [7_280_000]
    assert kept.time_ns == analysis[0].time_ns


def test_the_capture_says_what_it_is_and_warns_about_its_date(analysis: Analysis) -> None:
    (capture,) = analysis.captures
    assert (capture.packets, capture.tcp_segments, capture.exit_code) == (58, 58, ExitCode.COMPLETE)
    assert any("1970-01-01" in warning.message for warning in capture.warnings)


def test_a_missing_file_raises_what_both_kinds_of_reader_catch(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="nowhere") as raised:
        tcpstall.analyze(tmp_path / "nowhere.pcap")
    assert isinstance(raised.value, OSError)
    assert isinstance(raised.value, tcpstall.TcpstallError)


def test_what_is_no_capture_raises(tmp_path: Path) -> None:
    picture = tmp_path / "cat.jpeg"
    picture.write_bytes(b"\xff\xd8\xff\xe0" + bytes(1000))
    with pytest.raises(NotACapture, match=r"cat\.jpeg"):
        tcpstall.analyze(picture)


def test_on_request_nothing_raises_and_each_input_keeps_its_error(tmp_path: Path) -> None:
    both = tcpstall.analyze([tmp_path / "nowhere.pcap", PASTE], strict=False)
    assert len(both) == 1
    assert [capture.exit_code for capture in both.captures] == [ExitCode.CANNOT_OPEN, ExitCode.COMPLETE]
    assert both.captures[0].error


def test_what_progress_raises_ends_the_run() -> None:
    def stop(_read: int, _whole: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tcpstall.analyze(PASTE, progress=stop)


def test_a_flow_cannot_be_changed(analysis: Analysis) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        analysis[0].id = 7  # type: ignore[misc]


def test_causes_are_the_native_table() -> None:
    table = _core.causes()
    assert [cause.value for cause in Cause] == [info.name for info in table]
    assert [cause.code for cause in Cause] == [info.code for info in table]
    assert all(cause.summary and not cause.summary.endswith(".") for cause in Cause)
    assert Cause.ZERO_WINDOW == "zero-window"
    assert pickle.loads(pickle.dumps(Cause.ZERO_WINDOW)) is Cause.ZERO_WINDOW


def test_the_version_is_the_native_one() -> None:
    assert tcpstall.__version__ == _core.version()


def test_an_analysis_says_what_it_is_and_becomes_data_frames(analysis: Analysis) -> None:
    assert repr(analysis) == "<Analysis of 1 capture: 1 flow lost 49.4 ms>"
    assert len(analysis.to_polars("stalls")) == len(analysis.to_pandas("stalls")) == len(analysis[0].stalls)
    assert list(analysis.to_pandas()["flow"]) == list(analysis.to_polars()["flow"]) == [0]


def test_a_notebook_shows_the_answer_first_and_nothing_from_the_wire_as_markup(scene: Scene) -> None:
    begin_with(scene, b"GET /<script>alert(1)</script> HTTP/1.1\r\nHost: a\r\n\r\n")
    page = tcpstall.analyze(scene.capture())._repr_html_()
    lines = [unescape(re.sub("<[^>]+>", "", line)) for line in page.splitlines()]
    shown = io.StringIO()
    Console(file=shown, width=100).print(next(iter(render(tcpstall.analyze(scene.capture()), width=100))))
    assert lines[0] == shown.getvalue().splitlines()[0].rstrip()
    assert "<script" not in page
