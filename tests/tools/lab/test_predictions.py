"""The judge of predictions: what counts as right, which orders do, and what its tables show."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tools.lab.changes.judgement import Forecast, Judged, Ranking, judged, rankings
from tests.tools.lab.changes.pairing import slug
from tests.tools.lab.changes.prediction_tables import (
    MARK,
    PUBLISHED,
    Published,
    Results,
    by_pair,
    by_ranking,
    published,
    render,
    summary,
)
from tests.tools.lab.predictions import PAGE, told

MS = 1_000_000
FIXTURES = Path(__file__).parents[3] / "fixtures" / "pairs"


def remedy(change: str, real_ms: int, expected_ms: int | None, *, situation: str = "one", rtt_ms: int = 20) -> Judged:
    expected = None if expected_ms is None else expected_ms * MS
    said = Forecast(200 * MS, 201 * MS, expected, expected and expected - MS, expected and expected + MS)
    return Judged(
        capture=Path("before.pcap.gz"),
        service="10.77.0.1:5001",
        situation=situation,
        why="a situation",
        change=change,
        ranked=True,
        before_ns=200 * MS,
        after_ns=real_ms * MS,
        least_ns=real_ms * MS,
        most_ns=real_ms * MS,
        before_rtt_ns=rtt_ms * MS,
        rtt_ns=rtt_ms * MS,
        before_exchanges_ns=(200 * MS,),
        after_exchanges_ns=(real_ms * MS,),
        forecast=said,
    )


def ordered(pairs: Sequence[Judged], *suggested: str) -> list[Ranking]:
    return rankings(pairs, lambda _capture, _service: suggested)


class TestRight:
    def test_within_one_round_trip_of_a_short_time(self) -> None:
        assert remedy("initcwnd=20", 60, 80).right
        assert not remedy("initcwnd=20", 60, 81).right

    def test_within_a_share_of_a_long_one(self) -> None:
        assert remedy("initcwnd=20", 1000, 1150).right
        assert remedy("initcwnd=20", 1000, 850).right
        assert not remedy("initcwnd=20", 1000, 1151).right

    def test_the_round_trip_is_the_one_after_the_change(self) -> None:
        assert not remedy("rtt=1ms", 10, 20, rtt_ms=1).right

    def test_a_refusal_is_not_a_prediction(self) -> None:
        assert not remedy("initcwnd=20", 60, None).right
        assert not remedy("initcwnd=20", 60, None).enclosed

    def test_the_interval_is_judged_apart(self) -> None:
        assert remedy("initcwnd=20", 60, 61).enclosed
        assert not remedy("initcwnd=20", 60, 62).enclosed
        assert remedy("initcwnd=20", 60, 62).right


class TestOrder:
    def test_of_remedies_as_it_really_is(self) -> None:
        (ranking,) = ordered([remedy("sndbuf=auto", 60, 70), remedy("initcwnd=40", 180, 140)])
        assert ranking.right

    def test_turned_round_is_wrong_however_close_the_times_are(self) -> None:
        (ranking,) = ordered([remedy("sndbuf=auto", 60, 79), remedy("initcwnd=40", 80, 78)])
        assert all(one.right for one in ranking.remedies)
        assert ranking.swapped == (("sndbuf=auto", "initcwnd=40"),)
        assert not ranking.right

    def test_a_tie_that_is_none_is_wrong(self) -> None:
        (ranking,) = ordered([remedy("sndbuf=auto", 60, 80), remedy("initcwnd=40", 90, 80)])
        assert not ranking.right

    def test_equally_good_remedies_have_none(self) -> None:
        (ranking,) = ordered([remedy("sndbuf=auto", 60, 70), remedy("initcwnd=40", 65, 69)])
        assert ranking.right

    def test_a_refused_remedy_has_no_place(self) -> None:
        (ranking,) = ordered([remedy("sndbuf=auto", 60, 60), remedy("initcwnd=40", 61, None)])
        assert not ranking.right

    def test_only_competing_changes_are_ordered(self) -> None:
        assert ordered([replace(remedy("initcwnd=20", 60, 60), ranked=False)]) == []


class TestSuggestion:
    REMEDIES = (remedy("sndbuf=auto", 60, 70), remedy("initcwnd=40", 66, 70), remedy("nodelay=1", 200, 200))

    @pytest.mark.parametrize("first", ["sndbuf=auto", "sndbuf=256K", "initcwnd=70"])
    def test_of_the_best_kind_or_one_as_good_is_found(self, first: str) -> None:
        (ranking,) = ordered(self.REMEDIES, first, "nodelay=1")
        assert ranking.found

    @pytest.mark.parametrize("suggested", [("nodelay=1", "sndbuf=auto"), ("loss=0",), ()])
    def test_of_another_kind_first_is_missed(self, suggested: tuple[str, ...]) -> None:
        (ranking,) = ordered(self.REMEDIES, *suggested)
        assert not ranking.found

    def test_what_a_client_pauses_is_left_to_it(self) -> None:
        (ranking,) = ordered(self.REMEDIES, "think=0", "sndbuf=auto")
        assert ranking.found

    def test_two_changes_at_once_are_not_asked_of_it(self) -> None:
        (ranking,) = ordered((remedy("sndbuf=auto initcwnd=40", 20, 20), *self.REMEDIES), "sndbuf=auto")
        assert ranking.found

    def test_nobody_has_to_suggest_a_shorter_way(self) -> None:
        (ranking,) = ordered((remedy("rtt=1ms", 5, 5), *self.REMEDIES), "sndbuf=auto")
        assert ranking.found


REPORT: dict[str, Any] = {
    "flows": [{"refused": None, "reason": None}],
    "totals": {
        "captured_exchanges_ns": 100,
        "replayed_exchanges_ns": 101,
        "outcomes": [
            {
                "exchanges": [
                    {"expected_ns": 30, "low_ns": 25, "high_ns": 35},
                    {"expected_ns": 20, "low_ns": 18, "high_ns": 29},
                ]
            }
        ],
    },
}


def test_a_report_is_added_up_over_its_exchanges() -> None:
    assert told(REPORT) == Forecast(100, 101, 50, 43, 64, (30, 20))


def test_a_report_that_leaves_the_time_to_chance_has_an_interval_alone() -> None:
    outcome = {"by_chance": True, "exchanges": [{"expected_ns": None, "low_ns": 25, "high_ns": 35, "median_ns": 30}]}
    assert told(REPORT | {"totals": REPORT["totals"] | {"outcomes": [outcome]}}) == Forecast(
        100, 101, None, 25, 35, (), by_chance=True
    )


def test_of_an_interval_alone_the_single_transfers_count() -> None:
    said = Forecast(200 * MS, 201 * MS, None, 60 * MS, 90 * MS, by_chance=True)
    pair = replace(remedy("loss=1%", 70, None), forecast=said, each_ns=(50 * MS, 60 * MS, 70 * MS, 90 * MS))
    assert (pair.right, pair.inside) == (False, 0.75)
    counted = summary({"here": Results([pair, remedy("sndbuf=auto", 60, 62)], [])})
    assert "| 1 of 1 (100 %) |" in counted
    assert "| 75 % |" in counted
    assert "| by chance |" in by_pair([pair])


def test_one_refused_connection_leaves_no_prediction_of_the_whole() -> None:
    flows = [*REPORT["flows"], {"refused": "no-handshake", "reason": "the handshake was not captured"}]
    assert told(REPORT | {"flows": flows}) == Forecast(refused="the handshake was not captured")


def test_tables_count_and_name_every_miss() -> None:
    pairs = [
        remedy("sndbuf=auto", 60, 62),
        remedy("initcwnd=40", 150, 55),
        remedy("nodelay=1", 200, None, situation="b"),
    ]
    results = {"here": Results(pairs, ordered(pairs))}
    assert "| 1 of 3 (33 %) |" in summary(results)
    (miss,) = (line for line in by_pair(pairs).splitlines() if "**wrong**" in line)
    assert "`initcwnd=40`" in miss
    assert "−95.0" in miss
    assert "**wrong** `initcwnd=40` before `sndbuf=auto`" in by_ranking(ordered(pairs))
    whole = render(results)
    assert whole.count(miss) == 2


def test_the_page_has_a_place_for_the_tables() -> None:
    begin, end = MARK
    text = PAGE.read_text(encoding="utf-8")
    assert 0 <= text.find(begin) < text.find(end)


def test_what_others_published_stands_beside_what_was_done_here() -> None:
    known = PUBLISHED[0]
    pair = replace(
        remedy(known.change, 33, 33, situation=known.situation),
        before_exchanges_ns=(25 * MS, 23 * MS),
        after_exchanges_ns=(25 * MS, 8 * MS),
        forecast=Forecast(exchanges_ns=(24 * MS, 7 * MS)),
    )
    assert published([pair]).splitlines()[-1].endswith("| 23.0 | 8.0 | 7.0 |")
    assert published([]).count("\n") == 1


@pytest.mark.parametrize("one", PUBLISHED, ids=lambda one: one.change)
def test_every_published_experiment_has_its_pair(one: Published) -> None:
    assert (FIXTURES / one.situation / f"{slug(one.change)}.json").exists()


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/initcwnd-20.json")), ids=lambda path: path.parent.name)
def test_a_pair_is_asked_of_the_capture_before_the_change(path: Path) -> None:
    heard: list[tuple[str, str, Sequence[str]]] = []

    def ask(capture: Path, service: str, changes: Sequence[str]) -> Forecast:
        heard.append((capture.name, service, changes))
        return Forecast(expected_ns=0)

    one = judged(path, ask)
    assert heard == [("before.pcap.gz", json.loads(path.read_text())["service"], ["initcwnd=20"])]
    assert one.least_ns <= one.after_ns <= one.most_ns
