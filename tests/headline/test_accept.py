"""A server that ignores SYNs or first data that had reached it, and answers copies of them, is slow to accept."""

import pytest

from tcpstall.findings import advice, sentence
from tests.headline.found import found
from tests.scene import Scene
from tests.scene.network import Tap
from tests.scene.packet import Endpoint

COPIES_MS = (250, 250, 500)
"""The probe, and the timeouts after it."""


def asks_in_vain(scene: Scene, copies: int, *, lost: bool = False) -> None:
    """A request of 300 bytes, so many copies of it, and one that is answered."""
    position = scene.client.nxt - scene.client.isn - 1
    scene.client_sends(300, lost=lost)
    for after in COPIES_MS[:copies]:
        scene.wait_ms(after)
        scene.client_repeats(position, 300, lost=lost)
    scene.wait_ms(1_000)
    scene.client_repeats(position, 300)
    scene.server_sends(5_000)
    scene.client_acks()


@pytest.mark.parametrize(
    ("tap", "copies", "kind"),
    [("server", 3, "accept-queue"), ("server", 1, "accept-queue"), ("server", 0, "loss"), ("client", 3, "accept-queue"),
     ("client", 1, "loss")],
)  # fmt: skip
def test_first_data_that_is_ignored_again_and_again_waits_for_the_server(
    scene: Scene, tap: Tap, copies: int, kind: str
) -> None:
    scene.handshake(rtt_ms=20)
    asks_in_vain(scene, copies)
    scene.closes()
    assert next(iter(found(scene, tap))) == kind


def test_the_words_name_the_server_the_time_and_the_change(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    asks_in_vain(scene, 3)
    scene.closes()
    row = found(scene, "server")["accept-queue"]
    assert row.time_ns == pytest.approx(2e9, rel=0.05)
    assert sentence(row).startswith("10.0.0.2:80 is probably slow to accept: 2.0")
    assert "backlog" in advice(row)


def test_later_requests_that_were_lost_are_lost(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000)
    asks_in_vain(scene, 3, lost=True)
    scene.closes()
    assert "accept-queue" not in found(scene, "client")


def test_a_server_that_answers_without_acknowledging_has_accepted(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(300)
    scene.server.rcv_nxt -= 300
    scene.server_sends(100)
    for after in COPIES_MS:
        scene.wait_ms(after)
        scene.client_repeats(0, 300, lost=True)
    assert "accept-queue" not in found(scene, "client")


@pytest.mark.parametrize(
    ("tap", "ignored", "kind"),
    [("server", True, "accept-queue"), ("client", True, "handshake-loss"), ("client", False, "handshake-loss")],
)
def test_only_at_the_server_it_shows_that_the_syn_had_arrived(scene: Scene, tap: Tap, ignored: bool, kind: str) -> None:
    scene.handshake(rtt_ms=20, ignored_syns=1 if ignored else 0, lost_syns=0 if ignored else 1)
    scene.download(5_000)
    scene.closes()
    rows = found(scene, tap)
    assert next(iter(rows)) == kind
    assert rows[kind].recoverable_ns == pytest.approx(1e9, rel=0.05)


def on_one_host(scene: Scene, address: str) -> None:
    for host in (scene.client, scene.server):
        host.endpoint = Endpoint(address, host.endpoint.port)


@pytest.mark.parametrize(
    ("address", "kind"), [("127.0.0.1", "accept-queue"), ("10.0.0.7", "accept-queue"), ("", "loss")]
)
def test_between_the_sockets_of_one_host_nothing_is_lost(scene: Scene, address: str, kind: str) -> None:
    if address:
        on_one_host(scene, address)
    syn = kind.replace("loss", "handshake-loss")
    scene.handshake(rtt_ms=0.05, ignored_syns=1)
    scene.download(5_000)
    scene.closes()
    rows = found(scene, "between")
    assert next(iter(rows)) == syn
    assert rows[syn].recoverable_ns == pytest.approx(1e9, rel=0.05)


def test_a_queue_that_drops_packets_on_one_host_may_have_dropped_the_syn_ack(scene: Scene) -> None:
    """As of a test: nothing else on a host drops later data."""
    on_one_host(scene, "127.0.0.1")
    scene.handshake(rtt_ms=0.05, ignored_syns=1)
    scene.download(60_000, lose=(20_000,))
    scene.closes()
    assert {"accept-queue", "handshake-loss"} & found(scene, "between").keys() == {"handshake-loss"}


@pytest.mark.parametrize(("address", "kind"), [("127.0.0.1", "accept-queue"), ("", "loss")])
def test_on_one_host_one_copy_of_the_first_data_tells_of_the_server(scene: Scene, address: str, kind: str) -> None:
    if address:
        on_one_host(scene, address)
    scene.handshake(rtt_ms=0.05)
    asks_in_vain(scene, 0)
    scene.closes()
    assert next(iter(found(scene, "between"))) == kind


def test_a_syn_ack_that_was_lost_had_answered(scene: Scene) -> None:
    scene.handshake(rtt_ms=20, lost_syn_acks=1)
    scene.download(5_000)
    scene.closes()
    assert "accept-queue" not in found(scene, "server")
