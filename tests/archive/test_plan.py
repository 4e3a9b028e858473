"""Plans of scans: new captures, changed ones, those that a set grew by, and nothing twice."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from tcpstall import _core
from tcpstall.archive.captures.discovery import Input
from tcpstall.archive.planning.plan import Plan, Set, current, planned
from tcpstall.archive.planning.sets import Skipped
from tcpstall.errors import CannotOpen

Contents = Mapping[str, str]
"""Content of each file, by name; the first letter is the time of its first packet."""


def found(name: str, content: str, changed_ns: int = 0, **other: Any) -> Input:
    described: dict[str, Any] = {
        "name": name,
        "size": len(content),
        "changed_ns": changed_ns,
        "format": "pcap",
        "compression": None,
        "first_ns": ord(content[0]) * 100 if content else None,
        "error": None,
        "exit_code": 0,
    }
    return Input(**(described | other))


def plan(contents: Contents, known: Sequence[Mapping[str, Any]] = (), **options: Any) -> Plan:
    inputs = [found(name, content, changed_ns=ord(content[0])) for name, content in contents.items()]
    return planned(inputs, known, lambda name, _: contents[name], **options)


def scanned(plan: Plan, at: int = 1, resume_ns: int | None = None) -> list[dict[str, Any]]:
    """The rows that a scan of the plan leaves in the store."""
    rows = [
        {
            "scan": each.scan,
            "chain": each.chain,
            "name": member.input.name,
            "size_bytes": member.input.size,
            "changed_ns": member.input.changed_ns,
            "fingerprint": member.fingerprint,
            "first_ns": member.input.first_ns,
            "last_ns": (member.input.first_ns or 0) + 99,
            "packets": 10,
            "error": None,
            "exit_code": 0,
            "resume_ns": resume_ns,
            "tcpstall": _core.version(),
            "scanned_ns": at,
        }
        for each in sets(plan)
        for member in each.members
        if not member.known
    ]
    blank = dict.fromkeys(rows[0]) if rows else {}
    return rows + [{"scan": None, **blank, **row, "scanned_ns": at} for row in plan.captures]


def sets(plan: Plan) -> list[Set]:
    return [each for task in plan.tasks for each in task.sets]


def names(each: Set) -> list[str]:
    return [member.input.name for member in each.members]


def test_rotated_files_are_one_set_in_the_order_of_their_packets() -> None:
    (only,) = sets(plan({"/c/eth.pcap0": "b", "/c/eth.pcap1": "c", "/c/eth.pcap2": "a"}))
    assert names(only) == ["/c/eth.pcap2", "/c/eth.pcap0", "/c/eth.pcap1"]


def test_each_file_for_itself_where_that_is_asked_for() -> None:
    assert len(sets(plan({"/c/eth.pcap0": "b", "/c/eth.pcap1": "c"}, separate=True))) == 2


def test_what_was_scanned_is_not_scanned_again() -> None:
    contents = {"/c/a.pcap": "a", "/c/eth.pcap0": "b", "/c/eth.pcap1": "c"}
    again = plan(contents, scanned(plan(contents)))
    assert (sets(again), again.captures, again.known) == ([], (), 3)


def test_what_is_known_by_name_size_and_time_is_not_even_read() -> None:
    rows = scanned(plan({"/c/a.pcap": "a"}))

    def never(name: str, _: int) -> str:
        pytest.fail(f"{name} was read")

    assert planned([found("/c/a.pcap", "a", changed_ns=ord("a"))], rows, never).known == 1


def test_a_changed_file_is_scanned_again_and_its_old_rows_are_dropped() -> None:
    before = scanned(plan({"/c/a.pcap": "a"}))
    (again,) = sets(plan({"/c/a.pcap": "a and more"}, before))
    assert again.scan != before[0]["scan"]
    assert again.drops == (before[0]["scan"],)
    assert again.continues is None


def test_a_slot_of_a_ring_that_is_used_again_replaces_nothing() -> None:
    before = scanned(plan({"/c/eth.pcap0": "a", "/c/eth.pcap1": "b"}))
    (again,) = sets(plan({"/c/eth.pcap0": "c", "/c/eth.pcap1": "b"}, before))
    assert names(again) == ["/c/eth.pcap0"]
    assert again.drops == ()
    assert again.continues == before[0]["scan"]


def test_a_moved_file_is_recognised() -> None:
    before = scanned(plan({"/c/a.pcap": "a"}))
    again = plan({"/d/b.pcap": "a"}, before)
    assert (sets(again), again.captures) == ([], ())
    (row,) = again.touched
    assert (row["name"], row["scan"]) == ("/d/b.pcap", before[0]["scan"])
    rows = current([*before, {**row, "scanned_ns": 2}], frozenset())
    assert [row["name"] for row in rows] == ["/d/b.pcap"]


def test_files_renamed_by_a_rotation_are_moved_files() -> None:
    """logrotate's way: what was `a.pcap` is `b.pcap` now, and `a.pcap` is new."""
    before = scanned(plan({"/c/a.pcap": "a"}))
    again = plan({"/c/a.pcap": "c", "/c/b.pcap": "a"}, before)
    assert [names(each) for each in sets(again)] == [["/c/a.pcap"]]
    assert [row["name"] for row in again.touched] == ["/c/b.pcap"]


def test_a_copy_is_scanned_once_and_said_to_be_one() -> None:
    both = {"/c/a.pcap": "a", "/d/a.pcap": "a"}
    first = plan(both)
    assert [names(each) for each in sets(first)] == [["/c/a.pcap"]]
    (row,) = first.captures
    assert "the same bytes as /c/a.pcap" in row["warnings"]
    again = plan(both, current(scanned(first), frozenset()))
    assert (sets(again), again.captures) == ([], ())
    other_way_round = dict(reversed(both.items()))
    again = plan(other_way_round, current(scanned(first), frozenset()))
    assert (sets(again), again.captures) == ([], ())


def test_a_copy_of_a_broken_file_is_an_error_too() -> None:
    first = plan({"/c/a.pcap": "a", "/d/a.pcap": "a"})
    rows = scanned(first)
    rows[0] |= {"exit_code": 5, "error": "/c/a.pcap: cut off"}
    assert [(row["name"], row["exit_code"]) for row in current(rows, frozenset())] == [
        ("/c/a.pcap", 5),
        ("/d/a.pcap", 5),
    ]


def test_a_set_that_grew_is_read_on_from_the_oldest_open_flow() -> None:
    first = {f"/c/eth.pcap{number}": letter for number, letter in enumerate("abc")}
    before = scanned(plan(first), resume_ns=ord("b") * 100 + 50)
    (again,) = sets(plan(first | {"/c/eth.pcap3": "d"}, before))
    assert [(member.input.name, member.known) for member in again.members] == [
        ("/c/eth.pcap1", True),
        ("/c/eth.pcap2", True),
        ("/c/eth.pcap3", False),
    ]
    assert again.packets_before == 10
    assert again.continues == before[0]["scan"]
    assert again.chain == before[0]["chain"]
    assert again.drops == ()


def test_a_set_that_grew_while_nothing_was_open_is_read_from_the_new_file() -> None:
    first = {f"/c/eth.pcap{number}": letter for number, letter in enumerate("abc")}
    (again,) = sets(plan(first | {"/c/eth.pcap3": "d"}, scanned(plan(first))))
    assert names(again) == ["/c/eth.pcap3"]


def test_a_set_goes_on_from_scan_to_scan() -> None:
    contents: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    scans = []
    for number, letter in enumerate("abcd"):
        contents[f"/c/eth.pcap{number}"] = letter
        now = plan(contents, rows)
        rows += scanned(now, at=number, resume_ns=ord(letter) * 100)
        (only,) = sets(now)
        scans.append(only)
    assert [each.continues for each in scans] == [None, *(each.scan for each in scans[:-1])]
    assert len({each.chain for each in scans}) == 1
    assert [len(each.members) for each in scans] == [1, 2, 2, 2]


def test_a_file_that_turns_up_in_the_middle_has_the_whole_set_read_again() -> None:
    first = {"/c/eth.pcap0": "a", "/c/eth.pcap2": "c"}
    before = scanned(plan(first))
    (again,) = sets(plan(first | {"/c/eth.pcap1": "b"}, before))
    assert names(again) == ["/c/eth.pcap0", "/c/eth.pcap1", "/c/eth.pcap2"]
    assert again.drops == (before[0]["scan"],)


def test_files_that_are_gone_stay_in_the_store() -> None:
    before = scanned(plan({"/c/eth.pcap0": "a", "/c/eth.pcap1": "b"}))
    again = plan({"/c/eth.pcap1": "b"}, before)
    assert (sets(again), again.captures) == ([], ())


def test_what_is_no_capture_has_one_row_and_is_looked_at_again() -> None:
    refused = found("/c/a.pcap", "", error="/c/a.pcap: a JPEG picture", exit_code=4)
    first = planned([refused], [], lambda *_: pytest.fail("it was read"))
    (row,) = first.captures
    assert (row["exit_code"], row["error"]) == (4, "/c/a.pcap: a JPEG picture")
    known = [{"scan": None, "fingerprint": None, "scanned_ns": 1, **row}]
    assert planned([refused], known, lambda *_: "").captures == ()
    (readable,) = sets(planned([found("/c/a.pcap", "")], known, lambda *_: "a"))
    assert names(readable) == ["/c/a.pcap"]


def test_what_the_system_refuses_has_no_row_and_is_told_each_time() -> None:
    refused = found("/c/a.pcap", "", error="cannot open /c/a.pcap: Permission denied", exit_code=3)
    for _ in range(2):
        now = planned([refused], [], lambda *_: pytest.fail("it was read"))
        assert (now.captures, now.tasks, now.known) == ((), (), 0)
        assert now.skipped == (Skipped("/c/a.pcap", "cannot open /c/a.pcap: Permission denied"),)


def test_a_file_that_vanishes_before_it_is_looked_into_is_skipped() -> None:
    def gone(name: str, _: int) -> str:
        if name == "/c/b.pcap":
            raise CannotOpen("/c/b.pcap: no such file")
        return name

    now = planned([found("/c/a.pcap", "a"), found("/c/b.pcap", "b")], [], gone)
    assert [names(each) for each in sets(now)] == [["/c/a.pcap"]]
    assert (now.captures, now.skipped) == ((), (Skipped("/c/b.pcap", "/c/b.pcap: no such file"),))


def test_what_was_too_much_for_this_version_is_left_to_the_next() -> None:
    rows = scanned(plan({"/c/a.pcap": "a"}))
    rows[0] |= {"scan": None, "chain": None, "exit_code": 1}
    assert sets(plan({"/c/a.pcap": "a"}, rows)) == []
    rows[0] |= {"tcpstall": "0.0.1"}
    assert len(sets(plan({"/c/a.pcap": "a"}, rows))) == 1


def test_large_sets_come_first_and_small_ones_share_a_task() -> None:
    inputs = [
        found(f"/{name}/a.pcap", name, size=size) for name, size in (("a", 10), ("b", 10**9), ("c", 10), ("d", 10**8))
    ]
    tasks = planned(inputs, [], lambda name, _: name).tasks
    assert [[names(each)[0] for each in task.sets] for task in tasks] == [
        ["/b/a.pcap"],
        ["/d/a.pcap"],
        ["/a/a.pcap", "/c/a.pcap"],
    ]


def test_of_several_rows_about_a_capture_the_latest_counts() -> None:
    rows: list[dict[str, Any]] = [
        {"scan": None, "name": "/a", "fingerprint": None, "scanned_ns": 1},
        {"scan": "s", "name": "/a", "fingerprint": "f", "scanned_ns": 2},
        {"scan": "old", "name": "/b", "fingerprint": "g", "scanned_ns": 1},
        {"scan": None, "name": "/c", "fingerprint": None, "scanned_ns": 1},
        {"scan": None, "name": "/c", "fingerprint": None, "scanned_ns": 3},
    ]
    assert current(rows, frozenset({"old"})) == [rows[1], rows[4]]


class Counted(str):
    """A content that knows how often any of its kind was looked up."""

    __slots__ = ()
    lookups = 0

    def __hash__(self) -> int:
        Counted.lookups += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)


def looked_up(contents: Contents, name: str, _: int) -> str:
    return Counted(contents[name])


@pytest.mark.parametrize("named", ["host{}-a.pcap", "ring_{:05}.pcap"])
def test_twice_the_files_are_planned_with_twice_the_lookups(named: str) -> None:
    """Files of their own, and one set to which as many are added as it has."""
    counts = []
    for files in (100, 200):
        known = scanned(plan({named.format(number): f"a{number}" for number in range(files)}))
        contents = {named.format(number): f"{'a' if number < files else 'b'}{number}" for number in range(2 * files)}
        inputs = [found(name, content, changed_ns=ord(content[0])) for name, content in contents.items()]
        Counted.lookups = 0
        made = planned(inputs, known, partial(looked_up, contents))
        assert made.tasks
        counts.append(Counted.lookups)
    assert counts[1] <= 2.2 * counts[0]
