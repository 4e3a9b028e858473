"""Names that belong together, by listings as tcpdump, dumpcap and people leave them behind."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall.archive.captures.rotation import grouped
from tests.archive.trees import pcap

CAPTURE = Path(__file__).parents[2] / "fixtures" / "slowstart-rtt7ms-512k.pcap"


def sets(names: Sequence[str]) -> dict[str, list[str]]:
    """Pattern → names in order."""
    return {group.pattern: [names[index] for index in group.members] for group in grouped(names)}


def missing(names: Sequence[str]) -> list[str]:
    return [names[index] for group in grouped(names) for index in group.members if index in group.missing_before]


ONE_SET = [
    pytest.param("eth0.pcap#", ["eth0.pcap", *(f"eth0.pcap{number}" for number in range(1, 12))], id="tcpdump -C"),
    pytest.param("eth0.pcap#", ["eth0.pcap0", "eth0.pcap1", "eth0.pcap9"], id="tcpdump -C -W 10"),
    pytest.param("eth0.pcap#", ["eth0.pcap00", "eth0.pcap01", "eth0.pcap47"], id="tcpdump -C -W 48"),
    pytest.param("trace#", ["trace", *(f"trace{number}" for number in range(1, 12))], id="tcpdump -C, no extension"),
    pytest.param("eth0.pcap#", ["eth0.pcap", "eth0.pcap1.gz", "eth0.pcap2.zst", "eth0.pcap3"], id="compressed later"),
    pytest.param(
        "gw-#.pcap", ["gw-20261120-235959.pcap", "gw-20261121-000500.pcap", "gw-20261121-001000.pcap"], id="-G"
    ),
    pytest.param(
        "gw.#.cap", ["gw.2026-11-21_10:00:00.cap.gz", "gw.2026-11-21_10:05:00.cap.gz"], id="-G with %F_%T and -z gzip"
    ),
    pytest.param("gw-#.pcap", ["gw-1763719200.pcap", "gw-1763722800.pcap"], id="-G with %s"),
    pytest.param("gw-#.pcap", ["gw-1763719200123456.pcap", "gw-1763719260000001.pcap"], id="microseconds"),
    pytest.param("gw-#.pcap", ["gw-1763719200.000001.pcap", "gw-1763719200.000002.pcap"], id="seconds and a fraction"),
    pytest.param("log.pcap.#", ["log.pcap.1763719200", "log.pcap.1763722800.gz"], id="Suricata"),
    pytest.param("h-261121-#.pcap", ["h-261121-00000012.pcap", "h-261121-00000013.pcap"], id="Arkime"),
    pytest.param("#.pcap", ["2026-11-21T10-00-00Z.pcap", "2026-11-21T11-00-00Z.pcap"], id="nothing but the time"),
    pytest.param("gw.pcap.#", ["gw.pcap.202611211000", "gw.pcap.202611211005"], id="the time behind the extension"),
    pytest.param("gw.pcap#", ["gw.pcap20261121100000", "gw.pcap20261121100500"], id="the time on the extension"),
    pytest.param("db-#.pcap", ["db-2026-11-20.pcap", "db-2026-11-21.pcap"], id="days"),
    pytest.param(
        "gw-#.pcap",
        ["gw-2026-10-25T02:30:00+0200.pcap", "gw-2026-10-25T02:00:00+0100.pcap"],
        id="the hour that comes twice, with its zone",
    ),
    pytest.param(
        "gw-#.pcap#",
        ["gw-20261121-1000.pcap", "gw-20261121-1000.pcap1", "gw-20261121-1000.pcap2", "gw-20261121-1005.pcap"],
        id="-G -C",
    ),
    pytest.param(
        "gw-#.pcap#",
        ["gw-20261121-1000.pcap00", "gw-20261121-1000.pcap01", "gw-20261121-1005.pcap00"],
        id="-G -C -W",
    ),
    pytest.param(
        "lan_#.pcapng",
        ["lan_00001_20261121100000.pcapng", "lan_00002_20261121100500.pcapng.gz", "lan_00003_20261121104500.pcapng"],
        id="dumpcap -b",
    ),
    pytest.param(
        "lan_#.pcapng",
        ["lan_20261121100000_00001.pcapng", "lan_20261121100500_00002.pcapng"],
        id="dumpcap -b nametimenum:2",
    ),
    pytest.param(
        "lan_#.pcapng",
        ["lan_99999_20261121100000.pcapng", "lan_00000_20261121100500.pcapng", "lan_00001_20261121101000.pcapng"],
        id="dumpcap begins again at 100,000",
    ),
    pytest.param("part_#.pcap", ["part_00000_20261121100000.pcap", "part_00001_20261121100000.pcap"], id="editcap -c"),
    pytest.param("part_#.pcap", ["part_00000.pcap", "part_00001.pcap"], id="editcap -c without times"),
    pytest.param("name-#.pcap", ["name-0001.pcap", "name-0002.pcap", "name-0003.pcap.xz"], id="a counter"),
    pytest.param("lan-#-#.pcap", ["lan-20261121-001.pcap", "lan-20261121-002.pcap"], id="a day and a counter"),
    pytest.param("10.0.0.1-#.pcap", ["10.0.0.1-20261120.pcap", "10.0.0.1-20261121.pcap"], id="a host and days"),
    pytest.param("s3://bucket/dc1/eth0.pcap#", ["s3://bucket/dc1/eth0.pcap", "s3://bucket/dc1/eth0.pcap1"], id="URLs"),
    pytest.param(
        "/x/a.tar!/dir/cap.pcap#", ["/x/a.tar!/dir/cap.pcap", "/x/a.tar!/dir/cap.pcap1"], id="members of an archive"
    ),
    pytest.param("W\n\x1b[31m\udcff.PCAP#", ["W\n\x1b[31m\udcff.PCAP0", "W\n\x1b[31m\udcff.PCAP1"], id="hostile"),
]


@pytest.mark.parametrize(("pattern", "names"), ONE_SET)
def test_files_of_one_capture_point_are_one_set(pattern: str, names: list[str]) -> None:
    assert sets(names) == {pattern: names}
    assert sets(names[::-1]) == {pattern: names}
    assert not missing(names)


NOT_A_SET = [
    pytest.param(["web1.pcap", "web2.pcap", "web3.pcap"], id="hosts"),
    pytest.param(["web01.pcap", "web02.pcap"], id="hosts, padded"),
    pytest.param(["web-01.pcap", "web-02.pcap"], id="hosts, padded, with a dash"),
    pytest.param(["web1", "web2", "web3"], id="hosts without extension"),
    pytest.param(["10.0.0.1.pcap", "10.0.0.2.pcap", "10.0.0.3.pcap"], id="addresses"),
    pytest.param(["10.0.0.001.pcap", "10.0.0.002.pcap"], id="addresses, padded"),
    pytest.param(["ip-10-0-0-001.pcap", "ip-10-0-0-002.pcap"], id="addresses with dashes"),
    pytest.param(["port-8080.pcap", "port-8081.pcap"], id="ports"),
    pytest.param(["vlan-100.pcap", "vlan-101.pcap"], id="VLANs"),
    pytest.param(["case-0017.pcap", "case-0482.pcap"], id="numbers that do not count"),
    pytest.param(["a.pcap", "b.pcap", "a.pcapng"], id="other names, other formats"),
    pytest.param(["a.pcap", "a.pcap.gz"], id="a copy"),
    pytest.param(["x/eth0.pcap", "y/eth0.pcap1"], id="other folders"),
    pytest.param(["a.tar!/eth0.pcap0", "b.tar!/eth0.pcap0"], id="other archives"),
    pytest.param(["cap-20260230-1000.pcap", "cap-20260231-1000.pcap"], id="days that do not exist"),
    pytest.param(["id-4512345678.pcap", "id-4512345679.pcap"], id="ten digits that are no time"),
    pytest.param(["eth0.pcap" + "1" * 5000, "eth0.pcap" + "2" * 5000], id="numbers of 5,000 digits"),
    pytest.param(["", "/", "#", ".pcap", ".gz"], id="names that are none"),
]


@pytest.mark.parametrize("names", NOT_A_SET)
def test_what_does_not_belong_together_stays_apart(names: list[str]) -> None:
    assert all(len(group.members) == 1 for group in grouped(names))


def test_hosts_with_rotated_files_are_a_set_each() -> None:
    names = [f"web{host}-20261121-{hour:02}0000.pcap" for hour in range(24) for host in (1, 2)]
    assert sets(names) == {"web1-#.pcap": names[0::2], "web2-#.pcap": names[1::2]}


def test_a_ring_leaves_a_bare_name_alone() -> None:
    names = ["eth0.pcap", "eth0.pcap00", "eth0.pcap01"]
    assert sets(names) == {"eth0.pcap": names[:1], "eth0.pcap#": names[1:]}


def test_a_name_with_a_time_is_known_by_its_pattern_even_alone() -> None:
    assert sets(["gw-20261121-1000.pcap.gz"]) == {"gw-#.pcap": ["gw-20261121-1000.pcap.gz"]}


@pytest.mark.parametrize(
    ("names", "after_gaps"),
    [
        pytest.param(["a.pcap", "a.pcap1", "a.pcap4", "a.pcap5"], ["a.pcap4"], id="-C"),
        pytest.param(["a.pcap8", "a.pcap11"], ["a.pcap11"], id="-C, the first files deleted"),
        pytest.param(["trace", "trace1", "trace3"], ["trace3"], id="-C without extension"),
        pytest.param(
            ["a-2026-11-21.pcap", "a-2026-11-21.pcap2", "a-2026-11-22.pcap1"],
            ["a-2026-11-21.pcap2"],
            id="-G -C",
        ),
        pytest.param(
            ["_00004_20261121100000.pcap", "_00006_20261121100500.pcap"],
            ["_00006_20261121100500.pcap"],
            id="dumpcap",
        ),
        pytest.param(["a_00004_20261121100000.pcap", "a_00001_20261121100500.pcap"], [], id="dumpcap, started again"),
        pytest.param(
            ["a_00004_20261025025900.pcap", "a_00005_20261025020400.pcap", "a_00006_20261025020900.pcap"],
            [],
            id="dumpcap, its clock set back",
        ),
        pytest.param(["a.pcap2", "a.pcap7"], [], id="perhaps a ring of ten"),
        pytest.param(["a.pcap00", "a.pcap07"], [], id="a ring"),
        pytest.param(["a-20261101.pcap", "a-20261121.pcap"], [], id="days"),
        pytest.param(["a-0001.pcap", "a-0002.pcap", "a-0004.pcap"], [], id="a counter of unknown make"),
    ],
)
def test_numbers_are_missing_only_where_they_can_only_count_up(names: list[str], after_gaps: list[str]) -> None:
    assert missing(names) == after_gaps


@pytest.mark.skipif(not shutil.which("editcap"), reason="editcap is not installed")
@pytest.mark.parametrize("output", ["part.pcap", "part.pcap.gz", "part"])
def test_what_editcap_splits_is_one_set(tmp_path: Path, output: str) -> None:
    subprocess.run(["editcap", "-c", "5", CAPTURE, tmp_path / output], check=True)
    names = sorted(str(path) for path in tmp_path.iterdir())
    assert len(names) > 3
    assert [group.members for group in grouped(names)] == [tuple(range(len(names)))]


@pytest.mark.skipif(not shutil.which("tcpdump"), reason="tcpdump is not installed")
@pytest.mark.parametrize(("options", "files"), [((), 13), (("-W", "20"), 13), (("-W", "9"), 9), (("-W", "5"), 5)])
def test_what_tcpdump_rotates_is_one_set(tmp_path: Path, options: tuple[str, ...], files: int) -> None:
    whole, rotated = tmp_path / "whole", tmp_path / "rotated"
    whole.write_bytes(pcap(packets=9_000, filler=bytes(1_400)))
    rotated.mkdir()
    stays = ("-Z", "root") if os.geteuid() == 0 else ()
    command = ["tcpdump", "-r", whole, "-C", "1", *options, "-w", rotated / "eth0.pcap", *stays]
    subprocess.run(command, check=True, capture_output=True)
    names = [path.name for path in rotated.iterdir()]
    (group,) = grouped(names)
    assert len(group.members) == files
    assert (group.pattern, group.missing_before) == ("eth0.pcap#", frozenset())


def test_a_folder_of_a_hundred_thousand_is_no_matter() -> None:
    names = [f"gw{host}-{1763719200 + 60 * minute}.pcap" for host in range(100) for minute in range(1000)]
    assert len(grouped(names)) == 100


WORDS = [
    "eth0",
    "web",
    "1",
    "02",
    "0007",
    "-",
    "_",
    ".",
    ".pcap",
    ".pcapng",
    ".gz",
    ".zst",
    "/",
    "!/",
    "#",
    "²",
    "\udcff",
]
TIMES = ["20261121", "100000", "2026-11-21", "T", "10:00:00", "1763719200", "_00001_20261121100000", "10.0.0.1", "\x1b"]
PIECES = st.sampled_from([*WORDS, *TIMES])
NAMES = st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=30)


@given(NAMES, st.randoms())
def test_every_name_is_in_one_group_whatever_the_order(names: list[str], chance: object) -> None:
    groups = grouped(names)
    assert sorted(index for group in groups for index in group.members) == list(range(len(names)))
    assert all(group.members and group.missing_before <= set(group.members) for group in groups)
    shuffled = list(names)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [(one.pattern, [names[i] for i in one.members]) for one in groups] == [
        (one.pattern, [shuffled[i] for i in one.members]) for one in grouped(shuffled)
    ]


@given(NAMES)
def test_only_files_of_one_folder_are_put_together(names: list[str]) -> None:
    for group in grouped(names):
        assert len({names[index].rpartition("/")[0] for index in group.members}) == 1
