"""Figures of a scan: every file's bytes count once, whatever the files before it were."""

from pathlib import Path

import pytest

from tcpstall.archive.scanning.metrics import Metrics
from tcpstall.archive.scanning.scan import scan
from tests.archive.conftest import single
from tests.archive.here import here


@pytest.mark.parametrize(
    "sizes", [(40,) * 7, (40, 60, 80), (80, 60, 40), (40,)], ids=["equal", "growing", "shrinking", "one"]
)
@pytest.mark.parametrize("name", ["ring.pcap{:02}", "{}/one.pcap"])
def test_bytes_of_all_files_count(tmp_path: Path, sizes: tuple[int, ...], name: str) -> None:
    for number, packets in enumerate(sizes):
        file = tmp_path / "captures" / name.format(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(single(number * 3_600, packets=packets))
    metrics = tmp_path / "scan.prom"
    scan(
        [str(tmp_path / "captures")],
        str(tmp_path / "store"),
        executor=here,
        progress=Metrics(metrics, str(tmp_path / "store")),
    )
    lines = dict(line.rsplit(" ", 1) for line in metrics.read_text().splitlines() if not line.startswith("#"))
    files = [file for file in (tmp_path / "captures").rglob("*") if file.is_file()]
    assert int(lines["tcpstall_scan_bytes_total"]) == sum(file.stat().st_size for file in files)
