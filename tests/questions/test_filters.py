"""Options that select waits: the same rows as picked one by one."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstall.archive.asking.hosts import host_is
from tcpstall.errors import ExitCode
from tests.archive.conftest import EXHAUSTIVE
from tests.questions.conftest import Ask, Told
from tests.questions.rows import Row, Rows, lost

duckdb = pytest.importorskip("duckdb")


def _near(network: str) -> Callable[[Row], bool]:
    own = ip_network(network)
    return lambda row: any(ip_address(row[f"{end}_address"]) in own for end in ("client", "server"))


def _called(pattern: str) -> Callable[[Row], bool]:
    return lambda row: any(fnmatchcase(row[name] or "", pattern) for name in ("server_name", "http_host"))


FILTERS: dict[tuple[str, ...], Callable[[Row], bool]] = {
    ("--service", "10.0.0.1:80"): lambda row: row["server_address"] == "10.0.0.1",
    ("--service", "10.0.0.1:80", "--service", "[2001:db8::1]:5432"): lambda row: (
        row["server_port"] in (80, 5432) and row["server_address"] != "10.0.0.2"
    ),
    ("--host", "10.0.0.2"): lambda row: row["server_address"] == "10.0.0.2",
    ("--host", "192.0.2.3"): lambda row: row["client_address"] == "192.0.2.3",
    ("--host", "10.0.0.0/23"): _near("10.0.0.0/23"),
    ("--host", "10.0.0.0/30"): _near("10.0.0.0/30"),
    ("--host", "2001:db8::/33"): _near("2001:db8::/33"),
    ("--host", "*.example.org"): _called("*.example.org"),
    ("--host", "SHOP.example.org"): _called("shop.example.org"),
    ("--host", "www.example.org", "--host", "10.0.0.2"): lambda row: (
        _called("www.example.org")(row) or row["server_address"] == "10.0.0.2"
    ),
    ("--port", "443"): lambda row: row["server_port"] == 443,
    ("--port", "40000-40002"): lambda row: 40_000 <= row["client_port"] <= 40_002,
    ("--capture", "day-*0.pcap"): lambda row: fnmatchcase(row["capture"], "day-*0.pcap"),
    ("--sensor", "berlin-1"): lambda row: row["sensor"] == "berlin-1",
    ("--sensor", "berlin-*", "--service", "10.0.0.1:80"): lambda row: (
        row["sensor"] is not None and row["server_address"] == "10.0.0.1"
    ),
    ("--sensor", "berlin-1", "--sensor", "berlin-2"): lambda row: row["sensor"] is not None,
    ("--host", "10.0.0.0/24", "--cause", "rwnd-limited"): lambda row: (
        _near("10.0.0.0/24")(row) and row["cause"] == "rwnd-limited"
    ),
}


@pytest.mark.parametrize("options", FILTERS, ids=" ".join)
def test_top_and_trend_add_up_what_was_selected(rows: Rows, ask: Ask, options: tuple[str, ...]) -> None:
    fits = FILTERS[options]
    wanted = sum(lost(row) for row in rows.stalls if fits(row))
    every = sum(map(lost, rows.stalls))
    assert 0 < wanted < every
    others = ("service", "cause", "host")
    for by in ("hour", *(others if EXHAUSTIVE else [others[list(FILTERS).index(options) % 3]])):
        assert sum(row["lost_ns"] for row in ask("top", "--by", by, "--top", 1_000, *options)) == wanted, by
    assert sum(row["lost_ns"] for row in ask("trend", *options)) == wanted


@pytest.mark.parametrize("options", [options for options in FILTERS if "--cause" not in options], ids=" ".join)
def test_findings_are_those_of_the_flows_selected(rows: Rows, ask: Ask, options: tuple[str, ...]) -> None:
    fits = FILTERS[options]
    kinds = {row["kind"] for row in rows.findings if fits(row) and row["recoverable_ns"] is not None}
    findings = ask("top", "--top", 1_000, *options)
    assert {row["kind"] for row in findings} >= kinds
    told = {service for row in findings if (service := row.get("service"))}
    assert all(any(str(row["server_address"]) in service for row in rows.flows if fits(row)) for service in told)


def test_the_page_of_a_host_has_its_flows_only(rows: Rows, told: Told, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert told("report", "--host", "10.0.0.2", "--port", "80", "-o", page)[0] == ExitCode.COMPLETE
    assert "10.0.0.2:80" in page.read_text()
    assert "10.0.3.7:443" not in page.read_text()


def test_nothing_that_fits_is_an_empty_answer(ask: Ask) -> None:
    assert ask("top", "--by", "service", "--host", "203.0.113.0/24") == []


addresses = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).filter(
    lambda one: one.version == 4 or one.ipv4_mapped is None
)


@given(st.lists(addresses, min_size=1, max_size=6), st.data())
def test_a_network_holds_the_addresses_that_python_says(held: list[Any], data: st.DataObject) -> None:
    near = data.draw(st.sampled_from(held))
    network = ip_network((near, data.draw(st.integers(0, near.max_prefixlen))), strict=False)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE flows (client_address VARCHAR, server_address VARCHAR, server_name VARCHAR)")
        connection.executemany("INSERT INTO flows VALUES (?, '0.0.0.0', NULL)", [[str(one)] for one in held])
        connection.execute("UPDATE flows SET server_address = client_address")
        answer = connection.execute(f"SELECT client_address FROM flows WHERE {host_is([str(network)])}").fetchall()
    assert sorted(row[0] for row in answer) == sorted(str(one) for one in held if one in network)
