"""tshark counts the same packets and the same TCP segments, where it is installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tcpstall import analyze
from tests.cost.captures import capture
from tests.formats.containers import COMPRESSIONS, CONTAINERS, enhanced, interface, section
from tests.formats.encapsulation import FOUR, LINKS, PSEUDOWIRE, SIX, TUNNELS
from tests.formats.fixture import CHOSEN, datagrams, wrapped
from tests.formats.tshark import TSHARK, compare, streams
from tests.properties.frames import Frame

pytestmark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")


def _of_every_kind() -> Iterator[tuple[str, Frame]]:
    """A SYN, a SYN-ACK and data in every link layer and tunnel."""
    for name, wrapping in (LINKS | TUNNELS).items():
        for version in (FOUR, SIX):
            if wrapping.version in (None, version):
                packets = datagrams(CHOSEN[1], version=version)
                for frame in wrapped([packets[0], packets[1], packets[4]], wrapping):
                    yield name, frame


def test_it_finds_tcp_in_the_same_link_layers_and_tunnels(tmp_path: Path) -> None:
    kinds = list(_of_every_kind())
    links = sorted({frame.link for _, frame in kinds})
    blocks = [section(), *(interface(link, resolution=9) for link in links)]
    blocks += [enhanced(frame, frame.time_ns, number=links.index(frame.link)) for _, frame in kinds]
    path = tmp_path / "every-kind.pcapng"
    path.write_bytes(b"".join(blocks))
    found = compare(path, f"mpls.label=={PSEUDOWIRE},pwethcw", "udp.port==8472,vxlan")
    assert found.ours
    assert found.theirs
    assert found.ours.packets == found.theirs.packets == len(kinds)
    assert len(found.ours.tcp) == len(kinds)
    assert {kinds[number - 1][0] for number in found.only_ours} == set()
    assert found.only_theirs == []


@pytest.mark.parametrize("container", CONTAINERS)
def test_it_counts_the_same_in_every_kind_of_file(container: str, tmp_path: Path) -> None:
    path = tmp_path / "anything"
    path.write_bytes(CONTAINERS[container](wrapped(datagrams(CHOSEN[0]), LINKS["Ethernet"])))
    found = compare(path)
    if container == "pcapng, other blocks between":
        # It numbers journal entries and custom blocks as packets.
        assert found.ours
        assert found.theirs
        assert len(found.ours.tcp) == len(found.theirs.tcp) == len(datagrams(CHOSEN[0]))
    else:
        assert (found.ours, found.error) == (found.theirs, None)


@pytest.mark.parametrize("compression", ["gzip", "zstd", "lz4"])
def test_it_counts_the_same_in_the_compressions_that_it_reads(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "packed"
    plain = CONTAINERS["pcapng"](wrapped(datagrams(CHOSEN[0]), LINKS["Ethernet"]))
    path.write_bytes(COMPRESSIONS[compression](plain))
    found = compare(path)
    assert (found.ours, found.error) == (found.theirs, None)


def test_flows_have_the_numbers_of_wiresharks_streams(tmp_path: Path) -> None:
    path = tmp_path / "services.pcap"
    path.write_bytes(capture("services", 300))
    columns = map(analyze(path).flows.column, ("flow", "client_port", "server_port"))
    flows = {flow: frozenset((client, server)) for flow, client, server in zip(*columns, strict=True)}
    assert len(flows) > 10
    assert flows == streams(path)
