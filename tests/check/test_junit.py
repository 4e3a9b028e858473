"""JUnit XML: one test suite, a test case a rule, the words of the terminal, whatever strangers wrote."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tcpstall.errors import ExitCode
from tests.check.flows import Told, played, thinking, unreachable
from tests.cli.conftest import capture, cut_capture

__all__ = ["capture", "cut_capture"]

RULES = (
    "--max=app-limited=700ms",
    "--max=lost=99%",
    "--max=p95-latency=1h",
    "--forbid=zero-window,unreachable",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "out.xml"


def suite(file: Path) -> ET.Element:
    root = ET.fromstring(file.read_bytes())
    assert root.tag == "testsuites"
    (found,) = root
    assert found.tag == "testsuite"
    return found


def test_each_rule_is_a_test_case_and_broken_ones_are_failures(tmp_path: Path, told: Told, file: Path) -> None:
    code, text = told.run(played(tmp_path, thinking(100, 800), unreachable), *RULES, "--junit", file)
    found = suite(file)
    assert code == ExitCode.BROKEN
    assert {name: found.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    cases = {case.get("name"): case for case in found}
    assert [name for name, case in cases.items() if case.find("failure") is not None] == [
        "max app-limited=700ms",
        "forbid unreachable",
    ]
    plain = " ".join(text.split())
    for case in cases.values():
        (told_of,) = case
        assert told_of.text
        assert " ".join(told_of.text.split()) in plain
    failure = cases["max app-limited=700ms"].find("failure")
    assert failure is not None
    assert failure.get("message") == (failure.text or "").splitlines()[0]


def test_a_rule_without_anything_to_measure_is_an_error(tmp_path: Path, told: Told, file: Path) -> None:
    assert told.run(played(tmp_path, unreachable), "--max=latency=1s", "--junit", file)[0] == ExitCode.NOTHING_FITS
    found = suite(file)
    assert (found.get("errors"), found.get("failures")) == ("1", "0")
    assert found.find("testcase/error") is not None


def test_a_damaged_input_is_named(told: Told, cut_capture: Path, file: Path) -> None:
    assert told.run(cut_capture, "--max=lost=99%", "--junit", file)[0] == ExitCode.DAMAGED
    assert str(cut_capture) in (suite(file).findtext("system-err") or "")
    assert suite(file).get("failures") == "0"


@pytest.mark.parametrize(
    "name",
    [
        "\x1b[2J\x1b]0;owned\x07.pcap",
        "]]><x a='\"&amp;.pcap",
        "\ufffe\uffff\u202e\x9b.pcap",
        "caf\udce9.pcap",
        "line\nend\t.pcap",
    ],
)
def test_names_of_strangers_leave_the_xml_whole(
    tmp_path: Path, told: Told, file: Path, capture: Path, name: str
) -> None:
    hostile = tmp_path / name
    hostile.write_bytes(capture.read_bytes())
    broken = tmp_path / f"cut {name}"
    broken.write_bytes(capture.read_bytes()[:-20])
    code, text = told.run(hostile, "--max=lost=1ms", "--junit", file)
    assert code == ExitCode.BROKEN
    failure = suite(file).findtext("testcase/failure") or ""
    assert failure.splitlines()[-1] in text
    assert len(failure.splitlines()) == 4
    assert failure.replace("\n", "").isprintable()
    assert told.run(broken, "--max=lost=99%", "--junit", file)[0] == ExitCode.DAMAGED
    assert (suite(file).findtext("system-err") or "").isprintable()


def test_the_file_is_written_although_nobody_reads_the_output(
    told: Told, file: Path, capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("tcpstall.cli.process.terminal.show", closed)
    assert told.run(capture, "--max=lost=1ms", "--junit", file)[0] == ExitCode.CLOSED_PIPE
    assert suite(file).get("failures") == "1"


def test_a_file_that_cannot_be_written_is_an_error_in_a_line(told: Told, tmp_path: Path, capture: Path) -> None:
    code, text = told.run(capture, "--max=lost=1ms", "--junit", tmp_path / "nowhere" / "x.xml")
    assert (code, text) == (ExitCode.DEFECT, "")
    assert len(told.error.splitlines()) == 1
