"""Waits added up by hour: the answers are those of the waits themselves, whatever of them is added up already."""

import itertools
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from tcpstall import Cause
from tcpstall.archive.asking.pruned import sound
from tcpstall.archive.asking.session import session
from tcpstall.archive.maintenance.forget import Which, forget
from tcpstall.archive.maintenance.upkeep import compacted
from tcpstall.archive.storing import summing
from tcpstall.archive.storing.hours import SUM_TABLES, SUMMED
from tcpstall.archive.storing.parquet import Parts
from tcpstall.archive.storing.records import Commit
from tcpstall.archive.storing.store import Store
from tcpstall.archive.storing.summing import sum_up
from tests.questions.conftest import Ask
from tests.questions.rows import HOUR_NS, SERVICES, START_NS, Row, Rows, found, stall, written

Sums = Counter[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days are added up however few waits they have."""
    monkeypatch.setattr(summing, "_LEAST_ROWS", 1)


@pytest.fixture(scope="module")
def of_rows(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the rows once what no longer counts has left it, with the sums of each day; not to be changed."""
    folder = tmp_path_factory.mktemp("summed") / "store"
    shutil.copytree(rows.folder, folder)
    with pytest.MonkeyPatch.context() as patch, Store.writing(str(folder)) as store:
        patch.setattr(summing, "_LEAST_ROWS", 1)
        compacted(store)
        assert len(store.sums) == 5
        assert not any(store.unsummed(table) for table in SUMMED)
    return folder


@pytest.fixture
def summed(of_rows: Path, tmp_path: Path) -> str:
    """A store like it."""
    return str(shutil.copytree(of_rows, tmp_path / "store"))


@pytest.fixture(scope="module")
def grown(of_rows: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """One with a few waits that are not added up, and the same without sums; only to be asked."""
    url = str(shutil.copytree(of_rows, tmp_path_factory.mktemp("grown") / "store"))
    further(url, 10)
    return url, without_sums(url)


def asked(url: str, sql: str) -> list[Row]:
    with session(sound(url)) as answering:
        return answering.rows(sql)


def held(url: str) -> Sums:
    """The rows of `hours`."""
    return Counter(tuple(row.values()) for row in asked(url, "SELECT * EXCLUDE (time, service) FROM hours"))


def by_hand(url: str) -> Sums:
    """The same, added up here from the waits and findings."""
    sums: dict[tuple[Any, ...], list[int]] = {}
    waits = asked(url, "SELECT * FROM stalls")
    findings = asked(url, "SELECT * FROM findings WHERE recoverable_ns > 0")
    for row, added in itertools.chain(
        ((row, (int(row["lost_ns"] > 0), row["lost_ns"], 0)) for row in waits),
        ((row, (0, 0, row["recoverable_ns"])) for row in findings),
    ):
        hour = row["start_ns"] - row["start_ns"] % HOUR_NS
        key = (hour, row["sensor"], row["server_address"], row["server_port"], row["host"], row["cause"])
        sums[key] = [a + b for a, b in zip(sums.get(key, (0, 0, 0)), added, strict=True)]
    return Counter((*key, *values) for key, values in sums.items())


def without_sums(url: str) -> str:
    """The same store, of which no sums are known."""
    copy = f"{url}-plain"
    shutil.copytree(url, copy)
    (Path(copy) / "hours.json").unlink()
    return copy


def further(url: str, count: int) -> None:
    """As many more waits of the first day, in parts that were committed and not yet added up."""
    of = asked(url, f"SELECT * FROM flows WHERE start_ns < {START_NS + HOUR_NS} ORDER BY flow LIMIT 1")[0]
    waits = [stall(of, 100 + number, Cause.PACING, None, 10**6) for number in range(count)]
    with Store.writing(url) as store:
        store.commit(Commit(parts=[*written(store, "stalls", waits), *written(store, "findings", found(of, waits))]))


def test_the_sums_are_those_of_the_waits(summed: str, rows: Rows) -> None:
    assert held(summed) == by_hand(summed)
    lost = Counter[tuple[Any, ...]]()
    for (_, sensor, address, port, _, cause, _, lost_ns, _), count in held(summed).items():
        assert count == 1
        lost[sensor, address, port, cause] += lost_ns
    assert lost == Counter(rows.lost_by("sensor", "server_address", "server_port", "cause"))


def test_waits_that_are_not_added_up_count_beside_those_that_are(summed: str) -> None:
    further(summed, 10)
    store = Store.open(summed)
    assert store.sums
    assert len(store.unsummed("stalls")) == 1
    assert held(summed) == by_hand(summed)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--service", "10.0.3.7:443"),
        ("--cause", "sndbuf-limited"),
        ("--sensor", "berlin-*"),
        ("--host", "10.0.0.0/8"),
        ("--since", "2026-09-23T00:00", "--until", "2026-09-25T12:00"),
        ("--since", "2026-09-23T00:30"),
        ("--until", "2026-09-23T00:00:00.5"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "question",
    [("top", "--by", "service"), ("top", "--by", "cause"), ("top", "--by", "host"), ("top", "--by", "hour"),
     ("trend",), ("trend", "--by", "day")],
    ids=" ".join,
)  # fmt: skip
def test_questions_have_the_same_answers_with_sums_and_without(
    grown: tuple[str, str], ask: Ask, question: tuple[str, ...], options: tuple[str, ...]
) -> None:
    def answer(store: str) -> list[Row]:
        """Without the flow that is told as the worst: of several that lost the same it is any."""
        rows: list[Row] = ask(*question, *options, "--store", store)
        return [{name: value for name, value in row.items() if not name.startswith("worst_")} for row in rows]

    from_sums, from_rows = map(answer, grown)
    assert from_sums
    assert from_sums == from_rows


def test_small_parts_are_added_up_anew_once_their_day_has_grown_by_a_quarter(summed: str) -> None:
    before = {each.of_table("hours").name for each in Store.open(summed).sums}
    [day] = asked(summed, f"SELECT count(*) AS rows FROM stalls WHERE start_ns < {START_NS + 24 * HOUR_NS}")
    for added, again in ((day["rows"] // 8, 0), (day["rows"], 1)):
        further(summed, added)
        with Store.writing(summed) as store:
            sum_up(store, Parts(store.place, 200_000_000), spares=True)
        now = {each.of_table("hours").name for each in Store.open(summed).sums}
        assert len(now) == len(before) == 5
        assert len(now - before) == again
        assert held(summed) == by_hand(summed)


def test_a_large_part_is_added_up_once(summed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never merged with others, so what comes later gets sums of its own."""
    monkeypatch.setattr(summing, "SMALL_BYTES", 1)
    before = {each.of_table("hours").name for each in Store.open(summed).sums}
    further(summed, 1_000)
    with Store.writing(summed) as store:
        sum_up(store, Parts(store.place, 200_000_000), spares=True)
    now = {each.of_table("hours").name for each in Store.open(summed).sums}
    assert before < now
    assert len(now) == len(before) + 1
    assert held(summed) == by_hand(summed)


WORST = {
    "service": ("server_address || ':' || server_port", "key NOT LIKE '%::%'"),
    "cause": ("cause", "true"),
    "host": ("host", "true"),
    "hour": ("strftime(make_timestamp(start_ns // 1000), '%Y-%m-%dT%H:00Z')", "true"),
}
"""Keys as `top` names them, as SQL; brackets of IPv6 are left out."""


@pytest.mark.parametrize("by", WORST)
def test_the_worst_flow_is_the_one_that_waited_longest_whatever_the_days_it_waited_in(
    summed: str, ask: Ask, by: str
) -> None:
    """Half of its waits are in the sums of one day, half in those of the next, and some in none."""
    key, where = WORST[by]
    of = asked(summed, "SELECT * FROM flows WHERE server_address NOT LIKE '%:%' ORDER BY start_ns, flow LIMIT 1")[0]
    midnight = (START_NS // (24 * HOUR_NS) + 1) * 24 * HOUR_NS
    overnight = of | {
        "start_ns": midnight - 9 * 10**9,
        "end_ns": midnight + 9 * 10**9,
        "flow": 900_000,
        "scan": "a" * 16,
    }
    waits = [
        stall({**overnight, "start_ns": midnight + at * 10**9}, number, Cause.PACING, None, 10**9)
        for number, at in enumerate(range(-8, 8))
    ]
    with Store.writing(summed) as store:
        flows = written(store, "flows", [overnight])
        store.commit(Commit(parts=[*flows, *written(store, "stalls", waits[:12])]))
        sum_up(store, Parts(store.place, 200_000_000), spares=True)
        store.commit(Commit(parts=[*written(store, "stalls", waits[12:])]))
    expected = {
        row["key"]: row["lost"]
        for row in asked(
            summed,
            f"SELECT key, max(lost)::BIGINT AS lost FROM (SELECT {key} AS key, scan, flow, sum(lost_ns) AS lost "
            f"FROM stalls GROUP BY ALL HAVING sum(lost_ns) > 0) WHERE {where} GROUP BY key",
        )
    }
    rows = {row[by]: row for row in ask("top", "--by", by, "--top", "500", "--store", summed)}
    assert {name: rows[name]["worst_lost_ns"] for name in expected} == expected
    if by == "cause":
        pacing = "SELECT DISTINCT scan, flow FROM stalls WHERE cause = 'pacing' AND lost_ns > 0"
        assert rows["pacing"]["flows"] == len(asked(summed, pacing))
        assert rows["pacing"]["worst_flow"] == 900_000
        assert rows["pacing"]["worst_lost_ns"] == 16 * 10**9


def summed_up_by_days(url: str, together: int) -> Store:
    """The store once sums of so many days, but for the newest, have been added up."""
    with pytest.MonkeyPatch.context() as patch, Store.writing(url) as store:
        patch.setattr(summing, "_TOGETHER", together)
        sum_up(store, Parts(store.place, 200_000_000), spares=False)
    return Store.open(url)


@pytest.mark.parametrize(("together", "files"), [(5, 5), (4, 2)])
def test_findings_are_told_from_sums_as_from_their_rows(summed: str, ask: Ask, together: int, files: int) -> None:
    """Distributions are kept in classes of 2 %; all else is exact. It is the same for sums of one day and of four."""
    store = summed_up_by_days(summed, together)
    assert (len(store.summed("spread_sums")), len(store.summed("hours"))) == (files, 5)
    further(summed, 10)
    from_sums = ask("top", "--store", summed)
    from_rows = ask("top", "--store", without_sums(summed))
    assert len(from_sums) == len(from_rows) > 3
    apart = 0
    for one, other in zip(from_sums, from_rows, strict=True):
        for name in one:
            if name in ("median_ns", "p95_ns", "confidence"):
                assert one[name] == pytest.approx(other[name], rel=0.02)
                apart += one[name] != other[name]
            elif not name.startswith("example_"):  # of several that show it as well it is any
                assert one[name] == other[name], name
    assert apart


def test_sums_of_days_end_when_one_of_the_days_has_grown_or_their_file_is_damaged(summed: str) -> None:
    assert len(summed_up_by_days(summed, 4).summed("finding_sums")) == 2
    further(summed, 1_000)
    assert len(summed_up_by_days(summed, 5).summed("finding_sums")) == 5
    store = summed_up_by_days(summed, 4)
    assert len(store.summed("finding_sums")) == 2
    [of_days] = store.hours.of_days(store.sums)
    cut(Path(summed) / of_days.of_table("finding_sums").name)
    assert len(Store.open(summed).summed("finding_sums")) == 5


def test_sums_of_further_days_join_those_of_a_month_that_is_not_full(
    summed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summing, "_MONTH", 3)
    assert len(summed_up_by_days(summed, 2).summed("spread_sums")) == 3
    monkeypatch.setattr(summing, "_MONTH", 4)
    assert len(summed_up_by_days(summed, 1).summed("spread_sums")) == 2


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def changed(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def emptied(file: Path) -> None:
    file.write_bytes(b"{}")


@pytest.mark.parametrize("harm", [cut, changed, emptied, Path.unlink])
@pytest.mark.parametrize("which", ["hours.json", "hours/*.parquet"])
def test_damaged_sums_are_not_used_and_made_anew(summed: str, which: str, harm: Callable[[Path], None]) -> None:
    harm(next(iter(sorted(Path(summed).glob(which)))))
    assert len(Store.open(summed).sums) < 5
    assert held(summed) == by_hand(summed)
    with Store.writing(summed) as store:
        compacted(store)
        assert len(store.sums) == 5


def test_rows_that_no_longer_count_are_in_no_sum(summed: str) -> None:
    with Store.writing(summed) as store:
        store.commit(Commit(dropped=[asked(summed, "SELECT scan FROM stalls LIMIT 1")[0]["scan"]]))
    assert not Store.open(summed).sums
    assert held(summed) == by_hand(summed)


def test_what_is_forgotten_leaves_the_sums_at_once(summed: str) -> None:
    address = SERVICES[0][0]
    before = set(Path(summed).glob("hours/*.parquet"))
    with Store.writing(summed) as store:
        forget(store, Which(network=ip_network(address)))
    assert not before & set(Path(summed).glob("hours/*.parquet"))
    assert address not in {str(row[1]) for row in held(summed)}
    assert held(summed) == by_hand(summed)


@pytest.mark.parametrize(("seconds", "left"), [(50, 6), (61, 5)])
def test_sums_that_were_replaced_are_kept_for_a_minute(
    summed: str, monkeypatch: pytest.MonkeyPatch, seconds: int, left: int
) -> None:
    """Readers may have looked up just before which count."""
    further(summed, 1_000)
    with Store.writing(summed) as store:
        sum_up(store, Parts(store.place, 200_000_000), spares=True)
        assert len(store.place.names("hours")) == 6 * len(SUM_TABLES)
        now_ns = time.time_ns() + seconds * 10**9
        monkeypatch.setattr(time, "time_ns", lambda: now_ns)
        sum_up(store, Parts(store.place, 200_000_000), spares=True)
        assert len(store.place.names("hours")) == left * len(SUM_TABLES)


def test_sums_of_another_version_are_not_used(summed: str) -> None:
    file = Path(summed) / "hours.json"
    index = json.loads(file.read_bytes())
    file.write_text(json.dumps({name: value for name, value in index.items() if name != "digest"} | {"schema": "x"}))
    assert not Store.open(summed).sums
    assert held(summed) == by_hand(summed)
