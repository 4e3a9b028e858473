"""Lost time over time, and what has grown since when."""

import random
import re
from collections import Counter
from itertools import pairwise

import pytest

from tcpstall.archive.asking.change_point import changed
from tcpstall.report.archive.trend import sparkline
from tests.questions.conftest import Ask, Told
from tests.questions.rows import DAY_NS, HOUR_NS, START_NS, Rows, lost


@pytest.mark.parametrize(("by", "width"), [("hour", HOUR_NS), ("day", DAY_NS)])
def test_sums_are_those_of_the_rows(rows: Rows, ask: Ask, by: str, width: int) -> None:
    sums: Counter[tuple[int, str]] = Counter()
    flows: Counter[int] = Counter(row["start_ns"] // width * width for row in rows.flows)
    for row in rows.stalls:
        if lost(row):
            sums[row["start_ns"] // width * width, row["cause"]] += lost(row)

    found = ask("trend", "--by", by)

    assert {(row["start_ns"], row["cause"]): row["lost_ns"] for row in found} == dict(sums)
    assert all(row["flows"] == flows[row["start_ns"]] for row in found)
    assert all(earlier["start_ns"] <= later["start_ns"] for earlier, later in pairwise(found))


def test_a_service_and_a_cause_can_be_chosen(rows: Rows, ask: Ask) -> None:
    found = ask("trend", "--by", "day", "--service", "[2001:db8::1]:5432", "--cause", "retransmission")
    wanted: Counter[int] = Counter()
    for row in rows.stalls:
        if row["server_address"] == "2001:db8::1" and row["cause"] == "retransmission":
            wanted[row["start_ns"] // DAY_NS * DAY_NS] += lost(row)
    assert {row["start_ns"]: row["lost_ns"] for row in found} == dict(wanted)


def test_what_grew_is_told_with_since_when(told: Told) -> None:
    code, out, _ = told("trend")
    assert code == 0
    first = " ".join(out.split())  # lines end where the screen does
    assert re.match(
        r"10\.0\.3\.7:443 loses [\d.]+ m?s an hour to sndbuf-limited since 2026-09-25 0.{4}, before nothing", first
    )


@pytest.mark.parametrize("text", ["10.0.3.7", "::1:80", "[10.0.0.1]:80", "example.org:80", "10.0.3.7:70000", "x"])
def test_what_is_no_service_is_refused(told: Told, text: str) -> None:
    code, _, err = told("trend", "--service", text)
    assert code == 2
    assert "is no address with a port" in err


def test_a_step_is_found_where_it_is() -> None:
    chance = random.Random(1)
    series = [round(chance.gauss(100, 10)) for _ in range(60)] + [round(chance.gauss(200, 10)) for _ in range(20)]
    assert changed(series) == 60


@pytest.mark.parametrize(
    "series",
    [[], [5], [0, 0, 0, 9], [3] * 50, [100] * 20 + [120] * 20, [200] * 30 + [100] * 30, [0] * 40 + [500, 0, 0, 0, 0]],
    ids=["nothing", "one", "a spike at the end", "steady", "too little", "fallen", "a spike"],
)
def test_what_is_no_step_is_none(series: list[int]) -> None:
    assert changed(series) is None


def test_noise_is_no_step() -> None:
    chance = random.Random(2)
    for _ in range(200):
        assert changed([round(chance.expovariate(1) * 1e6) for _ in range(168)]) is None


@pytest.mark.parametrize(
    ("course", "line"),
    [([0, 1, 8], " ▁█"), ([0, 0], "  "), ([], ""), ([1, 1, 1, 1], "██"), ([0, 1, 0, 8], "▁█")],
)
def test_a_line_of_blocks(course: list[int], line: str) -> None:
    assert sparkline(course, widest=3 if len(course) == 3 else 2) == line


def test_blocks_can_be_plain() -> None:
    assert sparkline([0, 1, 8], plain=True).isascii()


def test_rows_begin_at_the_first_hour(rows: Rows, ask: Ask) -> None:
    assert ask("trend")[0]["start_ns"] == START_NS
    assert min(row["start_ns"] for row in rows.stalls) < START_NS + HOUR_NS
