"""The page of `tcpstall analyze`: the answer on one screen, at 80 and 100 columns."""

import html
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.crowd.captures import all_kinds
from tests.headline.captures import KINDS, terminal
from tests.page.prose import prose
from tests.scene import Scene

SCREEN = 40


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return all_kinds(tmp_path_factory.mktemp("crowd") / "all")


@pytest.mark.parametrize("columns", [80, 100])
def test_many_flows_fit_a_screen_and_no_token_breaks(here: Run, crowd: Path, columns: int) -> None:
    lines = here("analyze", crowd, COLUMNS=str(columns)).stdout.splitlines()
    assert len(lines) <= SCREEN or columns < 100
    assert all(len(line) <= columns for line in lines)
    assert any(line.startswith("1  ") for line in lines)
    assert not any("stalls of flow" in line for line in lines)
    assert not any(line.lstrip().startswith(("/", ":")) for line in lines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [80, 100])
def test_one_flow_is_told_in_few_lines(here: Run, scene: Scene, kind: str, columns: int) -> None:
    KINDS[kind][0](scene)
    lines = here("analyze", scene.capture("client"), COLUMNS=str(columns)).stdout.splitlines()
    assert len(lines) <= 25
    assert all(len(line) <= columns for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_and_the_ticket_of_one_flow_begin_with_what_the_terminal_begins_with(
    here: Run, scene: Scene, tmp_path: Path, kind: str
) -> None:
    KINDS[kind][0](scene)
    capture = scene.capture("client")
    first, *rest = here("analyze", capture, COLUMNS="1000").stdout.splitlines()
    found = next(line for line in rest if line.startswith("1  ")).removeprefix("1  ").split(",")[0].replace("  ", " ")
    here("report", capture, "-o", tmp_path / "page.html")
    page = html.unescape(prose((tmp_path / "page.html").read_text()))
    ticket = here("analyze", capture, "--format", "markdown").stdout
    assert f'<p class="verdict">{first}.' in page
    assert f"**{first}**." in ticket
    assert found in page
    assert found in ticket
    assert "shows it</a>" not in page  # there is no other flow


def test_a_finding_takes_as_long_in_the_list_as_in_the_first_line_whatever_can_be_given_back(
    here: Run, scene: Scene
) -> None:
    scene.handshake(rtt_ms=60, lost_syns=1)
    scene.download(5_000)
    scene.closes()
    row = json.loads(here("analyze", scene.capture("client"), "--format", "json").stdout)["findings"][0]
    assert 0 < row["recoverable_ns"] < row["time_ns"]
    first, *rest = here("analyze", scene.capture("client"), COLUMNS="1000").stdout.splitlines()
    took = first.partition(" took ")[2].partition(":")[0]
    assert any(line.startswith(f"1  {took}  ") for line in rest)


def test_stalls_are_told_where_somebody_asks(here: Run, scene: Scene) -> None:
    KINDS["cwnd-limited"][0](scene)
    capture = scene.capture("client")
    for options in (("--stalls",), ("-v",), ("--flow", "0")):
        assert "stalls of flow 0" in here("analyze", capture, *options).stdout
    assert "stalls of flow 0" not in here("analyze", capture).stdout


def test_the_json_report_holds_the_same_findings(here: Run, crowd: Path) -> None:
    rows = json.loads(here("analyze", crowd, "--format", "json").stdout)["findings"]
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    first = here("analyze", crowd, COLUMNS="1000").stdout.splitlines()[0]
    assert first.lower() == rows[0]["sentence"].lower()


@pytest.mark.parametrize("form", ["markdown", "jira"])
def test_a_ticket_of_many_flows_tells_one_in_full_that_shows_the_finding_and_not_the_longest_idle_one(
    here: Run, tmp_path: Path, form: str
) -> None:
    terminal_and_server(tmp_path / "two.pcap")
    text = here("analyze", tmp_path / "two.pcap", "--format", form).stdout
    assert text.index("slow to answer") < text.index("Flow 1")
    assert "Flow 1, the worst of 2" in text


def test_the_report_of_many_flows_begins_with_the_flow_that_shows_the_finding(here: Run, tmp_path: Path) -> None:
    terminal_and_server(tmp_path / "two.pcap")
    here("report", tmp_path / "two.pcap", "-o", tmp_path / "page.html")
    page = prose((tmp_path / "page.html").read_text())
    assert "flow 1 shows it" in page
    assert page.index('id="flow-1"') < page.index('id="flow-0"')


def terminal_and_server(path: Path) -> None:
    """Someone types for long, and beside that a server takes its time."""
    typed, served = Scene(path.parent), Scene(path.parent, client_port=40_001)
    terminal(typed)
    served.wait_ms(100)
    KINDS["server-slow"][0](served)
    typed.capture("client", beside=[served]).rename(path)


def test_the_report_tells_a_flow_of_each_finding_in_full(here: Run, crowd: Path, tmp_path: Path) -> None:
    here("report", crowd, "-o", tmp_path / "page.html")
    page = prose((tmp_path / "page.html").read_text())
    found = json.loads(here("analyze", crowd, "--format", "json").stdout)["findings"][:8]
    examples = {row["example"]["flow"] for row in found if row["recoverable_ns"]}
    assert len(examples) >= 4
    assert [flow for flow in examples if f'id="flow-{flow}"' not in page] == []
    assert [flow for flow in examples if f'id="plots-{flow}"' not in page] == []
