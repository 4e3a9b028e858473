"""Facts that the ends gave of themselves: names in the data of a flow, and the options of their SYNs."""

from pathlib import Path
from typing import Any

import pytest

import tcpstall
from tcpstall import _core
from tcpstall.archive.asking.session import session
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tcpstall.labels import read_label
from tests.archive.here import here
from tests.scene import Reader, Scene
from tests.scene.files import several_interfaces
from tests.scene.packet import ACK, PSH, SYN, Endpoint, Link, Packet
from tests.test_labels import REQUEST, hello

NAMES = ("server_name", "http_host", "http_method", "http_status")


def says(scene: Scene, request: bytes, response: bytes) -> None:
    scene.handshake()
    scene.client_sends(len(request), content=request)
    scene.server_acks()
    scene.server_sends(1_000, content=response)
    scene.client_acks()
    scene.closes()


def told(scene: Scene, *columns: str, **how: Any) -> tuple[Any, ...]:
    """These columns of its one flow."""
    flows = _core.analyze([str(scene.capture(**how))], label=read_label).flows
    return tuple(value for column in columns for value in flows.column(column))


@pytest.mark.parametrize(
    ("request_", "response", "names"),
    [
        (REQUEST, b"HTTP/1.1 503 Service Unavailable\r\n", (None, "reports.example.org", "GET", 503)),
        (REQUEST, bytes(20), (None, "reports.example.org", "GET", None)),
        (hello(), b"\x16\x03\x03", ("www.example.org", None, None, None)),
        (b"\0" * 100, b"HTTP/1.1 200 OK\r\n", (None, None, None, None)),
    ],
)
def test_a_flow_has_the_names_in_what_it_carries(
    scene: Scene, request_: bytes, response: bytes, names: tuple[Any, ...]
) -> None:
    says(scene, request_, response)
    assert told(scene, *NAMES) == names


def test_the_rows_of_its_waits_have_them_too(scene: Scene, tmp_path: Path) -> None:
    scene.handshake()
    scene.client_sends(len(REQUEST), content=REQUEST)
    scene.server_acks()
    scene.wait_ms(500)
    scene.server_sends(1_000, content=b"HTTP/1.1 200 OK\r\n")
    scene.client_acks()
    capture = scene.capture()
    scan([str(capture)], str(tmp_path / "store"), executor=here)
    with session(Store.open(str(tmp_path / "store"))) as asked:
        for table in ("flows", "stalls", "exchanges", "findings"):
            rows = asked.rows(f"SELECT DISTINCT http_host, server_name FROM {table}")
            assert rows == [{"http_host": "reports.example.org", "server_name": None}], table


def test_pseudonyms_hide_them(scene: Scene) -> None:
    says(scene, REQUEST, b"HTTP/1.1 200 OK\r\n")
    flows = _core.analyze([str(scene.capture())], label=read_label, secret=bytes(32)).flows
    assert [flows.column(name) for name in NAMES] == [[None]] * len(NAMES)


@pytest.mark.parametrize(
    ("how", "outcome"),
    [({}, None), ({"refused": True}, "refused"), ({"lost_syns": 3, "answered": False}, "unreachable")],
)
def test_a_flow_has_its_outcome(scene: Scene, how: dict[str, Any], outcome: str | None) -> None:
    scene.handshake(rtt_ms=20, **how)
    assert told(scene, "outcome", tap="client") == (outcome,)


@pytest.mark.parametrize(("link", "vlan"), [("vlan", 42), ("qinq", 7), ("ethernet", None), ("sll", None)])
def test_a_flow_has_the_vlan_of_its_outermost_tag(scene: Scene, tmp_path: Path, link: Link, vlan: int | None) -> None:
    scene.handshake()
    scene.download(100_000)
    scene.closes()
    capture = scene.capture(link=link)
    (flow,) = tcpstall.analyze(capture)
    assert flow.vlan == vlan
    scan([str(capture)], str(tmp_path / "store"), executor=here)
    with session(Store.open(str(tmp_path / "store"))) as asked:
        assert asked.rows("SELECT vlan FROM flows") == [{"vlan": vlan}]


def two_flows(client: str, port: int) -> list[tuple[int, Packet]]:
    """A handshake and a request from this client, 10 ms between packets."""
    ends = Endpoint(client, port), Endpoint("10.0.0.9", 80)
    said = ((0, 0, 100, SYN, 0), (1, 0, 500, SYN | ACK, 101), (0, 0, 101, ACK, 501), (0, 700, 101, ACK | PSH, 501))
    return [
        (
            1_700_000_000_000_000_000 + number * 10_000_000 + port,
            Packet(ends[by], ends[1 - by], seq=seq, ack=ack, flags=flags, payload=length, window=65_535),
        )
        for number, (by, length, seq, flags, ack) in enumerate(said)
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_flow_has_the_name_of_its_first_packets_interface(tmp_path: Path, threads: int) -> None:
    """Two flows whose packets alternate; the second one's answers came in elsewhere. A third interface has no name."""
    given = {"10.0.0.1": ["eth0"] * 4, "10.0.0.2": ["wlan0", "eth0", "wlan0", "eth0"], "10.0.0.3": [""] * 4}
    packets = [
        (time, at, packet)
        for number, (client, interfaces) in enumerate(given.items())
        for (time, packet), at in zip(two_flows(client, 40_000 + number), interfaces, strict=True)
    ]
    capture = tmp_path / "several.pcapng"
    several_interfaces(capture, sorted(packets, key=lambda each: each[0]), ["", "eth0", "wlan0"])
    flows = _core.analyze([str(capture)], threads=threads).flows
    found = dict(zip(flows.column("client_address"), flows.column("interface"), strict=True))
    assert found == {"10.0.0.1": "eth0", "10.0.0.2": "wlan0", "10.0.0.3": None}
    assert [flow.interface for flow in tcpstall.analyze(capture)] == flows.column("interface")
    assert [flow.interface for flow in tcpstall.analyze(capture, anonymise=bytes(range(32)))] == [None] * 3
    scan([str(capture)], str(tmp_path / "store"), executor=here)
    with session(Store.open(str(tmp_path / "store"))) as asked:
        assert asked.rows("SELECT client_address FROM flows WHERE interface = 'wlan0'") == [
            {"client_address": "10.0.0.2"}
        ]


@pytest.mark.parametrize(("link", "interface"), [("sll2", "ifindex 2"), ("sll", None), ("ethernet", None)])
@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_a_flow_of_a_cooked_capture_has_the_number_of_its_interface(
    scene: Scene, kind: Any, link: Link, interface: str | None
) -> None:
    scene.handshake()
    scene.download(100_000)
    scene.closes()
    (flow,) = tcpstall.analyze(scene.capture(link=link, kind=kind))
    assert flow.interface == interface


def test_a_flow_that_went_on_in_a_later_scan_keeps_its_interface(tmp_path: Path) -> None:
    packets = [(time, "eth0", packet) for time, packet in two_flows("10.0.0.1", 40_000)]
    others = [(time, "wlan0", packet) for time, packet in two_flows("10.0.0.2", 40_001)]
    several_interfaces(tmp_path / "eth0.pcap1", packets[:2], ["eth0"])
    scan([str(tmp_path)], str(tmp_path / "store"), executor=here)
    several_interfaces(
        tmp_path / "eth0.pcap2", sorted([*packets[2:], *others[2:]], key=lambda each: each[0]), ["wlan0", "eth0"]
    )
    scan([str(tmp_path)], str(tmp_path / "store"), executor=here)
    with session(Store.open(str(tmp_path / "store"))) as asked:
        rows = asked.rows("SELECT client_address, segments, interface FROM flows ORDER BY ALL")
    assert rows == [
        {"client_address": "10.0.0.1", "segments": 4, "interface": "eth0"},
        {"client_address": "10.0.0.2", "segments": 2, "interface": "wlan0"},
    ]


def _syn(*fields: str) -> tuple[str, ...]:
    return tuple(f"{end}_{field}" for end in ("client", "server") for field in fields)


def test_a_flow_has_what_its_syns_said(scene: Scene) -> None:
    scene.handshake(mss=1_400, client_window=29_200, server_window=28_960, ecn=True, lost_syns=2)
    assert told(scene, "client_syns", "server_syns", *_syn("syn_mss_bytes", "syn_window_bytes")) == (
        3 if scene.tap == "client" else 1, 1, 1_400, 29_200, 1_400, 28_960,
    )  # fmt: skip
    assert told(scene, *_syn("sack_permitted", "timestamps", "ecn")) == (True,) * 6
    assert told(scene, "server_syn_ttl") == (64,)
    assert 0 < told(scene, "client_syn_ttl")[0] < 64


@pytest.mark.parametrize("form", ["pcap", "text"])
def test_what_a_syn_does_not_offer_is_false(scene: Scene, form: Any) -> None:
    scene.server.sack = False
    scene.handshake(timestamps=False)
    assert told(scene, *_syn("sack_permitted", "timestamps", "ecn"), kind=form) == (
        True, False, False, False, False, False,
    )  # fmt: skip


def test_a_flow_without_its_handshake_says_nothing_of_it(scene: Scene) -> None:
    says(scene, REQUEST, b"HTTP/1.1 200 OK\r\n")
    flows = _core.analyze([str(scene.capture(drop=[1, 2]))]).flows
    for column in _syn("syn_ttl", "syn_window_bytes", "syn_mss_bytes", "sack_permitted", "timestamps", "ecn"):
        assert flows.column(column) == [None], column
    assert flows.column("client_syns") == flows.column("server_syns") == [0]


def test_the_largest_window_that_an_end_announced(scene: Scene) -> None:
    scene.handshake(client_scale=None, server_scale=None, client_window=8_000, server_window=20_000)
    scene.client_sends(100)
    scene.server_acks()
    scene.server_transfers(50_000, reader=Reader(buffer=8_000))
    assert told(scene, *_syn("announced_window_bytes")) == (8_000, 20_000)


def test_round_trips_have_a_median_and_a_95th_percentile(scene: Scene) -> None:
    """The tap is at the server: ten messages over 20 ms, ten over 30 ms, one over 200 ms. The client sends nothing."""
    scene.handshake(rtt_ms=20)
    for rtt_ms in (*[20] * 10, *[30] * 10, 200):
        scene.path(rtt_ms=rtt_ms)
        scene.server_sends(100)
        scene.client_acks()
        scene.wait_ms(300)
    p50, p95 = told(scene, "server_rtt_p50_ns", "server_rtt_p95_ns")
    assert p50 == pytest.approx(30e6, rel=0.02)
    assert p95 == pytest.approx(30e6, rel=0.02)
    assert told(scene, "client_rtt_p50_ns", "client_rtt_p95_ns") == (None, None)


def test_a_95th_percentile_is_that_of_the_slowest_twentieth(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    for rtt_ms in (*[20] * 17, *[200] * 3):
        scene.path(rtt_ms=rtt_ms)
        scene.server_sends(100)
        scene.client_acks()
        scene.wait_ms(300)
    p50, p95 = told(scene, "server_rtt_p50_ns", "server_rtt_p95_ns")
    assert p50 == pytest.approx(20e6, rel=0.02)
    assert p95 == pytest.approx(200e6, rel=0.02)
