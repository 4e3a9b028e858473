"""A scan's rows: each capture once, broken ones with their reason, and the sums of the sets analysed by themselves."""

from pathlib import Path

import tcpstall
from tcpstall import _core
from tcpstall.archive.scanning.progress import Summary
from tcpstall.archive.scanning.scan import scan
from tests.archive.contents import counted, rows
from tests.tools.bench.archive import BROKEN


def test_every_capture_is_a_row_and_every_broken_one_an_error_with_its_reason(made: Path, undisturbed: Path) -> None:
    held = rows(undisturbed)
    names = {row[3] for row in held["captures"]}
    assert len(names) == 6 + len(BROKEN) + 2 * len(list((made / "web").iterdir()))
    assert f"{made}/old.tar!/2025/member.pcap" in names
    errors = {Path(row[0]).name: row for row in held["errors"]}
    assert set(errors) == {f"{how.removesuffix('.gz')}.pcap{'.gz' if how.endswith('.gz') else ''}" for how in BROKEN}
    for row in errors.values():
        assert row[4] in (4, 5)
        assert row[5]


def test_the_sums_are_those_of_the_sets_analysed_by_themselves(made: Path, undisturbed: Path) -> None:
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


def test_several_processes_find_what_one_finds(made: Path, undisturbed: Path, tmp_path: Path) -> None:
    scan([str(made)], str(tmp_path / "store"), jobs=2)
    assert rows(tmp_path / "store") == rows(undisturbed)


def test_the_library_scans_too(made: Path, tmp_path: Path) -> None:
    summary = tcpstall.scan([made], tmp_path / "store", jobs=1)
    assert isinstance(summary, Summary)
    assert summary.flows == counted(tmp_path / "store")["flows"]
