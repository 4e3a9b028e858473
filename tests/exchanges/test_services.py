"""Connections to one service: what reusing them would have saved, and who closes them when idle."""

import json
from pathlib import Path

import pytest

import tcpstall
from tcpstall.report.services import service_list
from tests.report.flows import text
from tests.scene import Scene


def connection(folder: Path, port: int, *, start_ms: int, idle_ms: float, closer: str = "server") -> Scene:
    scene = Scene(folder, client_port=port, start_ns=1_700_000_000_000_000_000 + start_ms * 1_000_000)
    scene.handshake(rtt_ms=20)
    scene.download(2_000)
    scene.client_acks()
    scene.wait_ms(idle_ms)
    getattr(scene, f"{closer}_closes")()
    getattr(scene, f"{'client' if closer == 'server' else 'server'}_closes")()
    return scene


def service_of(scenes: list[Scene]) -> tcpstall.Service:
    (service,) = tcpstall.analyze(scenes[0].capture(beside=scenes[1:])).services
    return service


@pytest.fixture
def idle(tmp_path: Path) -> list[Scene]:
    """Four connections one after the other, each closed by the server after 15 s of idleness."""
    return [connection(tmp_path, 40_000 + i, start_ms=20_000 * i, idle_ms=15_000 + 10 * i) for i in range(4)]


def test_connections_one_after_the_other_could_have_been_one(idle: list[Scene]) -> None:
    service = service_of(idle)
    assert (service.connections, service.clients, service.exchanges, service.handshakes) == (4, 1, 4, 4)
    assert service.avoidable_handshakes == 3
    assert service.avoidable_ns == pytest.approx(60e6, rel=0.05)
    assert (service.closed_by_client, service.closed_by_server) == (0, 4)


def test_connections_open_together_were_needed(tmp_path: Path) -> None:
    scenes = [connection(tmp_path, 40_000 + i, start_ms=5 * i, idle_ms=500) for i in range(3)]
    assert service_of(scenes).avoidable_handshakes == 0


def test_a_keep_alive_that_only_the_server_keeps_is_noticed(idle: list[Scene]) -> None:
    found = service_of(idle).idle_close
    assert found is not None
    assert (found.side, found.connections) == ("server", 4)
    assert found.after_ns == pytest.approx(15e9, rel=0.01)


def test_idle_times_that_differ_are_no_timer(tmp_path: Path) -> None:
    scenes = [connection(tmp_path, 40_000 + i, start_ms=90_000 * i, idle_ms=3_000 * 3**i) for i in range(4)]
    assert service_of(scenes).idle_close is None


@pytest.mark.parametrize("closer", ["client", "server"])
def test_who_closed_and_after_how_long_idle_is_the_same_at_every_vantage(tmp_path: Path, closer: str) -> None:
    scene = connection(tmp_path, 40_000, start_ms=0, idle_ms=700, closer=closer)
    for tap in ("client", "between", "server"):
        ending = scene.flow(tap)["connection"]
        assert (ending["closed_by"], ending["closed_with"]) == (closer, "fin")
        assert ending["idle_before_close_ns"] == pytest.approx(700e6, abs=25e6)


def test_a_reset_is_told_from_a_fin(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(2_000)
    scene.client_resets()
    assert scene.flow()["connection"]["closed_with"] == "rst"


def test_the_page_shows_services_with_several_connections_only(idle: list[Scene]) -> None:
    analysis = tcpstall.analyze(idle[0].capture(beside=idle[1:]))
    page = text(*service_list(analysis.services), width=120)
    assert "10.0.0.2:80  4 connections, 1 exchange each: reuse would have saved 3 of 4 handshakes" in page
    assert "the server closes connections that were idle for 15.0" in page
    assert text(*service_list(tcpstall.analyze(idle[0].capture()).services)) == ""


def test_the_json_report_lists_services(idle: list[Scene], capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    from tcpstall import _core

    _core.write([str(idle[0].capture(beside=idle[1:]))], 1, format="json")
    report = json.loads(capfdbinary.readouterr().out)
    assert [service["connections"] for service in report["services"]] == [4]
