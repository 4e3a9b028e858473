"""A scan: everything once, nothing lost, whatever happens meanwhile."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import tcpstall
from tcpstall import _core
from tcpstall.archive import plan, upkeep
from tcpstall.archive.columns import TABLES
from tcpstall.archive.forget import Which, forget
from tcpstall.archive.progress import Nobody, Summary
from tcpstall.archive.scan import scan
from tcpstall.archive.store import Store
from tcpstall.archive.task import Done
from tcpstall.errors import CannotOpen, CannotWrite
from tests.archive.conftest import single
from tests.archive.contents import counted, rows
from tests.archive.here import here
from tests.cli.conftest import environment
from tests.tools.bench.archive import BROKEN

KILLS = 10


@pytest.fixture
def archive(made: Path, tmp_path: Path) -> Path:
    """To be changed."""
    return Path(shutil.copytree(made, tmp_path / "captures"))


@pytest.fixture(scope="session")
def undisturbed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the archive, which must not be changed; captures are named as they are in `made`."""
    store = tmp_path_factory.mktemp("stores") / "undisturbed"
    scan([str(made)], str(store))
    return store


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit a set."""
    monkeypatch.setattr(plan, "_TASK_BYTES", 1)


def command(archive: Path, store: Path, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tcpstall", "scan", str(archive), "--store", str(store), *options],
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )


def children() -> list[int]:
    """The processes that this one has started and that still run, but for what multiprocessing keeps beside its own."""
    started = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(child) for child in started if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()]


def in_turn(folder: Path) -> list[Path]:
    """Rotated files, by their numbers."""
    return sorted(folder.iterdir(), key=lambda file: int(file.suffix.removeprefix(".pcap")))


class TestWhatIsFound:
    def test_every_capture_is_a_row_and_every_broken_one_an_error_with_its_reason(
        self, made: Path, undisturbed: Path
    ) -> None:
        held = rows(undisturbed)
        names = {row[3] for row in held["captures"]}
        assert len(names) == 6 + len(BROKEN) + 2 * len(list((made / "web").iterdir()))
        assert f"{made}/old.tar!/2025/member.pcap" in names
        errors = {Path(row[0]).name: row for row in held["errors"]}
        assert set(errors) == {
            f"{how.removesuffix('.gz')}.pcap{'.gz' if how.endswith('.gz') else ''}" for how in BROKEN
        }
        for row in errors.values():
            assert row[4] in (4, 5)
            assert row[5]

    def test_the_sums_are_those_of_the_sets_analysed_by_themselves(self, made: Path, undisturbed: Path) -> None:
        flows = stalls = exchanges = 0
        groups = [sorted((made / host).iterdir()) for host in ("web", "db")]
        groups += [[path] for folder in ("single", "broken") for path in sorted((made / folder).iterdir())]
        for paths in groups:
            alone = _core.analyze([str(path) for path in paths], sets=[0] * len(paths))
            flows, stalls, exchanges = (
                flows + len(alone), stalls + len(alone.stalls), exchanges + len(alone.exchanges)
            )  # fmt: skip
        held = counted(undisturbed)
        member = tcpstall.analyze(made / "single" / "a.pcap")
        assert held["flows"] == flows + len(member)
        assert held["stalls"] == stalls + len(member.stalls)
        assert held["exchanges"] == exchanges + len(member.exchanges)

    def test_one_process_finds_what_several_find(self, made: Path, undisturbed: Path, tmp_path: Path) -> None:
        scan([str(made)], str(tmp_path / "store"), jobs=1)
        assert rows(tmp_path / "store") == rows(undisturbed)


class TestAgain:
    def test_nothing_is_done_twice(self, archive: Path, tmp_path: Path) -> None:
        first = scan([str(archive)], str(tmp_path / "store"), executor=here)
        before = rows(tmp_path / "store")
        again = scan([str(archive)], str(tmp_path / "store"), executor=here)
        assert (again.captures, again.bytes) == (0, 0)
        assert again.known == first.captures
        assert rows(tmp_path / "store") == before

    def test_a_changed_file_replaces_its_rows(self, archive: Path, tmp_path: Path) -> None:
        """One that grew by connections, and one of which a half was cut off."""
        scan([str(archive)], str(tmp_path / "store"), executor=here)
        longer, cut = archive / "single" / "a.pcap", archive / "single" / "b.pcap"
        longer.write_bytes(single(0, packets=2_600))
        cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
        scan([str(archive)], str(tmp_path / "store"), executor=here)
        scan([str(archive)], str(tmp_path / "other"), executor=here)
        assert rows(tmp_path / "store") == rows(tmp_path / "other")

    def test_a_moved_file_is_only_renamed(self, archive: Path, tmp_path: Path) -> None:
        scan([str(archive)], str(tmp_path / "store"), executor=here)
        before = counted(tmp_path / "store")
        (archive / "single" / "a.pcap").rename(archive / "moved.pcap")
        again = scan([str(archive)], str(tmp_path / "store"), executor=here)
        assert again.packets == 0 or again.bytes == 0
        assert counted(tmp_path / "store") == before
        names = {row[3] for row in rows(tmp_path / "store")["captures"]}
        assert str(archive / "moved.pcap") in names
        assert str(archive / "single" / "a.pcap") not in names

    def test_a_set_scanned_file_by_file_as_it_grows_is_the_set_scanned_at_once(
        self, made: Path, tmp_path: Path
    ) -> None:
        """Connections that cross files included: they are told anew when more of them is known."""
        growing = tmp_path / "growing"
        growing.mkdir()
        for file in in_turn(made / "web"):
            shutil.copy2(file, growing)
            scan([str(growing)], str(tmp_path / "store"), executor=here)
        whole = Path(shutil.copytree(made / "web", tmp_path / "whole"))
        scan([str(whole)], str(tmp_path / "other"), executor=here)
        ours, others = rows(tmp_path / "store"), rows(tmp_path / "other")
        for table in ("flows", "stalls", "exchanges", "findings"):
            # Scan and flow number differ, and the name of the folder.
            assert sorted(map(repr, (row[3:] for row in ours[table]))) == sorted(
                map(repr, (row[3:] for row in others[table]))
            ), table


class TestKilled:
    def test_ten_times_at_random_moments_then_resumed(self, made: Path, undisturbed: Path, tmp_path: Path) -> None:
        store = tmp_path / "store"
        moments = random.Random(7)
        for _ in range(KILLS):
            running = command(made, store)
            time.sleep(moments.uniform(0.05, 1.5))
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            if (store / "store.json").exists():
                rows(store)
        scan([str(made)], str(store))
        assert rows(store) == rows(undisturbed)

    @pytest.mark.usefixtures("small_tasks")
    def test_after_any_commit(self, made: Path, undisturbed: Path, tmp_path: Path) -> None:
        """A scan that ends at each of its commits in turn; each next one goes on."""

        class Enough(Exception):
            pass

        class Ending(Nobody):
            def done(self, done: Done) -> None:
                raise Enough

        store = str(tmp_path / "store")
        for _ in range(100):
            try:
                scan([str(made)], store, jobs=1, progress=Ending())
            except Enough:
                rows(store)
            else:
                break
        assert rows(store) == rows(undisturbed)

    @pytest.mark.usefixtures("small_tasks")
    def test_a_worker_that_dies_is_replaced(self, made: Path, undisturbed: Path, tmp_path: Path) -> None:
        killed: list[int] = []

        class Killing(Nobody):
            def done(self, done: Done) -> None:
                if not killed and (workers := children()):
                    os.kill(workers[0], signal.SIGKILL)
                    killed.append(1)

        scan([str(made)], str(tmp_path / "store"), jobs=2, progress=Killing())
        assert killed
        assert rows(tmp_path / "store") == rows(undisturbed)

    def test_ctrl_c_leaves_a_store_that_can_be_gone_on_with(
        self, made: Path, undisturbed: Path, tmp_path: Path
    ) -> None:
        store = tmp_path / "store"
        running = command(made, store)
        while not (store / "store.json").exists() and running.poll() is None:
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate()
        assert b"Traceback" not in said
        scan([str(made)], str(store), executor=here)
        assert rows(store) == rows(undisturbed)


class TestTrouble:
    @pytest.fixture
    def small_disk(self, tmp_path: Path) -> Iterator[Path]:
        disk = tmp_path / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
        if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("a small file system can be mounted by root only")
        yield disk
        subprocess.run(["umount", "-l", str(disk)], check=True)

    def test_a_full_disk_is_told_and_the_scan_can_be_gone_on_with(
        self, made: Path, undisturbed: Path, small_disk: Path
    ) -> None:
        store = small_disk / "store"
        filler = small_disk / "filler"
        filler.write_bytes(bytes(950_000))
        with pytest.raises(CannotWrite, match="cannot write"):
            scan([str(made)], str(store))
        rows(store)
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        scan([str(made)], str(store), executor=here)
        assert rows(store) == rows(undisturbed)

    @pytest.mark.usefixtures("small_tasks")
    def test_a_share_that_vanishes_is_told_and_its_files_are_no_errors(self, archive: Path, tmp_path: Path) -> None:
        away = archive.with_name("away")

        class Vanishing(Nobody):
            def done(self, done: Done) -> None:
                if archive.exists():
                    archive.rename(away)

        store = str(tmp_path / "store")
        with pytest.raises(CannotOpen, match="vanished"):
            scan([str(archive)], store, jobs=1, progress=Vanishing())
        assert not [row for row in rows(store)["errors"] if row[4] == 3]
        away.rename(archive)
        scan([str(archive)], store, executor=here)
        other = tmp_path / "other"
        scan([str(archive)], str(other), executor=here)
        assert rows(store) == rows(other)

    def test_a_root_that_does_not_exist_is_told_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(CannotOpen, match="nowhere"):
            scan([str(tmp_path / "nowhere")], str(tmp_path / "store"))

    def test_a_second_scan_into_the_same_store_is_refused(self, made: Path, tmp_path: Path) -> None:
        with Store.writing(str(tmp_path / "store")):
            done = command(made, tmp_path / "store")
            _, said = done.communicate()
        assert done.returncode == 6
        assert b"another scan is writing" in said


class TestOperations:
    def test_what_a_scan_came_to_is_told_in_its_exit_code_and_one_line(self, made: Path, tmp_path: Path) -> None:
        done = command(made, tmp_path / "store")
        _, said = done.communicate()
        assert done.returncode == 5
        assert said.decode().count("\n") == 1
        again = command(made, tmp_path / "store")
        _, said = again.communicate()
        assert again.returncode == 0
        assert b"0 captures scanned" in said

    def test_metrics_and_log_say_the_same_as_the_store(self, made: Path, tmp_path: Path) -> None:
        metrics, log = tmp_path / "scan.prom", tmp_path / "scan.log"
        command(made, tmp_path / "store", "--metrics", str(metrics), "--log", str(log)).communicate()
        held = counted(tmp_path / "store")
        lines = dict(line.rsplit(" ", 1) for line in metrics.read_text().splitlines() if not line.startswith("#"))
        assert int(lines["tcpstall_scan_captures_total"]) == held["captures"]
        assert int(lines["tcpstall_scan_flows_total"]) == held["flows"]
        errors = sum(int(value) for name, value in lines.items() if name.startswith("tcpstall_scan_errors_total"))
        assert errors == held["errors"]
        assert int(lines["tcpstall_scan_pending_bytes"]) == 0
        events = [json.loads(line) for line in log.read_text().splitlines()]
        assert [event["event"] for event in events][:1] == ["planned"]
        assert sum(event["event"] == "failed" for event in events) == held["errors"]
        assert events[-1]["event"] == "finished"
        assert events[-1]["flows"] == held["flows"]

    def test_memory_that_is_too_little_is_refused(self, made: Path, tmp_path: Path) -> None:
        done = command(made, tmp_path / "store", "--max-memory", "100M")
        _, said = done.communicate()
        assert done.returncode == 2
        assert b"at least" in said

    def test_watching_takes_in_what_is_complete_and_ends_with_sigterm(self, made: Path, tmp_path: Path) -> None:
        growing, store, log = tmp_path / "growing", tmp_path / "store", tmp_path / "log"
        growing.mkdir()
        running = command(growing, store, "--watch", "--every", "50ms", "--log", str(log))
        for file in in_turn(made / "web")[:3]:
            content = file.read_bytes()
            with (growing / file.name).open("wb") as writing:
                writing.write(content[: len(content) // 2])
                writing.flush()
                time.sleep(0.3)
                writing.write(content[len(content) // 2 :])
        waited_until = time.monotonic() + 60
        while time.monotonic() < waited_until and _scanned(log) < 3:
            time.sleep(0.1)
        running.terminate()
        _, said = running.communicate()
        assert running.returncode == 0, said
        assert not rows(store)["errors"]
        other = tmp_path / "other"
        scan([str(growing)], str(other), executor=here)
        ours, others = rows(store), rows(other)
        for table in ("flows", "stalls", "exchanges", "findings"):
            assert sorted(map(repr, (row[3:] for row in ours[table]))) == sorted(
                map(repr, (row[3:] for row in others[table]))
            )


def _scanned(log: Path) -> int:
    if not log.exists():
        return 0
    events = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
    return sum(event["captures"] for event in events if event["event"] == "scanned")


def test_the_library_scans_too(made: Path, tmp_path: Path) -> None:
    summary = tcpstall.scan([made], tmp_path / "store", jobs=1)
    assert isinstance(summary, Summary)
    assert summary.flows == counted(tmp_path / "store")["flows"]


class TestUpkeep:
    def test_parts_of_a_day_are_merged_and_say_the_same(self, made: Path, tmp_path: Path, small_tasks: None) -> None:
        store = tmp_path / "store"
        scan([str(made)], str(store), executor=here)
        assert len(Store.open(str(store)).parts("flows")) <= 2 * upkeep._MANY
        unmerged = tmp_path / "unmerged"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(upkeep, "_MANY", 1_000)
            scan([str(made)], str(unmerged), executor=here)
        assert len(Store.open(str(unmerged)).parts("flows")) > len(Store.open(str(store)).parts("flows"))
        assert rows(unmerged) == rows(store)

    def test_what_is_older_is_forgotten_and_not_scanned_again(self, made: Path, tmp_path: Path) -> None:
        store = tmp_path / "store"
        scan([str(made)], str(store), executor=here)
        before = rows(store)
        start = [one.name for one in TABLES["flows"].columns].index("start_ns")
        starts = sorted(row[start] for row in before["flows"])
        cut_ns = starts[len(starts) // 2]
        with Store.writing(str(store)) as opened:
            gone = forget(opened, Which(before_ns=cut_ns))
        after = rows(store)
        for table in ("flows", "stalls", "exchanges", "findings"):
            column = [one.name for one in TABLES[table].columns].index("start_ns")
            assert after[table] == [row for row in before[table] if row[column] >= cut_ns], table
        assert gone == {table: len(before[table]) - len(after[table]) for table in before if table != "errors"}
        assert 0 < len(after["captures"]) < len(before["captures"])
        assert scan([str(made)], str(store), executor=here).captures == 0

    def test_pruning_is_a_command_that_tells_what_went(self, made: Path, tmp_path: Path) -> None:
        scan([str(made)], str(tmp_path / "store"), executor=here)
        held = counted(tmp_path / "store")
        arguments = ["store", "prune", "--older-than", "30d", "--store", str(tmp_path / "store")]
        done = subprocess.run([sys.executable, "-m", "tcpstall", *arguments], capture_output=True, env=environment())
        rows_gone = sum(held[table] for table in ("flows", "stalls", "exchanges", "findings"))
        assert (done.returncode, f"{rows_gone:,} rows removed" in done.stderr.decode()) == (0, True)
        assert counted(tmp_path / "store")["flows"] == 0

    def test_a_store_of_another_version_is_brought_up_to_date(
        self, made: Path, undisturbed: Path, tmp_path: Path
    ) -> None:
        """As if this version had columns that the one before did not know, and had lost another."""
        store = Path(shutil.copytree(undisturbed, tmp_path / "store"))
        catalog = json.loads((store / "catalog.json").read_text())
        for part in catalog["parts"]:
            if part["table"] == "stalls":
                renamed = store / part["name"]
                file = renamed.with_name(f"{uuid.uuid4().hex}.parquet")
                duckdb.sql(
                    f"COPY (SELECT * EXCLUDE (excess_owner), 1 AS forgotten FROM read_parquet('{renamed}')) "
                    f"TO '{file}' (FORMAT parquet)"
                )
                renamed.unlink()
                part |= {"layout": "another", "name": str(file.relative_to(store)), "bytes": file.stat().st_size}
        # That version knew neither digests nor copies.
        old = {key: catalog[key] for key in ("schema", "upto", "parts", "captures", "dropped", "continued")}
        (store / "catalog.json").write_text(json.dumps(old))
        shutil.rmtree(store / "copy")
        with pytest.raises(CannotOpen, match="tcpstall store compact"):
            Store.asked(str(store))
        scan([str(made)], str(store), executor=here)
        ours, theirs = rows(store), rows(undisturbed)
        assert Store.asked(str(store)).outdated() == []
        names = [column.name for column in TABLES["stalls"].columns]
        lost = names.index("excess_owner")
        assert {row[lost] for row in ours["stalls"]} == {None}
        assert sorted(repr((*row[:lost], *row[lost + 1 :])) for row in ours["stalls"]) == sorted(
            repr((*row[:lost], *row[lost + 1 :])) for row in theirs["stalls"]
        )

    def test_other_tools_read_the_tables_from_a_database(self, undisturbed: Path) -> None:
        with duckdb.connect(str(undisturbed / "store.duckdb"), read_only=True) as database:
            told = database.execute("SELECT count(*) FROM flows").fetchone()
        assert told == (counted(undisturbed)["flows"],)
