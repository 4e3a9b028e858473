"""Time that a flow lost is one number under one name, wherever it is printed."""

import csv
import json
import re
from html import unescape
from pathlib import Path

import pytest

from tcpstall.cli import main
from tcpstall.model import analyze
from tcpstall.plot import title
from tcpstall.units import duration, percent
from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.page.prose import prose

FIXTURES = Path(__file__).parents[2] / "fixtures"
CAPTURES = [
    FIXTURES / "slowstart-rtt7ms-512k.pcap",
    FIXTURES / "lab" / "zero-window-6s" / "sender.pcap",
    FIXTURES / "lab" / "bw-10mbit" / "sender.pcap",
]


@pytest.mark.parametrize("capture", [path for path in CAPTURES if path.exists()], ids=lambda path: path.parent.name)
def test_every_form_prints_the_same_sum_as_lost(here: Run, capture: Path, tmp_path: Path) -> None:
    (row,) = json.loads(here("analyze", capture, "--format", "json").stdout)["flows"]
    states = ("sending", "in-transit", "closing")
    lost_ns = sum(span for owner, span in row["time_ns"].items() if owner not in states)
    told = f"lost {duration(lost_ns)} ({percent(lost_ns, row['end_ns'] - row['start_ns'])})"

    page, annotated, plain = tmp_path / "page.html", tmp_path / "said.pcapng", tmp_path / "in.pcap"
    plain.write_bytes(capture.read_bytes())
    assert main(["report", str(plain), "-o", str(page)]) == 0
    assert main(["annotate", str(plain), "-o", str(annotated)]) == 0
    (flow,) = analyze(capture)
    forms = {form: here("analyze", capture, "--format", form, COLUMNS="1000").stdout for form in ("table", "text")}
    forms["markdown"] = here("analyze", capture, "--format", "markdown").stdout
    forms["jira"] = here("analyze", capture, "--format", "jira").stdout
    forms["annotate"] = annotated.read_bytes().decode("utf-8", "replace")
    forms["plot title"] = title.losses(flow, lambda line: True)
    for form, text in forms.items():
        assert told in " ".join(unescape(text).replace("\\", "").split()), form
    assert f"lost {duration(lost_ns)} of" in title.flow(flow)[0]
    text = " ".join(re.sub(r"<[^>]+>", " ", prose(page.read_text("utf-8"))).split())
    assert f"lost {duration(lost_ns)} of that" in text
    assert not re.search(r"\bwaited \d", text)
    assert row["lost_ns"] == lost_ns


def test_the_tables_of_many_flows_print_it_too(here: Run, tmp_path: Path) -> None:
    capture = FIXTURES / "lab" / "mixed" / "sender.pcap"
    if not capture.exists():
        capture = max((FIXTURES / "lab").glob("*/sender.pcap"), key=lambda path: len(analyze(path)))
    flows = analyze(capture)
    worst = flows[flows.ranked()[0]]
    cells = (duration(worst.lost_ns), percent(worst.lost_ns, worst.duration_ns))
    table = here("analyze", capture, COLUMNS="200").stdout
    if len(flows) > 1:
        (heading,) = (line for line in table.splitlines() if line.startswith("flow ") and " share" in line)
        assert " lost " in heading
        assert " waited " not in heading
    markdown = here("analyze", capture, "--format", "markdown").stdout
    for text in (table, markdown):
        assert all(cell in text for cell in cells)


def test_csv_and_json_agree_on_the_stalls(here: Run) -> None:
    rows = list(csv.DictReader(here("analyze", CAPTURES[0], "--format", "csv").stdout.splitlines()))
    (flow,) = json.loads(here("analyze", CAPTURES[0], "--format", "json").stdout)["flows"]
    assert [int(row["duration_ns"]) for row in rows] == [stall["duration_ns"] for stall in flow["stalls"]]
