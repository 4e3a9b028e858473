"""Captures that a store has: a plan that leaves out what is as it was is the plan that looks at everything."""

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.captures.discovery import find, fingerprint
from tcpstall.archive.maintenance.upkeep import compacted
from tcpstall.archive.planning.plan import Plan, planned
from tcpstall.archive.planning.repeat import never
from tcpstall.archive.scanning import known as knowing
from tcpstall.archive.scanning import settled
from tcpstall.archive.scanning.known import known
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tests.archive.here import here
from tests.archive.trees import pcap, written

DAY_S = 86_400


def looked_at(store: Path, captures: Path) -> tuple[Plan, int]:
    """The plan of the next scan, in an order of its own, and how many rows it was made from."""
    with Store.writing(str(store)) as opened, known(opened, never) as before:
        rows = len(before.rows)

        def near(*asked: Any) -> Any:
            nonlocal rows
            found = before.near(*asked)
            rows += len(found[0])
            return found

        inputs = list(find([str(captures)], remembered=before, settled=before.settled))
        plan = planned(inputs, before.rows, fingerprint, near=near)
    by_name: Callable[[Mapping[str, Any]], str] = lambda row: row["name"]  # noqa: E731
    ordered = replace(
        plan,
        captures=tuple(sorted(plan.captures, key=by_name)),
        touched=tuple(sorted(plan.touched, key=by_name)),
        known=plan.known + before.settled.count,
    )
    return ordered, rows


class Tree:
    """Files that come, go, move, grow and are copied, by chance."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        self._folder = folder
        self._made = 0
        for host in "abc":
            self._write(f"{host}/alone-x.pcap")
            for number in range(3):
                self._write(f"{host}/eth.pcap{number}")

    def change(self) -> None:
        path = self._chance.choice(sorted(self._folder.rglob("*.pcap*")))
        target = path.parent.parent / self._chance.choice("abc") / f"new{self._made}-x.pcap"
        match self._chance.randrange(8):
            case 0:
                self._write(str(target.relative_to(self._folder)))
            case 1:
                target.write_bytes(path.read_bytes())
            case 2:
                path.rename(target)
            case 3:
                os.utime(path, ns=(self._made, self._made))
            case 4:
                path.write_bytes(path.read_bytes() + pcap(self._moment())[24:])
            case 5:
                path.unlink()
            case 6:
                path.write_bytes(b"noise, no capture")
            case 7:
                host = path.parent.name
                self._write(f"{host}/eth.pcap{len(list(path.parent.glob('eth.pcap*')))}")
        self._made += 1

    def _write(self, name: str) -> None:
        written(self._folder, {name: pcap(self._moment())})

    def _moment(self) -> int:
        self._made += 1
        return 20_000 * DAY_S + self._made


@pytest.fixture
def alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Plan]:
    """The plan of the next scan, which is the one that looks at every row."""

    def _alike() -> Plan:
        plan, _ = looked_at(tmp_path / "store", tmp_path / "captures")
        with monkeypatch.context() as patched:
            patched.setattr(settled, "ALONE", "false")
            patched.setattr(knowing, "ALONE", "false")
            whole, _ = looked_at(tmp_path / "store", tmp_path / "captures")
        assert plan == whole
        return plan

    return _alike


@pytest.mark.parametrize(("at_once", "large"), [(20_000, 20_000), (2, 20_000), (2, 2)])
def test_the_plan_is_the_one_that_looks_at_every_row(
    tmp_path: Path, alike: Callable[[], Plan], at_once: int, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and files are looked up in one go or in several; a large folder has no digest."""
    monkeypatch.setattr(settled, "_FILES_AT_ONCE", at_once)
    monkeypatch.setattr(settled, "_ROWS", at_once)
    monkeypatch.setattr(settled, "_LARGE", large)
    tree = Tree(tmp_path / "captures", seed=1)
    for _ in range(2):
        scan(tmp_path / "captures", tmp_path / "store", executor=here)
        for _ in range(4):
            tree.change()
            alike()


def test_files_of_a_set_are_known_wherever_they_were_moved(tmp_path: Path, alike: Callable[[], Plan]) -> None:
    captures, store = tmp_path / "captures", tmp_path / "store"
    written(captures, {f"ring/eth.pcap{number}": pcap(20_000 * DAY_S + number) for number in range(4)})
    scan(captures, store, executor=here)
    (captures / "ring").rename(captures / "moved")
    scan(captures, store, executor=here)
    with Store.writing(str(store)) as opened:
        compacted(opened)
    (captures / "other").mkdir()
    (captures / "moved/eth.pcap0").rename(captures / "other/eth.pcap0")
    scan(captures, store, executor=here)
    (captures / "other/eth.pcap0").rename(captures / "moved/eth.pcap0")
    assert len(alike().touched) == 1  # there is an older row with that name
    (captures / "moved/eth.pcap0").rename(captures / "other/eth.pcap0")
    with Store.writing(str(store)) as opened:
        compacted(opened)
    written(captures, {"moved/eth.pcap4": pcap(19_000 * DAY_S)})
    (task,) = alike().tasks
    assert [len(each.members) for each in task.sets] == [1]  # one of the set's files is elsewhere: its rows must stay


def test_one_new_file_costs_the_rows_of_its_folder(tmp_path: Path) -> None:
    captures, store = tmp_path / "captures", tmp_path / "store"
    files = [f"host{host:02}/{number}-x.pcap" for host in range(10) for number in range(4)]
    written(captures, {name: pcap(20_000 * DAY_S + number) for number, name in enumerate(files)})
    scan(captures, store, executor=here)
    plan, rows = looked_at(store, captures)
    assert (plan.tasks, plan.known, rows) == ((), 40, 0)
    written(captures, {"host03/new-x.pcap": pcap(20_001 * DAY_S)})
    plan, rows = looked_at(store, captures)
    (task,) = plan.tasks
    assert [member.input.name for each in task.sets for member in each.members] == [str(captures / "host03/new-x.pcap")]
    assert (plan.known, rows) == (40, 4)


@pytest.mark.parametrize("root", ["{}", "{}/", "{}/a/../"])
def test_files_of_any_name_are_known_by_their_folders(tmp_path: Path, root: str) -> None:
    captures, store = tmp_path / "captures", tmp_path / "store"
    names = ["a/x.pcap", "a/é.pcap", "a/line\nbreak.pcap", "a/qu'ote.pcap", "x.pcap", "a/b/ .pcap"]
    written(captures, {name: pcap(20_000 * DAY_S + number) for number, name in enumerate(names)})
    asked = root.format(captures)
    scan(asked, store, executor=here)
    with Store.writing(str(store)) as opened, known(opened, never) as before:
        assert not list(find([asked], remembered=before, settled=before.settled))
        assert before.settled.count == len(names)


def test_a_name_that_is_no_text_is_known(tmp_path: Path) -> None:
    captures, store = tmp_path / "captures", tmp_path / "store"
    written(captures, {"x.pcap": pcap()})
    (captures / os.fsdecode(b"\xff.pcap")).write_bytes(pcap(20_001 * DAY_S))
    assert scan(captures, store, executor=here).captures == 2
    assert scan(captures, store, executor=here).known == 2


@pytest.mark.parametrize("change", ["grown", "touched", "gone", "beside"])
def test_a_folder_is_looked_at_when_anything_in_it_is_not_as_it_was(tmp_path: Path, change: str) -> None:
    captures, store = tmp_path / "captures", tmp_path / "store"
    paths = [captures / f"{number}-x.pcap" for number in range(3)]
    written(captures, {path.name: pcap(20_000 * DAY_S + number) for number, path in enumerate(paths)})
    scan(captures, store, executor=here)
    match change:
        case "grown":
            about = paths[1].stat()
            paths[1].write_bytes(paths[1].read_bytes() + pcap(20_001 * DAY_S)[24:])
            os.utime(paths[1], ns=(about.st_atime_ns, about.st_mtime_ns))
        case "touched":
            os.utime(paths[1], ns=(1, 1))
        case "gone":
            paths[1].unlink()
        case "beside":
            (captures / "note.txt").write_text("not a capture")
    left = {"grown": 1, "touched": 1, "gone": 0, "beside": 0}
    with Store.writing(str(store)) as opened, known(opened, never) as before:
        found = list(find([str(captures)], remembered=before, settled=before.settled))
        assert [one.name for one in found] == [str(paths[1])] * left[change]
        assert before.settled.count == 3 - left[change] - (change == "gone")
