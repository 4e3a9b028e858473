"""Counters of real stores: rings that grow, captures that are scanned again, days that are pruned."""

from collections import Counter
from collections.abc import Collection
from contextlib import nullcontext
from ipaddress import ip_network
from pathlib import Path

import pytest

from tcpstall.archive.asking.exporting import bring_up_to_date, exported, last_exported
from tcpstall.archive.asking.pruned import sound
from tcpstall.archive.asking.session import Session, session
from tcpstall.archive.asking.sums import sums
from tcpstall.archive.maintenance.forget import Which, forget
from tcpstall.archive.planning.repeat import Wanted, always, never
from tcpstall.archive.scanning.metrics import Metrics
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.ledger import Key, Ledger
from tcpstall.archive.storing.names import LEDGER
from tcpstall.archive.storing.store import Store
from tcpstall.cli import main
from tcpstall.errors import CannotOpen, ExitCode
from tcpstall.metrics.families import FLOWS, LOST
from tests.archive.conftest import single
from tests.archive.here import here
from tests.metrics.conftest import Values, expect_no_step_back, told, values
from tests.scene import Scene
from tests.tools.bench.archive import Rotating

DAY = 86_400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "captures").mkdir()
    return tmp_path


def put(folder: Path, name: str, content: bytes) -> None:
    (folder / "captures" / name).write_bytes(content)


def scanned(folder: Path, wanted: Wanted = never) -> None:
    scan([str(folder / "captures")], str(folder / "store"), executor=here, wanted=wanted)


def read(folder: Path) -> Values:
    return told(folder / "store", folder)


def total(ledger: Ledger, family: str) -> int:
    return sum(value for (name, _, _), value in ledger.totals.items() if name == family)


def held(folder: Path) -> Counter[Key]:
    """Sums of the store now, without a service apart."""
    with session(Store.open(str(folder / "store"))) as asked:
        return sums(asked, ())


def ring(scene: Scene) -> list[bytes]:
    """Files of a capture in which one connection goes on, over a path that gets shorter: each is judged anew."""
    scene.handshake(rtt_ms=40)
    for rtt_ms in (40, 20, 8):
        scene.path(rtt_ms=rtt_ms)
        for _ in range(3):
            scene.client_sends(1_000)
            scene.server_acks()
            scene.wait_ms(100)
            scene.server_sends(1_000)
            scene.client_acks()
    content = scene.capture("client").read_bytes()
    rotating = Rotating(len(content) // 3, 0)
    rotating.write(content)
    rotating.close()
    return [file for _, file in rotating.files]


def test_a_ring_whose_connections_go_on_steps_back_nowhere(folder: Path, scene: Scene) -> None:
    before: Values = {}
    took_back = Counter[Key]()
    last = Counter[Key]()
    for number, content in enumerate(ring(scene)):
        put(folder, f"eth0.pcap{number}", content)
        scanned(folder)
        now, after = held(folder), read(folder)
        took_back += last - now
        expect_no_step_back(before, after)
        assert sum_of(after, LOST.name) >= sum(value for key, value in now.items() if key[0] == LOST.name)
        before, last = after, now
    assert took_back, "the store itself must have stepped back, or this shows nothing"
    assert sum_of(before, FLOWS.name) == 1


def test_captures_that_are_scanned_again_count_once(folder: Path) -> None:
    put(folder, "a.pcap", single(0, packets=200))
    scanned(folder)
    before = read(folder)
    scanned(folder, always)
    assert dict(counters_of(read(folder))) == dict(counters_of(before))


def counters_of(found: Values) -> dict[tuple[str, ...], float]:
    return {name: value for name, value in found.items() if len(name) > 1}


@pytest.mark.parametrize("seen", [True, False], ids=["seen before", "not seen before"])
def test_what_is_forgotten_stays_counted_and_what_is_new_is_added(folder: Path, seen: bool) -> None:
    """Also what was scanned since the last look, and gone before the next."""
    put(folder, "a.pcap", single(0, packets=200))
    scanned(folder)
    first = read(folder)
    put(folder, "b.pcap", single(DAY, packets=300))
    scanned(folder)
    whole = held(folder)
    if seen:
        expect_no_step_back(first, read(folder))
    with Store.writing(str(folder / "store")) as store:
        assert forget(store, Which("b.pcap"))["flows"] > 0
    put(folder, "c.pcap", single(2 * DAY, packets=200))
    scanned(folder)
    ledger, _ = exported(str(folder / "store"))
    gained = held(folder)
    for family in (LOST.name, FLOWS.name):
        of_c = sum(gained[key] for key in gained if key[0] == family) - sum_of(first, family)
        assert total(ledger, family) == sum(whole[key] for key in whole if key[0] == family) + of_c


def sum_of(found: Values, family: str) -> int:
    unit = 10**9 if family.endswith("_seconds") else 1
    return round(sum(value * unit for name, value in found.items() if name[0] == f"{family}_total"))


def test_no_address_that_was_forgotten_is_left_in_the_ledger(folder: Path) -> None:
    put(folder, "a.pcap", single(0, packets=200))
    scanned(folder)
    read(folder)
    ledger = last_exported(str(folder / "store"))
    assert ledger is not None
    address = ledger.services[0].rpartition(":")[0]
    assert address.encode() in (folder / "store" / LEDGER).read_bytes()
    with Store.writing(str(folder / "store")) as store:
        forget(store, Which(network=ip_network(address)))
    assert address.encode() not in (folder / "store" / LEDGER).read_bytes()


def test_a_store_that_gives_no_metrics_keeps_no_ledger(folder: Path) -> None:
    put(folder, "a.pcap", single(0, packets=200))
    scanned(folder)
    with Store.writing(str(folder / "store")) as store:
        bring_up_to_date(store)
        forget(store, Which("a.pcap"))
    assert last_exported(str(folder / "store")) is None


def test_counters_stand_still_while_rows_are_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(folder, "a.pcap", single(0, packets=200))
    scanned(folder)
    before = read(folder)
    next((folder / "store" / "flows").rglob("*.parquet")).unlink()
    assert main(["store", "check", "--repair", "--store", str(folder / "store")]) == ExitCode.DAMAGED
    capsys.readouterr()
    file = folder / "y.prom"
    assert main(["metrics", "--store", str(folder / "store"), "-o", str(file)]) == ExitCode.DAMAGED
    assert "counters stand still" in capsys.readouterr().err
    assert values(file.read_text()) == before
    scanned(folder)
    assert counters_of(read(folder)) == counters_of(before)


def test_a_scan_writes_the_same_metrics_and_goes_on_counting(folder: Path) -> None:
    file = folder / "scan.prom"
    store = folder / "store"

    def followed(name: str, content: bytes) -> Values:
        put(folder, name, content)
        scan([str(folder / "captures")], str(store), executor=here, progress=Metrics(file, str(store)))
        return values(file.read_text())

    first = followed("a.pcap", single(0, packets=200))
    second = followed("b.pcap", single(DAY, packets=300))
    put(folder, "bad.pcap", b"no capture at all")
    third = followed("c.pcap", b"\xd4\xc3\xb2\xa1 nor this")
    expect_no_step_back(first, second)
    expect_no_step_back(second, third)
    captures, errors = "tcpstall_scan_captures_total", "tcpstall_scan_errors_total"
    assert [found[captures,] for found in (first, second, third)] == [1, 2, 4]
    assert third[errors, "4"] + third[errors, "5"] == 2
    of_the_store = {name: value for name, value in third.items() if not name[0].startswith("tcpstall_scan_")}
    assert of_the_store == read(folder)


@pytest.mark.parametrize("content", ["", "tcpstall_scan_captures_total 1.5e9\n", "\xff\xfe", "{}"])
def test_a_file_of_somebody_else_counts_as_none(folder: Path, content: str) -> None:
    (folder / "scan.prom").write_text(content)
    put(folder, "a.pcap", single(0, packets=200))
    metrics = Metrics(folder / "scan.prom", str(folder / "store"))
    scan([str(folder / "captures")], str(folder / "store"), executor=here, progress=metrics)
    assert values((folder / "scan.prom").read_text())["tcpstall_scan_captures_total",] == 1


@pytest.mark.parametrize("scans", [True, False])
def test_a_look_that_fails_is_repeated_only_if_a_scan_has_replaced_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, scans: bool
) -> None:
    put(folder, "a.pcap", single(0, packets=200))
    scanned(folder)
    failed: list[str] = []

    def failing(asked: Session, services: Collection[str]) -> Counter[Key]:
        if failed and scans:
            return sums(asked, services)
        failed.append("once")
        if scans:
            put(folder, "b.pcap", single(DAY, packets=300))
            scanned(folder)
        raise CannotOpen("a file is gone")

    monkeypatch.setattr("tcpstall.archive.asking.exporting.sums", failing)
    with nullcontext() if scans else pytest.raises(CannotOpen, match="a file is gone"):
        ledger, _ = exported(str(folder / "store"))
        assert total(ledger, FLOWS.name) == sum(value for key, value in held(folder).items() if key[0] == FLOWS.name)
    assert failed == ["once"]


def test_an_exporter_that_another_overtook_looks_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, "a.pcap", single(0, packets=200))
    scanned(folder)
    looked: list[str] = []

    def overtaken(url: str) -> Store:
        store = sound(url)
        looked.append(url)
        if len(looked) == 1:
            put(folder, "b.pcap", single(DAY, packets=300))
            scanned(folder)
            read(folder)
        return store

    monkeypatch.setattr("tcpstall.archive.asking.exporting.sound", overtaken)
    ledger, _ = exported(str(folder / "store"))
    assert len(looked) == 3
    assert ledger == last_exported(str(folder / "store"))
    assert total(ledger, FLOWS.name) == sum(value for key, value in held(folder).items() if key[0] == FLOWS.name)
