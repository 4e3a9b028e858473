"""Forgotten captures are gone from every table, are reported as forgotten, and stay known to scans."""

import shutil
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path

import duckdb
import pytest

from tcpstall.archive.columns import BY_DAY, TABLES
from tcpstall.archive.maintenance import forget as forgetting
from tcpstall.archive.maintenance.forget import Which, first_day_within, forget
from tcpstall.archive.planning.repeat import Wanted, always, never
from tcpstall.archive.scanning.progress import Summary
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.archive.conftest import rotated, single
from tests.archive.contents import Rows, counted, rows
from tests.archive.here import here

DAY_NS = 86_400 * 10**9


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture a day, a rotated one and a damaged one, with their store; not to be changed."""
    folder = tmp_path_factory.mktemp("archive")
    (folder / "captures" / "ring").mkdir(parents=True)
    for number, name in enumerate(("a", "b", "c")):
        (folder / "captures" / f"{name}.pcap").write_bytes(single(number * 86_400, packets=200))
    for number, content in enumerate(rotated(5 * 86_400)[:3]):
        (folder / "captures" / "ring" / f"eth0.pcap{number}").write_bytes(content)
    (folder / "captures" / "broken.pcap").write_bytes(b"no capture at all")
    scanned(folder)
    return folder


@pytest.fixture
def held(archive: Path, tmp_path: Path) -> Path:
    """To be changed."""
    shutil.copytree(archive / "store", tmp_path / "store")
    return tmp_path


def scanned(folder: Path, wanted: Wanted = never) -> Summary:
    return scan([str(folder / "captures")], str(folder / "store"), wanted=wanted, executor=here)


def forgotten(folder: Path, which: Which) -> dict[str, int]:
    with Store.writing(str(folder / "store")) as store:
        return forget(store, which)


def names(held: Rows) -> list[str]:
    return sorted(Path(str(row[3])).name for row in held["captures"])


def column(table: str, name: str) -> int:
    return [each.name for each in TABLES[table].columns].index(name)


def expect_gone(before: Rows, after: Rows, goes: Callable[[str, tuple[object, ...]], bool]) -> dict[str, int]:
    """Exactly those rows, and no others; how many."""
    for table in BY_DAY:
        assert after[table] == [row for row in before[table] if not goes(table, row)], table
    return {table: len(before[table]) - len(after[table]) for table in BY_DAY}


@pytest.mark.parametrize("which", ["a.pcap", "{captures}/a.pcap", "[a].pcap", "*/a.p?ap"])
def test_a_capture_is_forgotten_and_stays_known(archive: Path, held: Path, which: str) -> None:
    before = rows(held / "store")
    counts = forgotten(held, Which(which.format(captures=archive / "captures")))
    after = rows(held / "store")
    gone = expect_gone(before, after, lambda _, row: str(row[2]).endswith("/a.pcap"))
    assert counts == {**gone, "captures": 1}
    assert gone["flows"] > 0
    assert names(after) == [name for name in names(before) if name != "a.pcap"]
    assert scan([str(archive / "captures")], str(held / "store"), executor=here).captures == 0
    assert rows(held / "store") == after
    assert forgotten(held, Which("a.pcap")) == dict.fromkeys(counts, 0)


def test_a_capture_that_was_forgotten_is_not_taken_in_under_another_name_but_again(held: Path, archive: Path) -> None:
    before = rows(held / "store")
    forgotten(held, Which("a.pcap"))
    (held / "captures").mkdir()
    shutil.copy(archive / "captures" / "a.pcap", held / "captures" / "moved.pcap")
    scanned(held)
    assert "moved.pcap" not in names(rows(held / "store"))
    scanned(held, always)
    assert "moved.pcap" in names(rows(held / "store"))
    assert len(rows(held / "store")["flows"]) == len(before["flows"])


def test_a_capture_that_was_moved_is_forgotten_by_its_new_name(held: Path, archive: Path) -> None:
    before = rows(held / "store")
    shutil.copytree(archive / "captures", held / "captures")
    (held / "captures" / "a.pcap").rename(held / "captures" / "new.pcap")
    scanned(held)
    forgotten(held, Which("new.pcap"))
    after = rows(held / "store")
    assert expect_gone(before, after, lambda _, row: str(row[2]).endswith("/a.pcap"))["flows"] > 0
    assert "new.pcap" not in names(after)


def test_a_capture_that_failed_is_forgotten_too(held: Path, archive: Path) -> None:
    assert forgotten(held, Which("broken.*"))["captures"] == 1
    assert scan([str(archive / "captures")], str(held / "store"), executor=here).captures == 0
    assert rows(held / "store")["errors"] == []


def test_hosts_are_forgotten_by_address_and_network_in_all_captures(held: Path) -> None:
    before = rows(held / "store")
    address = str(before["flows"][0][column("flows", "client_address")])
    for network in (ip_network(address), ip_network(f"{address}/24", strict=False)):
        counts = forgotten(held, Which(network=network))
        assert counts["flows"] > 0 or network.prefixlen == 24

    def has(table: str, row: tuple[object, ...]) -> bool:
        ends = (str(row[column(table, f"{end}_address")]) for end in ("client", "server"))
        return any(end.rpartition(".")[0] == address.rpartition(".")[0] for end in ends)

    expect_gone(before, rows(held / "store"), has)


def test_several_conditions_narrow(held: Path) -> None:
    before = rows(held / "store")
    flows = [row for row in before["flows"] if str(row[2]).endswith("/b.pcap")]
    start, client = column("flows", "start_ns"), column("flows", "client_address")
    cut_ns = sorted(int(str(row[start])) for row in flows)[len(flows) // 2]
    address = str(flows[0][client])
    counts = forgotten(held, Which("b.pcap", ip_network(address), cut_ns))

    def goes(table: str, row: tuple[object, ...]) -> bool:
        ends = (row[column(table, "client_address")], row[column(table, "server_address")])
        early = int(str(row[column(table, "start_ns")])) < cut_ns
        return early and address in ends and str(row[2]).endswith("/b.pcap")

    assert expect_gone(before, rows(held / "store"), goes)["flows"] == counts["flows"] > 0
    assert counts["captures"] == 0
    assert names(rows(held / "store")) == names(before)


def test_old_days_end_the_captures_of_which_nothing_is_left(held: Path, archive: Path) -> None:
    before = rows(held / "store")
    starts = sorted(int(str(row[column("flows", "start_ns")])) for row in before["flows"])
    counts = forgotten(held, Which(before_ns=(starts[0] // DAY_NS + 2) * DAY_NS))
    assert counts["captures"] == 2
    after = names(rows(held / "store"))
    assert {"a.pcap", "b.pcap"} == set(names(before)) - set(after)
    assert scan([str(archive / "captures")], str(held / "store"), executor=here).captures == 0


def test_what_was_forgotten_of_a_set_does_not_come_back_when_the_set_changes(tmp_path: Path) -> None:
    files = rotated(0)
    folder = tmp_path / "captures"
    folder.mkdir()
    for number in (0, 2):
        (folder / f"eth0.pcap{number}").write_bytes(files[number])
    scanned(tmp_path)
    forgotten(tmp_path, Which("eth0.pcap0"))
    left = counted(tmp_path / "store")
    assert left["captures"] == 1
    (folder / "eth0.pcap1").write_bytes(files[1])  # between them: without the mark all would be read as one
    assert scanned(tmp_path).captures == 1
    held = rows(tmp_path / "store")
    assert names(held) == ["eth0.pcap1", "eth0.pcap2"]
    assert not [row for row in held["flows"] if str(row[2]).endswith("pcap0")]


def test_a_kill_before_the_checkpoint_forgets_or_does_not_and_nothing_between(
    held: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Enough(Exception):
        pass

    def killed(_: Store, *, spares: bool) -> None:
        raise Enough

    before = rows(held / "store")
    with monkeypatch.context() as patch:
        patch.setattr(forgetting, "compacted", killed)
        with pytest.raises(Enough):
            forgotten(held, Which("a.pcap"))
    after = rows(held / "store")
    expect_gone(before, after, lambda _, row: str(row[2]).endswith("/a.pcap"))
    assert "a.pcap" not in names(after)
    assert scan([str(archive / "captures")], str(held / "store"), executor=here).captures == 0
    assert rows(held / "store") == after


def test_other_tools_do_not_see_what_was_forgotten(held: Path) -> None:
    forgotten(held, Which("a.pcap"))
    with duckdb.connect(str(held / "store" / "store.duckdb"), read_only=True) as database:
        told = database.execute("SELECT count(*) FROM captures WHERE name LIKE '%/a.pcap'").fetchone()
    assert told == (0,)


def test_the_oldest_days_go_until_the_store_is_small_enough(held: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store.open(str(held / "store"))
    weight = sum(part.bytes * (1 + (part.table == "captures")) for part in store.all_parts())
    assert first_day_within(store, weight) is None
    days = sorted({part.name.split("/")[1] for table in BY_DAY for part in store.parts(table)})
    assert main(["store", "prune", "--keep", str(weight - 1), "--store", str(held / "store")]) == 0
    assert ": 0 of flows" not in capsys.readouterr().err
    kept = {part.name.split("/")[1] for table in BY_DAY for part in Store.open(str(held / "store")).parts(table)}
    assert sorted(kept) == days[1:]
    assert main(["store", "prune", "--keep", "1", "--store", str(held / "store")]) == 0
    assert all(count == 0 for table, count in counted(held / "store").items() if table in BY_DAY)


def test_a_dry_run_says_the_same_and_changes_nothing(held: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {path: path.read_bytes() for path in (held / "store").rglob("*") if path.is_file()}
    command = ["store", "forget", "--capture", "[ab].pcap", "--store", str(held / "store")]
    assert main([*command, "--dry-run"]) == 0
    dry = capsys.readouterr().err
    assert {path: path.read_bytes() for path in (held / "store").rglob("*") if path.is_file()} == files
    assert main(command) == 0
    assert capsys.readouterr().err == dry.replace("would be removed", "removed").replace("would be known", "are known")
    assert "2 captures would be known as forgotten" in dry
    assert main(["store", "check", "--store", str(held / "store")]) == 0


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["forget"], ExitCode.USAGE, "say what to forget"),
        (["forget", "--before", "+5s"], ExitCode.USAGE, "give a date"),
        (["forget", "--host", "here"], ExitCode.USAGE, "is no address and no network"),
        (["forget", "--capture", "nothing"], ExitCode.NOTHING_FITS, "holds nothing that fits"),
        (["forget", "--sensor", "*"], ExitCode.NOTHING_FITS, "holds nothing that fits"),
        (["forget", "--host", "2001:db8::/32"], ExitCode.NOTHING_FITS, "holds nothing that fits"),
        (["forget", "--before", "1971-01-01", "--dry-run"], ExitCode.NOTHING_FITS, "holds nothing that fits"),
        (["prune"], ExitCode.USAGE, "say what to keep"),
        (["prune", "--keep", "1TB"], ExitCode.COMPLETE, "0 rows removed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_commands_say_what_is_wrong(
    archive: Path, options: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["store", *options, "--store", str(archive / "store")]) == code
    assert said in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("command", [["forget", "--capture", "*"], ["prune", "--keep", "1"]], ids=lambda one: one[0])
def test_no_store_is_made_to_forget_in(command: list[str], tmp_path: Path) -> None:
    assert main(["store", *command, "--store", str(tmp_path / "nowhere")]) == ExitCode.CANNOT_OPEN
    assert not (tmp_path / "nowhere").exists()


def test_a_store_behind_a_url_forgets_too(archive: Path, bucket: str) -> None:
    url = f"{bucket}/store"
    scan([str(archive / "captures")], url, executor=here)
    before = rows(url)
    assert main(["store", "forget", "--capture", "b.pcap", "--before", "2100-01-01", "--store", url]) == 0
    after = rows(url)
    assert expect_gone(before, after, lambda _, row: str(row[2]).endswith("/b.pcap"))["flows"] > 0
    assert set(names(before)) - set(names(after)) == {"b.pcap"}
