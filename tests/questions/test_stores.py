"""Several stores answer as one."""

import json
from pathlib import Path

import pytest

from tcpstall.archive.storing.store import Commit, Store
from tests.questions.conftest import Ask, Told
from tests.questions.rows import DAY_NS, START_NS, Row, Rows, stored, written

HALF_NS = START_NS + 2 * DAY_NS
TABLES = ("flows", "stalls", "exchanges", "findings")
KEPT = "00000000beef0000"
"""The scan of the row that `stored` adds."""


@pytest.fixture(scope="module")
def halves(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The rows of the one store in two, an early and a late one."""
    folder = tmp_path_factory.mktemp("halves")
    early, late = Rows(folder / "it's early"), Rows(folder / "late")
    for table in TABLES:
        for row in getattr(rows, table):
            if row["scan"] != KEPT:
                getattr(early if row["start_ns"] < HALF_NS else late, table).append(row)
    for capture in rows.captures:
        (early if capture["first_ns"] is None or capture["first_ns"] < HALF_NS else late).captures.append(capture)
    early.captures.sort(key=lambda row: row["scan"] is None)
    early.captures.append(early.captures[0])  # the fourth has an older row too
    stored(early)
    with Store.writing(str(late.folder)) as store:
        parts = [part for table in TABLES for part in written(store, table, getattr(late, table))]
        store.commit(Commit(parts=parts, captures=late.captures))
    return str(early.folder), str(late.folder)


def both(halves: tuple[str, str]) -> tuple[str, ...]:
    return "--store", halves[0], "--store", halves[1]


@pytest.mark.parametrize(
    "question",
    [
        ("top", "--by", "service"),
        ("trend", "--by", "day"),
        ("diff", "--before", "2026-09-22..2026-09-23", "--after", "2026-09-25..2026-09-26"),
        ("query", "SELECT name, exit_code, packets FROM captures ORDER BY name"),
    ],
)
def test_the_answer_is_that_of_one_store_with_all_rows(
    ask: Ask, halves: tuple[str, str], question: tuple[str, ...]
) -> None:
    assert ask(*question, *both(halves)) == ask(*question) != []


def test_each_table_has_the_store_of_a_row(rows: Rows, ask: Ask, halves: tuple[str, str]) -> None:
    each = " UNION ALL ".join(
        f"SELECT '{table}' AS of, store, count(*) AS n FROM {table} GROUP BY store" for table in (*TABLES, "errors")
    )
    counts = {(row["of"], row["store"]): row["n"] for row in ask("query", each, *both(halves))}
    for table in TABLES:
        assert counts.pop((table, halves[1])) == sum(map(is_late, getattr(rows, table)))
        assert counts.pop((table, halves[0])) == sum(not is_late(row) for row in getattr(rows, table))
    assert counts == {("errors", halves[0]): 1}


def is_late(row: Row) -> bool:
    return bool(row["start_ns"] >= HALF_NS)


def test_a_command_that_is_printed_names_the_store_of_its_flow(ask: Ask, halves: tuple[str, str]) -> None:
    found = ask("top", *both(halves))
    late = f"{HALF_NS // DAY_NS:016x}"
    for row in found:
        store = halves[row["example_scan"] >= late]
        assert f"--store '{store}'" in row["example_command"].replace("'\"'\"'", "'") or store in row["example_command"]
    assert {row["example_scan"] >= late for row in found} == {False, True}


def test_a_store_that_is_given_twice_counts_once(ask: Ask, halves: tuple[str, str]) -> None:
    late = ("--store", halves[1])
    assert ask("trend", *late, *late) == ask("trend", *late)


def test_the_page_is_that_of_all_of_them(rows: Rows, told: Told, halves: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, _, err = told("report", *both(halves), "-o", page)
    assert (code, err) == (0, "")
    assert f"of {len(rows.flows)}&nbsp;flows" in page.read_text()


def test_a_folder_with_a_space_can_stand_in_the_environment(
    told: Told, halves: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TCPSTALL_STORE", halves[0])
    code, out, err = told("query", "SELECT count(*) AS n FROM flows", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)[0]["n"] > 0


def test_a_store_that_is_not_there_is_named(told: Told, halves: tuple[str, str], tmp_path: Path) -> None:
    code, _, err = told("top", "--store", halves[0], "--store", tmp_path / "none")
    assert code == 3
    assert "none: no store is here" in err


def test_a_flow_is_in_one_store(told: Told, halves: tuple[str, str], tmp_path: Path) -> None:
    code, _, err = told("report", *both(halves), "--flow", "0/1", "-o", tmp_path / "page.html")
    assert code == 2
    assert "give --store once" in err
