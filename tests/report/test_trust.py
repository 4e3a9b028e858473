"""The report names the gaps of a capture in a line or two, and says nothing where nothing is missing."""

from dataclasses import replace
from typing import Any

import pytest

from tcpstall import Cause, Trust, _core
from tcpstall.report.page import render
from tests.documents import DOCS
from tests.report.flows import Canned, capture, flow, stall, text

REASONS = _core.vocabulary()["trust_reasons"]

SILENT = {"flows": 14, "vantage": "at the server", "offloaded_frames": 900}


def shown(analysis: Canned, width: int = 160) -> str:
    """The page with each flow whole."""
    return text(*render(analysis, width=width, stalls=True), width=width)


def lines(width: int = 160, **trust: Any) -> list[str]:
    """Lines below the line about the capture."""
    said = text(
        *render(Canned([flow()], [capture(trust=SILENT | trust)]), width=width, stalls=True), width=width
    ).splitlines()
    below = said[said.index(next(line for line in said if line.startswith("a.pcap:"))) + 1 :]
    return [line.strip() for line in below[: below.index("")]]


def test_a_capture_that_lacks_nothing_is_not_remarked_on() -> None:
    assert lines() == []


def test_what_is_missing_is_told_in_one_line_and_the_advice_in_another() -> None:
    said, advice = lines(unseen_share=0.034, flows_without_handshake=2)
    assert said == (
        "Taken at the server; 3.4 % of the data was acknowledged but is not in the capture; "
        "2 of 14 flows began before it"
    )
    assert advice == (
        "→ next time: capture with a larger buffer (tcpdump -B 65536) and headers only (-s 128); "
        "start the capture before the connection"
    )


@pytest.mark.parametrize(
    ("trust", "said"),
    [
        ({"flows_one_sided": 1}, "1 of 14 flows shows one end only"),
        ({"flows_one_sided": 14}, "all 14 flows show one end only"),
        ({"flows": 2, "flows_without_handshake": 2}, "both flows began before it"),
        ({"flows": 1, "flows_options_cut": 1}, "the flow has TCP options cut off"),
        ({"flows_partial_handshake": 3}, "3 of 14 flows lack part of the handshake"),
        ({"flows_clock_stepped": 1}, "1 of 14 flows has packets stamped earlier than those before"),
        ({"unseen_share": 0.25}, "25 % of the data"),
        ({"duplicates_removed": 1_200}, "1,200 copies of packets left out of account"),
    ],
)
def test_each_fact_has_its_words(trust: dict[str, Any], said: str) -> None:
    assert said in lines(**trust)[0]


def test_copies_need_no_advice() -> None:
    assert len(lines(duplicates_removed=3)) == 1


def test_a_trace_of_unseen_data_is_not_worth_a_line() -> None:
    assert lines(unseen_share=0.0004, unseen_bytes=1_448) == []


def test_warnings_that_the_line_tells_are_not_repeated() -> None:
    warning = {"code": "unseen-data", "count": 9, "message": "9 bytes are missing"}
    row = capture(trust=SILENT | {"unseen_share": 0.5}, warnings=[warning])
    assert "are missing" not in shown(Canned([flow()], [row]))


DOUBTFUL = Trust(level="low", reasons=("scale-unknown", "data-unseen"), unseen_share=0.02)


def test_the_answer_says_how_far_it_can_be_trusted() -> None:
    said = shown(Canned([flow(trust=DOUBTFUL)]))
    assert (
        "  trust low: a window scale is not known; 2.0 % of its data was acknowledged but is not in the capture" in said
    )


def test_a_note_that_the_trust_tells_already_is_not_repeated() -> None:
    said = shown(Canned([flow(trust=DOUBTFUL, notes=("acked-unseen",))]))
    assert "note:" not in said


def test_the_flow_of_the_answer_is_doubted_once_and_every_other_at_its_stalls() -> None:
    worst = flow(stall(Cause.ZERO_WINDOW, 60), trust=DOUBTFUL)
    other = replace(flow(stall(Cause.PACING, 5), trust=Trust(level="medium", reasons=("options-cut",))), id=1)
    said = shown(Canned([worst, other]))
    assert said.count("trust low: ") == 1
    assert said.count("trust medium: TCP options are cut off") == 1


def test_trust_is_readable_at_80_columns() -> None:
    said = shown(Canned([flow(stall(Cause.PACING, 5), trust=DOUBTFUL)]), 80)
    assert all(len(line) <= 80 for line in said.splitlines())
    assert "trust low" in said


def test_the_page_on_captures_explains_every_reason() -> None:
    page = (DOCS / "capture.md").read_text()
    missing = [reason for reason in REASONS if f"`{reason}`" not in page]
    assert not missing


@pytest.mark.parametrize("reason", REASONS)
def test_each_reason_has_its_own_words(reason: str) -> None:
    said = shown(Canned([flow(trust=Trust(level="low", reasons=(reason,), unseen_share=0.5))]), 200)
    assert "trust low: " in said
    assert reason not in said
