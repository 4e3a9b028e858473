"""Nobody waits for the last words of a connection, nor for what a client acknowledges."""

import pytest

from tcpstall import analyze
from tcpstall.findings import Finding, findings
from tests.headline.captures import hello
from tests.scene import Scene
from tests.scene.packet import Endpoint


def found(scene: Scene) -> dict[str, Finding]:
    return {row.kind: row for row in findings(analyze(scene.capture("client")))}


def saved_ms(scene: Scene, kind: str) -> float:
    row = found(scene).get(kind)
    return (row.weight_ns if row else 0) / 1e6


def says_again(scene: Scene, size: int, *, closed: bool = True) -> None:
    """The client's last words are lost, and so are their repetitions; it closes first, or gives up at the end."""
    place = scene.client.nxt - scene.client.isn - 1
    scene.client_sends(size, lost=True)
    if closed:
        scene.client_closes()
    for after in (300, 600, 1_200, 2_400):
        scene.wait_ms(after)
        scene.client_repeats(place, size, lost=True)
    if not closed:
        scene.wait_ms(100)
        scene.client_resets()


@pytest.mark.parametrize(
    ("tls", "size", "waited"),
    [(True, 31, False), (True, 900, True), (False, 31, True)],
    ids=["alert", "data", "no-tls"],
)
def test_nobody_waits_for_a_farewell_that_is_sent_again(scene: Scene, tls: bool, size: int, waited: bool) -> None:
    if tls:
        hello(scene)
    else:
        scene.handshake(rtt_ms=20)
        scene.download(5_000)
    says_again(scene, size)
    assert (saved_ms(scene, "loss") + saved_ms(scene, "peer-gone") > 2_000) == waited


def test_a_message_over_tls_that_was_never_heard_is_waited_for_until_the_client_gives_up(scene: Scene) -> None:
    hello(scene)
    says_again(scene, 62, closed=False)
    assert saved_ms(scene, "loss") + saved_ms(scene, "peer-gone") > 2_000


def answers_goodbye(scene: Scene) -> None:
    """The client closes, and the server says goodbye, too."""
    scene.client_closes()
    scene.server_sends(24)
    scene.server_closes()


@pytest.mark.parametrize(("answered", "slow"), [(False, True), (True, False)], ids=["stays", "closes"])
def test_a_goodbye_that_the_client_answers_with_its_own_is_the_last_word(
    scene: Scene, answered: bool, slow: bool
) -> None:
    """Twenty seconds after a download the server says goodbye; the client closes at once, and the server answers."""
    hello(scene)
    scene.download(60_000)
    scene.client_acks()
    scene.wait_ms(20_000)
    scene.server_sends(39)
    scene.client_acks()
    if answered:
        answers_goodbye(scene)
    else:
        scene.wait_ms(100)
        scene.server_sends(6_000)
        scene.client_acks()
    assert (saved_ms(scene, "sent-in-pieces") + saved_ms(scene, "server-slow") > 10_000) == slow


@pytest.mark.parametrize(("after_ms", "slow"), [(3, False), (40, True)], ids=["at-once", "later"])
def test_an_alert_and_the_fin_after_it_are_one_farewell(scene: Scene, after_ms: float, slow: bool) -> None:
    hello(scene)
    scene.client_sends(38)
    scene.server_acks()
    scene.wait_ms(12_000)
    scene.server_sends(31)
    scene.wait_ms(after_ms)
    scene.server_closes()
    assert ("server-slow" in found(scene)) == slow


@pytest.mark.parametrize(("size", "pieces"), [(35, False), (900, True)], ids=["acknowledgement", "data"])
def test_a_client_that_acknowledged_has_not_begun_to_ask(scene: Scene, size: int, pieces: bool) -> None:
    """Three seconds later the client sends a large request."""
    hello(scene)
    for number in range(3):
        scene.client_writes((0, 20_000))
        scene.server_sends(400)
        scene.client_sends(size)
        scene.server_acks()
        scene.wait_ms(3_000 + 170 * number)
    scene.client_writes((0, 20_000))
    assert (saved_ms(scene, "sent-in-pieces") > 5_000) == pieces


@pytest.mark.parametrize(
    ("size", "after_ms", "kind"),
    [(38, 7_000, "messages"), (38, 900, "server-silent"), (90, 7_000, "server-silent"), (400, 7_000, "server-slow")],
    ids=["acknowledgements", "soon", "messages", "requests"],
)
def test_a_client_that_only_acknowledges_is_told_events(scene: Scene, size: int, after_ms: float, kind: str) -> None:
    """The capture begins in the middle of a connection over TLS, by its port; the client answers two events."""
    scene.server.endpoint = Endpoint("10.0.0.2", 443)
    scene.handshake(rtt_ms=20)
    scene.server_sends(39)
    for number in range(2):
        scene.client_sends(size)
        scene.server_acks()
        scene.wait_ms(after_ms + 310 * number)
        scene.server_sends(600)
    scene.client_acks()
    kinds = {row.kind for row in findings(analyze(scene.capture("client", drop=(1, 2, 3))))}
    assert kinds & {"messages", "server-silent", "server-slow"} == {kind}


@pytest.mark.parametrize(("size", "slow"), [(39, False), (70, True)], ids=["acknowledgement", "request"])
def test_what_follows_half_a_minute_after_an_acknowledgement_may_be_long(scene: Scene, size: int, slow: bool) -> None:
    hello(scene)
    scene.client_sends(size)
    scene.server_acks()
    scene.wait_ms(31_000)
    scene.server_sends(900)
    scene.client_acks()
    assert ("server-slow" in found(scene)) == slow


@pytest.mark.parametrize(("size", "rate"), [(86, False), (1_448, True)], ids=["messages", "transfer"])
def test_a_few_messages_that_came_late_show_no_rate(scene: Scene, size: int, rate: bool) -> None:
    """By their timestamps they left close together: something held every second one of them."""
    scene.handshake(rtt_ms=0.2)
    scene.request()
    for number in range(6):
        scene.server_sends(size)
        scene.client_acks()
        scene.server_sends(size, late_ms=800 + 31 * number)
        scene.client_acks()
    assert ("bandwidth-limited" in found(scene)) == rate


@pytest.mark.parametrize(
    ("asked", "closes", "slow"),
    [((31, 35), True, False), ((31, 35), False, True), ((31, 300), True, True)],
    ids=["closes", "goes-on", "asks"],
)
def test_a_server_that_ends_an_idle_connection_has_answered_nothing(
    scene: Scene, asked: tuple[int, ...], closes: bool, slow: bool
) -> None:
    """The client acknowledges; after five seconds the server says goodbye, and the client closes at once."""
    hello(scene)
    scene.client_sends(220)
    scene.server_sends(171)
    for size in asked:
        scene.client_sends(size)
    scene.server_acks()
    scene.wait_ms(4_990)
    scene.server_sends(39)
    if closes:
        answers_goodbye(scene)
    else:
        scene.client_sends(220)
        scene.server_sends(171)
    scene.client_acks()
    assert (saved_ms(scene, "server-slow") > 4_000) == slow


@pytest.mark.parametrize(("before", "pieces"), [(597, False), (9_000, True)], ids=["message", "upload"])
def test_a_client_whose_handshake_is_not_captured_may_have_said_all_in_its_largest_segment(
    scene: Scene, before: int, pieces: bool
) -> None:
    """A message, half a minute of silence, and a beat."""
    scene.handshake(rtt_ms=20)
    for size in (565, before, 565, 540):
        scene.client_sends(size)
        scene.server_acks()
        scene.wait_ms(32_000 + 3 * size)
    assert (
        "sent-in-pieces" in {row.kind for row in findings(analyze(scene.capture("client", drop=(1, 2, 3))))}
    ) == pieces


@pytest.mark.parametrize(
    ("size", "after_ms", "closes_ms", "pieces"),
    [(63, 4_400, 0, False), (24, 600, 0, False), (63, 600, 0, True), (63, 4_400, 500, True), (900, 4_400, 0, True)],
    ids=["notice-and-alert", "alert", "soon", "stays", "data"],
)
def test_a_notice_with_which_the_server_closes_is_a_goodbye(
    scene: Scene, size: int, after_ms: float, closes_ms: float, pieces: bool
) -> None:
    hello(scene)
    scene.download(6_000)
    scene.wait_ms(after_ms)
    scene.server_sends(size)
    scene.wait_ms(closes_ms)
    scene.server_closes()
    scene.client_resets()
    assert (saved_ms(scene, "sent-in-pieces") > after_ms * 0.9) == pieces


@pytest.mark.parametrize(
    ("size", "after_ms", "waited"),
    [(24, 0, False), (24, 300, False), (400, 0, False), (400, 300, True)],
    ids=["alert", "late-alert", "at-once", "answer"],
)
def test_what_answers_a_close_is_no_answer(scene: Scene, size: int, after_ms: float, waited: bool) -> None:
    """The client says something, and closes seven seconds later: it waits no longer for what comes then."""
    hello(scene)
    scene.download(6_000)
    scene.client_sends(60)
    scene.server_acks()
    scene.wait_ms(7_000)
    scene.client_closes()
    scene.wait_ms(after_ms)
    scene.server_sends(size)
    scene.server_closes()
    scene.client_resets()
    assert (saved_ms(scene, "no-answer") > 5_000) == waited
    assert saved_ms(scene, "server-slow") < 100


@pytest.mark.parametrize(("asks", "slow"), [(64, False), (400, True)], ids=["only-set-up", "a-request"])
def test_a_connection_over_tls_on_which_nothing_was_asked_is_closed_as_idle(
    scene: Scene, asks: int, slow: bool
) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(517, content=bytes((22, 3, 1, 2, 0, 1)))
    scene.server_sends(4_000)
    scene.client_sends(asks)
    scene.server_acks()
    scene.wait_ms(70_000)
    scene.server_sends(474)
    scene.server_closes()
    scene.client_acks()
    assert (saved_ms(scene, "server-slow") > 60_000) == slow


@pytest.mark.parametrize(("own_turn", "slow"), [(True, False), (False, True)], ids=["says-goodbye", "goes-on"])
def test_a_goodbye_that_the_client_answers_in_a_turn_of_its_own_is_the_last_word(
    scene: Scene, own_turn: bool, slow: bool
) -> None:
    """The client acknowledges; the server says goodbye five seconds later, and the client answers and closes."""
    hello(scene)
    scene.download(6_000)
    scene.client_sends(66)
    scene.server_acks()
    scene.wait_ms(5_300)
    scene.server_sends(46)
    scene.client_sends(63 if own_turn else 700)
    if own_turn:
        scene.client_closes()
    scene.server_sends(24 if own_turn else 900)
    scene.server_closes()
    scene.client_resets()
    assert (saved_ms(scene, "server-slow") > 4_000) == slow


@pytest.mark.parametrize(("stays_ms", "kind"), [(0, "server-silent"), (500, "server-slow")], ids=["closes", "stays"])
def test_a_server_that_was_asked_nothing_and_closes_may_have_waited_in_vain(
    scene: Scene, stays_ms: float, kind: str
) -> None:
    scene.handshake(rtt_ms=20)
    scene.wait_ms(20_000)
    scene.server_sends(510)
    scene.wait_ms(stays_ms)
    scene.server_closes()
    scene.client_acks()
    assert {"server-silent", "server-slow"} & found(scene).keys() == {kind}


@pytest.mark.parametrize(("size", "reset"), [(31, False), (400, True)], ids=["farewell", "request"])
def test_a_reset_after_a_farewell_breaks_nothing_off(scene: Scene, size: int, reset: bool) -> None:
    """The capture begins with the last words of an idle connection over TLS, by its port."""
    scene.server.endpoint = Endpoint("10.0.0.2", 443)
    scene.handshake(rtt_ms=20)
    scene.client_sends(size)
    scene.client_resets()
    kinds = {row.kind for row in findings(analyze(scene.capture("client", drop=(1, 2, 3))))}
    assert ("reset" in kinds) == reset
