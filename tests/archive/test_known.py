"""Captures that a store has: a plan that leaves out what is as it was is the plan that looks at everything."""

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive import known as knowing
from tcpstall.archive.discovery import find, fingerprint
from tcpstall.archive.known import Known
from tcpstall.archive.plan import Plan, planned
from tcpstall.archive.repeat import never
from tcpstall.archive.scan import scan
from tcpstall.archive.store import Store
from tcpstall.archive.upkeep import compacted
from tests.archive.here import here
from tests.archive.trees import pcap, written

DAY_S = 86_400


def looked_at(store: Path, captures: Path) -> tuple[Plan, int]:
    """The plan of the next scan, in an order of its own, and how many rows it was made from."""
    with Store.writing(str(store)) as opened:
        known = Known(opened, never)
        rows = len(known.rows)

        def near(*asked: Any) -> Any:
            nonlocal rows
            found = known.near(*asked)
            rows += len(found[0])
            return found

        plan = planned(list(find([str(captures)], remembered=known)), known.rows, fingerprint, near=near)
    by_name: Callable[[Mapping[str, Any]], str] = lambda row: row["name"]  # noqa: E731
    ordered = replace(
        plan,
        captures=tuple(sorted(plan.captures, key=by_name)),
        touched=tuple(sorted(plan.touched, key=by_name)),
        known=plan.known + known.unchanged,
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
            patched.setattr(knowing, "_alone", lambda _: {})
            whole, _ = looked_at(tmp_path / "store", tmp_path / "captures")
        assert plan == whole
        return plan

    return _alike


def test_the_plan_is_the_one_that_looks_at_every_row(tmp_path: Path, alike: Callable[[], Plan]) -> None:
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
    assert len(alike().captures) == 1  # there is an older row with that name
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
