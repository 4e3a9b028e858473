"""A store tells the findings that `analyze` tells of the same capture."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tcpstall
from tcpstall.archive.asking.findings import findings
from tcpstall.archive.asking.session import session
from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tcpstall.cli import main
from tcpstall.findings import Finding, evidence, sentence
from tcpstall.findings import findings as findings_of
from tcpstall.lost_time import Shown
from tests.archive.here import here
from tests.scene.lossy import lossy

FIXTURES = Path(__file__).parents[2] / "fixtures"
CAPTURES = sorted(FIXTURES.glob("**/*.pcap*"))[::6]


def shown(store: Path) -> list[Shown]:
    with session(Store.open(str(store))) as asked:
        return findings(asked, Chosen(), 100)


def told(finding: Finding) -> tuple[Any, ...]:
    example = finding.example and (finding.example.flow, (finding.example.stall or {}).get("number"))
    sums = (finding.time_ns, finding.recoverable_ns, finding.waits, finding.bytes, finding.first_ns, finding.last_ns)
    words = (sentence(finding), evidence(finding), finding.losses)
    return finding.kind, finding.side, finding.address, finding.port, sums, words, example


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.parent.name + "-" + path.name)
def test_a_store_of_one_capture_tells_what_analyze_tells(capture: Path, tmp_path: Path) -> None:
    scan([str(capture)], str(tmp_path / "store"), executor=here)
    found = [one for one in findings_of(tcpstall.analyze(capture)) if one.is_lead]
    assert [told(one.finding) for one in shown(tmp_path / "store")] == [told(one) for one in found]


@pytest.mark.parametrize("chosen", [Chosen(), Chosen(since_ns=0)], ids=["sums", "rows"])
def test_a_store_tells_at_how_many_losses_of_all_flows_no_queue_stood(chosen: Chosen, tmp_path: Path) -> None:
    for name, losses in (("few", 5), ("many", 6)):
        folder = tmp_path / "captures" / name
        folder.mkdir(parents=True)
        lossy(folder, "server", losses=losses).capture()
    scan([str(tmp_path / "captures")], str(tmp_path / "store"), executor=here)
    with session(Store.open(str(tmp_path / "store"))) as asked:
        [loss] = [one.finding for one in findings(asked, chosen, 100) if one.finding.kind == "loss"]
    assert loss.losses is not None
    assert (loss.losses.counted, loss.losses.queued, loss.losses.unqueued) == (9, 0, 9)
    assert evidence(loss).endswith("; no queue at each of 9 losses")


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("findings")
    scan([str(FIXTURES)], str(folder / "store"), executor=here)
    return folder / "store"


@pytest.fixture
def top(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    def _top(*arguments: object) -> tuple[str, str]:
        capfd.readouterr()
        assert main(["top", *map(str, arguments)]) == 0
        written = capfd.readouterr()
        return written.out, written.err

    return _top


def test_top_leads_with_what_a_change_gives_back(store: Path, top: Callable[..., tuple[str, str]]) -> None:
    found = shown(store)
    rows = json.loads(top("--store", store, "--format", "json")[0])
    assert [row["kind"] for row in rows] == [one.finding.kind for one in found][:20]
    assert [row["recoverable_ns"] for row in rows] == [one.finding.recoverable_ns for one in found][:20]
    assert not {"idle", "messages", "unexplained"} & {row["kind"] for row in rows}
    for row in rows:
        assert row["example_capture"].endswith((".pcap", ".pcap.gz", ".txt"))
        assert row["example_command"].startswith("tcpstall report ")
    listed = list(csv.DictReader(io.StringIO(top("--store", store, "--format", "csv")[0])))
    assert [row["sentence"] for row in listed] == [row["sentence"] for row in rows]


def test_the_table_says_each_as_analyze_does(store: Path, top: Callable[..., tuple[str, str]]) -> None:
    first = shown(store)[0]
    text, err = top("--store", store, "--top", 1)
    lines = text.splitlines()
    assert lines[0].startswith("1  ")
    assert first.finding.address is None or first.finding.address in lines[0]
    assert "→ " in lines[1]
    assert first.example is not None
    assert str(first.example.client) in lines[2]
    assert err == ""


@pytest.mark.parametrize("by", ["service", "host", "cause"])
def test_sums_say_how_much_could_be_given_back(store: Path, top: Callable[..., tuple[str, str]], by: str) -> None:
    rows = json.loads(top("--store", store, "--by", by, "--top", 1_000, "--format", "json")[0])
    with session(Store.open(str(store))) as asked:
        [held] = asked.rows("SELECT sum(recoverable_ns) AS back FROM findings")
    assert 0 < sum(row["recoverable_ns"] for row in rows) <= held["back"]
    assert [row["recoverable_ns"] for row in rows] == sorted((row["recoverable_ns"] for row in rows), reverse=True)


def test_no_flow_gives_back_more_than_it_lost_and_no_moment_counts_twice(store: Path) -> None:
    with session(Store.open(str(store))) as asked:
        rows = asked.rows(
            "SELECT flows.lost_ns + time_sending_ns + time_in_transit_ns AS most, sum(time_ns) AS owned, "
            "sum(recoverable_ns) AS back, flows.lost_ns AS lost FROM findings JOIN flows USING (scan, flow) "
            "GROUP BY scan, flow, most, lost"
        )
    assert len(rows) > 20
    assert all(row["owned"] <= row["most"] and (row["back"] or 0) <= row["lost"] for row in rows)


def test_a_store_of_a_version_without_findings_says_so(
    store: Path, tmp_path: Path, top: Callable[..., tuple[str, str]]
) -> None:
    old = Path(shutil.copytree(store, tmp_path / "old"))
    catalog = json.loads((old / "catalog.json").read_text())
    kept = [part for part in catalog["parts"] if part["table"] != "findings"]
    assert len(kept) < len(catalog["parts"])
    known = ("schema", "upto", "captures", "dropped", "continued")
    (old / "catalog.json").write_text(json.dumps({key: catalog[key] for key in known} | {"parts": kept}))
    shutil.rmtree(old / "copy")
    text, err = top("--store", old)
    assert "were scanned by a version that kept no findings: scan the captures into a new store" in err
    assert "no finding is in the store" in text
    assert "lost time by service" in top("--store", old, "--by", "service")[0]
