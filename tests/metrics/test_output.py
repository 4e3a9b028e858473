"""Written metrics are the sums of the rows, in formats that Prometheus' own programs read."""

import shutil
import subprocess
from bisect import bisect_left
from collections import Counter
from pathlib import Path

import pytest

from tcpstall import Cause
from tcpstall.archive.asking.exporting import exported, samples
from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tcpstall.metrics.exposition import Sample, exposed
from tcpstall.metrics.families import FAMILIES, FLOWS, LOST, RTT, TTFB, WAITS, Family
from tcpstall.model import Endpoint
from tests.metrics.conftest import Values, told
from tests.questions.rows import Row, Rows, lost

SECOND_NS = 10**9


def service(row: Row) -> str:
    return str(Endpoint(row["server_address"], row["server_port"]))


def test_sums_by_service_and_cause_are_those_of_the_rows(rows: Rows, tmp_path: Path) -> None:
    found = told(rows.folder, tmp_path)
    time_ns: Counter[tuple[str, str]] = Counter()
    waits: Counter[tuple[str, str]] = Counter()
    for row in rows.stalls:
        time_ns[service(row), row["cause"]] += lost(row)
        waits[service(row), row["cause"]] += lost(row) > 0
    for name in {service(row) for row in rows.flows}:
        assert found[FLOWS.sample, name] == sum(service(row) == name for row in rows.flows)
        for cause in Cause:
            assert found[LOST.sample, name, cause] == time_ns[name, cause] / SECOND_NS
            assert found[WAITS.sample, name, cause] == waits[name, cause]
    assert found[FLOWS.sample, "other"] == 0


def _expect_histogram(found: Values, family: Family, name: str, spans: list[int]) -> None:
    counts = Counter(bisect_left(family.bounds_ns, span) for span in spans)
    upto = 0
    for number, bound in enumerate([*family.buckets.values(), "+Inf"]):
        upto += counts[number]
        assert found[family.bucket, name, bound] == upto
    assert found[f"{family.name}_count", name] == len(spans)
    assert found[f"{family.name}_sum", name] == sum(spans) / SECOND_NS


def test_histograms_count_every_row_once(rows: Rows, tmp_path: Path) -> None:
    found = told(rows.folder, tmp_path)
    for name in {service(row) for row in rows.flows}:
        rtts = [row["base_rtt_ns"] for row in rows.flows if service(row) == name]
        _expect_histogram(found, RTT, name, [span for span in rtts if span is not None])
        answered = [row for row in rows.exchanges if service(row) == name and row["response_bytes"]]
        _expect_histogram(found, TTFB, name, [row["latency_ns"] - row["response_ns"] for row in answered])


def test_the_worst_have_series_of_their_own_and_the_rest_is_other(rows: Rows, tmp_path: Path) -> None:
    found = told(rows.folder, tmp_path, "--services", "2")
    worst: Counter[str] = Counter()
    for row in rows.flows:
        worst[service(row)] += row["lost_ns"] - row["time_app_limited_ns"]
    own = [name for name, _ in worst.most_common(2)]
    assert {name[1] for name in found if name[0] == FLOWS.sample} == {*own, "other"}
    assert found[FLOWS.sample, "other"] == sum(service(row) not in own for row in rows.flows)
    assert told(rows.folder, tmp_path) == found


def test_openmetrics_is_read_by_the_strict_parser(rows: Rows, capsys: pytest.CaptureFixture[str]) -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    assert main(["metrics", "--store", str(rows.folder)]) == 0
    read = {family.name: family for family in text_string_to_metric_families(capsys.readouterr().out)}
    assert list(read) == [family.name for family in FAMILIES]
    for family in FAMILIES:
        assert (read[family.name].type, read[family.name].unit) == (family.kind, family.unit)
        assert read[family.name].samples


def test_promtool_finds_nothing_to_say(rows: Rows) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    text = exposed(samples(exported(str(rows.folder))[0]), "prometheus")
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, text=True, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_values_of_labels_are_escaped() -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    family = Family("x", "gauge", "None.", labels=("a",))
    text = exposed([(family, [Sample("x", "1", {"a": 'q"b\\c\nd\x1b[31m'})])], "openmetrics")
    assert text.splitlines()[2] == r'x{a="q\"b\\c\\nd\\x1b[31m"} 1'
    ((read,),) = (one.samples for one in text_string_to_metric_families(text))
    assert read.labels == {"a": r'q"b\c\nd\x1b[31m'}


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--store", "{folder}/nothing"], ExitCode.CANNOT_OPEN, "no store is here"),
        (["--store", "{store}", "--services", "0"], ExitCode.USAGE, "1<=x<=1000"),
        (["--store", "{store}", "--services", "many"], ExitCode.USAGE, "not a valid integer"),
        (["--store", "{store}", "--output", "{folder}/no/x.prom"], ExitCode.DEFECT, "cannot write"),
        (["--store", "{store}", "--listen", "localhost"], ExitCode.USAGE, "no address with a port"),
        (["--store", "{store}", "--listen", "127.0.0.1:0", "--output", "x"], ExitCode.USAGE, "give no --output"),
        (["--store", "{store}", "--listen", "192.0.2.1:80"], ExitCode.DEFECT, "cannot listen on 192.0.2.1:80"),
        (["--print", "everything"], ExitCode.USAGE, "is not one of"),
    ],
)
def test_what_cannot_be_done_is_said(
    rows: Rows, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: ExitCode, says: str
) -> None:
    given = [option.format(folder=tmp_path, store=rows.folder) for option in options]
    assert main(["metrics", *given]) == code
    err = capsys.readouterr().err
    assert says in err
    assert "Traceback" not in err


def test_a_store_that_cannot_be_written_says_so(rows: Rows, capsys: pytest.CaptureFixture[str]) -> None:
    (rows.folder / "metrics.json").mkdir()
    assert main(["metrics", "--store", str(rows.folder)]) == ExitCode.CANNOT_OPEN
    assert "metrics.json" in capsys.readouterr().err
