"""`tcpstall analyze` on the real transfer whose every figure is known."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ENDS = "192.168.247.129:80 → 192.168.247.130:44612"
STORY = "524,583 bytes in 63.1 ms (66.5 Mbit/s): lost 49.4 ms (78 %), 6 stalls, handshake 6.9 ms"


@pytest.mark.parametrize("kind", ["paste", "capture"])
def test_the_first_line_is_the_answer(here: Run, kind: str, request: pytest.FixtureRequest) -> None:
    done = here("analyze", request.getfixturevalue(kind))
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("Congestion window at 192.168.247.129:80 took 28.5 ms: slow start from 10 segments")
    assert second == f"{ENDS}: {STORY}"


def test_what_to_change_comes_first_by_what_it_could_give_back(here: Run, capture: Path) -> None:
    lines = here("analyze", capture).stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith(("1  ", "2  "))] == ["28.5", "13.8"]
    assert any("raise initcwnd" in line for line in lines)
    assert not any("stalls of flow" in line for line in lines)


def test_each_cause_says_what_it_cost_and_what_to_change(here: Run, capture: Path) -> None:
    text = here("analyze", capture, "--stalls").stdout
    assert "slow start from 10 segments, 4 round trips" in text
    assert "13.8 ms  rwnd-limited" in text
    assert "the client's window (46,080 then 78,720 bytes) was full twice" in text
    assert text.count("→ ") >= 3


def test_the_stalls_are_listed_with_their_figures(here: Run, capture: Path) -> None:
    text = here("analyze", capture, "-v").stdout
    rows = [line for line in text.splitlines() if "10:45:49.0" in line and "server" in line]
    durations = [line.split(" ms")[0].split()[-1] for line in rows]
    assert durations == ["7.124", "7.150", "6.690", "6.948", "7.158", "7.280"]
    assert "46,080" in rows[2]
    assert "11" in rows[0].split()[-1]


def test_an_80_column_terminal_gets_lines_of_80_columns(here: Run, capture: Path) -> None:
    text = here("analyze", capture, "--flow", "0", COLUMNS="80").stdout
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "7.124 ms" in text
    assert "10:45:49.061790" in text


@pytest.mark.parametrize("columns", ["20", "80", "132", "200", "400"])
def test_no_width_cuts_text_or_figures(here: Run, capture: Path, columns: str) -> None:
    text = here("analyze", capture, "--stalls", COLUMNS=columns).stdout
    assert "232,600" in text
    assert "cwnd-limited" in text
    assert not any(line.endswith("…") for line in text.splitlines())


def test_piped_output_has_no_escape_codes_and_no_trailing_blanks(run: Run, capture: Path) -> None:
    text = run("analyze", capture, FORCE_COLOR="1", TERM="xterm-256color").stdout
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_standard_input_is_read(run: Run, capture: Path) -> None:
    done = run("analyze", "-", stdin=capture.read_bytes())
    assert done.stdout.splitlines()[1] == f"{ENDS}: {STORY}"


def test_json_is_one_object_of_the_published_schema(here: Run, capture: Path) -> None:
    report = json.loads(here("analyze", capture, "--format", "json").stdout)
    assert report["schema"] == "tcpstall.report/1"
    (flow,) = report["flows"]
    assert sum(flow["time_ns"].values()) == flow["end_ns"] - flow["start_ns"]
    assert [burst["bytes"] for burst in flow["bursts"] if burst["sender"] == "server"][:2] == [14480, 28960]


def test_without_bursts_json_leaves_them_out(here: Run, capture: Path) -> None:
    report = json.loads(here("analyze", capture, "--format", "json", "--no-bursts").stdout)
    assert not report["flows"][0].get("bursts")


def test_exchanges_can_be_left_out(here: Run, capture: Path) -> None:
    report = json.loads(here("analyze", capture, "--format", "json", "--no-exchanges").stdout)
    assert "exchanges" not in report["flows"][0]
    assert report["flows"][0]["connection"]["exchanges"] == 1


def test_the_page_explains_the_slowest_exchange(here: Run, capture: Path) -> None:
    page = here("analyze", capture, "--stalls").stdout
    assert "the exchange of flow 0; the client closed" in page
    assert "1 base" in page


def test_ndjson_is_a_line_a_flow_a_service_a_finding_and_a_capture_and_each_says_what_it_is(
    here: Run, capture: Path
) -> None:
    lines = [json.loads(line) for line in here("analyze", capture, "--format", "ndjson").stdout.splitlines()]
    report = json.loads(here("analyze", capture, "--format", "json").stdout)
    assert [line.pop("type") for line in lines] == [
        "flow",
        "service",
        *["finding"] * len(report["findings"]),
        "capture",
    ]
    flow, service, *findings, source = lines
    assert [flow] == report["flows"]
    assert [service["service"]] == report["services"]
    assert [line["finding"] for line in findings] == report["findings"]
    assert [source["capture"]] == report["captures"]


def test_csv_is_a_stall_a_row(here: Run, capture: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(here("analyze", capture, "--format", "csv").stdout)))
    assert [row["cause"] for row in rows].count("rwnd-limited") == 2


def test_csv_tells_its_warnings_on_standard_error(here: Run, paste: Path) -> None:
    done = here("analyze", paste, "--format", "csv")
    assert done.returncode == 0
    assert "1970-01-01" in done.stderr


@pytest.mark.parametrize(
    ("options", "flows"),
    [
        (("--flow", "0"), 1),
        (("--flow", "7", "--flow", "0"), 1),
        (("--flow", "1"), 0),
        (("--host", "192.168.247.130"), 1),
        (("--host", "[::1]", "--host", "192.168.247.129"), 1),
        (("--host", "10.0.0.1"), 0),
        (("--port", "80"), 1),
        (("--port", "44612"), 1),
        (("--port", "443"), 0),
        (("--since", "10:45:49"), 1),
        (("--since", "10:45:50"), 0),
        (("--until", "10:45:49.05"), 0),
        (("--since", "+0s", "--until", "+10ms"), 1),
        (("--until", "+1h"), 1),
    ],
)
def test_the_selection_keeps_the_flows_that_fit(here: Run, paste: Path, options: tuple[str, ...], flows: int) -> None:
    report = json.loads(here("analyze", paste, "--format", "json", *options).stdout)
    assert len(report["flows"]) == flows


def test_a_selection_that_fits_nothing_says_so(here: Run, capture: Path) -> None:
    done = here("analyze", capture, "--port", "443")
    assert done.returncode == 7
    assert "no flow fits the options" in done.stdout.splitlines()[0]


def test_since_cuts_the_packets_before_it(here: Run, paste: Path) -> None:
    (flow,) = json.loads(here("analyze", paste, "--format", "json", "--since", "+20ms").stdout)["flows"]
    assert flow["segments"] < 58


def test_a_short_stall_leaves_the_list_but_not_the_sums(here: Run, capture: Path) -> None:
    text = here("analyze", capture, "--stalls", "--min-stall", "7.2ms").stdout
    assert text.splitlines()[1] == f"{ENDS}: {STORY}"
    assert "7.280 ms" in text
    assert "7.124 ms" not in text
    assert re.search(r"and \d+ shorter stalls of flow 0: 21\.2 ms cwnd-limited, 13\.8 ms rwnd-limited", text)


@pytest.mark.parametrize("order", ["lost", "duration", "bytes", "start", "stalls"])
@pytest.mark.parametrize("form", ["table", "json"])
def test_flows_can_be_ranked_and_cut(here: Run, capture: Path, paste: Path, order: str, form: str) -> None:
    done = here("analyze", capture, paste, "--format", form, "--sort", order, "--top", "1")
    assert done.returncode == 0
    if form == "json":
        assert len(json.loads(done.stdout)["flows"]) == 1
    else:
        assert "2 flows" in done.stdout.splitlines()[1]
        assert "1 more flow" in done.stdout
