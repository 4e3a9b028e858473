"""Two times in a store compared: `tcpstall diff --store`."""

from collections import defaultdict
from typing import Any

import pytest

from tests.questions.conftest import Ask, Told
from tests.questions.rows import DAY_NS, HOUR_NS, START_NS, Row, Rows, lost

FIRST = ("2026-09-22..2026-09-23", START_NS, START_NS + DAY_NS)
LATER = ("2026-09-25T00:00..2026-09-25T12:00", START_NS + 3 * DAY_NS, START_NS + 3 * DAY_NS + DAY_NS // 2)


def asked(ask: Ask, *more: object) -> Any:
    return ask("diff", "--before", FIRST[0], "--after", LATER[0], "--top", 1000, *more)


def within(row: Row, span: tuple[str, int, int]) -> bool:
    return bool(span[1] <= row["start_ns"] < span[2])


def service(row: Row) -> str:
    address = row["server_address"]
    return f"[{address}]:{row['server_port']}" if ":" in address else f"{address}:{row['server_port']}"


@pytest.mark.parametrize("port", [None, 80])
def test_sums_are_those_of_the_rows(rows: Rows, ask: Ask, port: int | None) -> None:
    wanted: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 6)
    for row in rows.stalls:
        for at, span in ((0, FIRST), (3, LATER)):
            if within(row, span) and lost(row) and port in (None, row["server_port"]):
                wanted[service(row), row["cause"]][at] += lost(row)
                wanted[service(row), row["cause"]][at + 1] += 1
    for (where, _), sums in wanted.items():
        sums[2] = sum(within(flow, FIRST) and service(flow) == where for flow in rows.flows)
        sums[5] = sum(within(flow, LATER) and service(flow) == where for flow in rows.flows)
    counts = [f"{when}_{name}" for when in ("before", "after") for name in ("lost_ns", "waits", "flows")]

    found = asked(ask, *(("--port", port) if port else ()))

    assert {(row["service"], row["cause"]): [row[name] for name in counts] for row in found} == dict(wanted)
    assert len(wanted) > 3


def test_the_largest_change_an_hour_is_first(ask: Ask) -> None:
    found = asked(ask)
    for row in found:
        before = row["before_lost_ns"] * HOUR_NS // (FIRST[2] - FIRST[1])
        after = row["after_lost_ns"] * HOUR_NS // (LATER[2] - LATER[1])
        assert row["change_ns_per_hour"] == after - before
    sizes = [abs(row["change_ns_per_hour"]) for row in found]
    assert sizes == sorted(sizes, reverse=True)
    assert asked(ask, "--top", 2) == found[:2]


def test_the_table_says_what_changed_between_which_times(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    code, out, err = told("diff", "--before", FIRST[0], "--after", LATER[0], "--top", 3)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "an hour more to" in lines[0]
    assert lines[1].strip().startswith("before: 2026-09-22 00:00 to 2026-09-23 00:00, ")
    assert lines[2].strip().startswith("after: 2026-09-25 00:00 to 2026-09-25 12:00, ")
    assert "smaller change" in lines[-1]


def test_times_with_nothing_in_them_say_so(told: Told) -> None:
    code, out, _ = told("diff", "--before", "2020-01-01..2020-01-02", "--after", "2020-01-02..2020-01-03")
    assert code == 0
    assert out.startswith("nothing was lost in either time")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--before", FIRST[0]), "give --before and --after"),
        (("--before", FIRST[0], "--after", "2026-09-25"), "is no time from its start to its end"),
        (("--before", FIRST[0], "--after", "2026-09-25..2026-09-24"), "is no time from its start to its end"),
        (("--before", FIRST[0], "--after", "10:00..11:00"), "is no time from its start to its end"),
        (("--before", FIRST[0], "--after", LATER[0], "-o", "page.html"), "--output cannot be used with --store"),
        (("a.pcap", "b.pcap", "--cause", "handshake"), "--cause needs --store, --before and --after"),
        (("a.pcap", "b.pcap", "--store", "store"), "give captures or --store, not both"),
        (("a.pcap",), "missing argument 'BAD'"),
    ],
)
def test_what_does_not_fit_is_refused(told: Told, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = told("diff", *arguments)
    assert code == 2
    assert said in err
