"""What a server tells when something happens is no slow answer: the client asked for nothing, or asked to be told."""

import pytest

from tcpstall import analyze
from tcpstall.findings import findings, sentence
from tests.headline.captures import hello
from tests.headline.test_farewell import saved_ms
from tests.headline.test_pushes import found
from tests.scene import Scene

BEGUN_BEFORE = (1, 2)
"""The SYN and the SYN-ACK, which the capture lacks."""


def tells(scene: Scene, size: int, after_ms: float) -> None:
    """The server tells an event after that time."""
    scene.wait_ms(after_ms)
    scene.server_sends(size)
    scene.client_acks()


def asks(scene: Scene, size: int, answer: int, *, late_ms: float = 0) -> None:
    scene.client_sends(size)
    scene.server_acks()
    tells(scene, answer, late_ms)


def replies(scene: Scene, *, own_ms: float = 0, alike: bool = True, late: int = 6) -> None:
    """The client replies at once to what the server tells at any time, and asks of its own accord now and then."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    for number in range(6):
        scene.wait_ms(3_000)
        asks(scene, 90, 300, late_ms=own_ms)
        for event in range(2):
            tells(scene, 250, (900 + 1_700 * number) if number < late and event else 15)
            scene.client_sends(72 if alike else 60 + 3 * number + 20 * event)
            scene.server_acks()
        tells(scene, 250, (700 + 1_100 * number) if number < late else 15)


@pytest.mark.parametrize(
    ("how", "began", "events"),
    [
        ({}, BEGUN_BEFORE, True),
        ({"own_ms": 1_500}, BEGUN_BEFORE, False),
        ({"alike": False}, BEGUN_BEFORE, False),
        ({}, (), False),
    ],
    ids=["replies", "the-server-is-slow", "of-many-lengths", "a-whole-connection"],
)
def test_what_follows_a_reply_is_an_event(
    scene: Scene, how: dict[str, float], began: tuple[int, ...], events: bool
) -> None:
    replies(scene, **how)  # type: ignore[arg-type]
    assert ("server-slow" not in found(scene, drop=began)) == events


@pytest.mark.parametrize(("soon", "again", "slow"), [(0, 3, False), (5, 3, True), (0, 0, True)])
def test_a_message_that_mostly_wants_no_answer_has_none(scene: Scene, soon: int, again: int, slow: bool) -> None:
    """Every seven seconds the client says that it is there; three seconds after one, the server tells something."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    for _ in range(soon):
        scene.wait_ms(1_000)
        asks(scene, 310, 900)
    for _ in range(again):
        scene.client_sends(310)
        scene.server_acks()
        scene.wait_ms(7_000)
    asks(scene, 310, 700, late_ms=3_000)
    assert ("server-slow" in found(scene)) == slow


@pytest.mark.parametrize(
    ("size", "late_ms", "began", "kind"),
    [
        (60, 8_600, BEGUN_BEFORE, "server-silent"),
        (60, 4_000, BEGUN_BEFORE, "server-slow"),
        (600, 8_600, BEGUN_BEFORE, "server-slow"),
        (60, 8_600, (), "server-slow"),
    ],
    ids=["a-message", "soon", "a-request", "a-whole-connection"],
)
def test_a_connection_from_before_the_capture_may_tell_events(
    scene: Scene, size: int, late_ms: float, began: tuple[int, ...], kind: str
) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    scene.wait_ms(2_000)
    asks(scene, size, 700, late_ms=late_ms)
    assert {"server-slow", "server-silent"} & found(scene, drop=began).keys() == {kind}


def test_a_silence_that_may_be_an_event_is_told_with_its_doubt_and_has_little_weight(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(200_000)
    scene.wait_ms(2_000)
    asks(scene, 60, 700, late_ms=8_600)
    first, *_ = findings(analyze(scene.capture("client", drop=BEGUN_BEFORE)))
    assert (first.kind, first.recoverable_ns) == ("server-silent", None)
    assert sentence(first) == (
        "10.0.0.2:80 was silent for 8.59 s before a message, 1 flow: "
        "an answer that came late, or an event that nobody waited for"
    )


def test_what_surely_cost_time_comes_before_what_may_be_an_event(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(5_000, think_ms=900)
    scene.wait_ms(2_000)
    asks(scene, 60, 700, late_ms=8_600)
    kinds = list(found(scene, drop=BEGUN_BEFORE))
    assert kinds[:2] == ["server-slow", "server-silent"]


@pytest.mark.parametrize(
    ("sizes", "times_ms", "think_ms", "silent"),
    [
        ((447, 447), (40_000, 25_000), 0, True),
        ((447, 447), (40_000, 25_000), 900, False),
        ((447, 512), (40_000, 25_000), 0, False),
        ((447, 447), (40_000, 4_000), 0, False),
    ],
    ids=["asked-again", "thought-about", "another-request", "sooner"],
)
def test_the_same_asked_again_at_once_may_be_a_long_poll(
    scene: Scene, sizes: tuple[int, int], times_ms: tuple[float, float], think_ms: float, silent: bool
) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    for size, late_ms in zip(sizes, times_ms, strict=True):
        scene.wait_ms(think_ms)
        asks(scene, size, 900, late_ms=late_ms)
    assert ("server-silent" in found(scene)) == silent


@pytest.mark.parametrize(
    ("unasked", "answered", "length", "late_ms", "slow"),
    [
        (3, 0, 155, 8_000, False),
        (3, 0, 700, 8_000, True),
        (1, 0, 155, 8_000, True),
        (3, 4, 155, 8_000, True),
        (3, 0, 155, 3_000, True),
    ],
    ids=["said-unasked", "another-length", "said-once", "an-answer", "soon"],
)
def test_what_the_server_also_says_unasked_is_no_answer(
    scene: Scene, unasked: int, answered: int, length: int, late_ms: float, slow: bool
) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    for number in range(unasked):
        tells(scene, 155, 6_000 + 1_900 * number)
    for _ in range(answered):
        scene.wait_ms(700)
        asks(scene, 610, 155)
    scene.wait_ms(1_200)
    asks(scene, 610, length, late_ms=late_ms)
    assert ("server-slow" in found(scene)) == slow


@pytest.mark.parametrize(("beat", "slow"), [(55, False), (61, True)], ids=["a-heartbeat", "of-another-length"])
def test_a_heartbeat_after_a_request_is_no_answer(scene: Scene, beat: int, slow: bool) -> None:
    """Both ends say that they are there, one after the other, about every ten seconds."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    asks(scene, 204, 55, late_ms=9_000)
    for number in range(3):
        scene.wait_ms(1_300 + 400 * number)
        asks(scene, beat, beat, late_ms=8_100 + 700 * number)
    assert ("server-slow" in found(scene)) == slow


@pytest.mark.parametrize(("whole", "pieces"), [(310, False), (260, True)], ids=["whole", "begun"])
def test_what_follows_a_whole_answer_is_no_piece_of_it(scene: Scene, whole: int, pieces: bool) -> None:
    """More follows an answer four seconds later; another answer to a request of that length was of `whole` bytes."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    asks(scene, 210, whole)
    scene.wait_ms(1_000)
    asks(scene, 210, 310)
    tells(scene, 9_000, 4_000)
    assert (saved_ms(scene, "sent-in-pieces") > 3_000) == pieces


@pytest.mark.parametrize(
    ("size", "began", "pieces"),
    [(900, (1, 2, 3, 4), False), (20_000, (1, 2, 3, 4), True), (900, (1, 2), True)],
    ids=["messages", "a-transfer", "the-client-asked"],
)
def test_a_server_that_only_tells_sends_no_pieces(
    scene: Scene, size: int, began: tuple[int, ...], pieces: bool
) -> None:
    scene.handshake(rtt_ms=20)
    scene.request()
    scene.server_writes(*((after, size) for after in (0, 1_300, 4_100, 5_200, 9_000, 10_400, 14_900)))
    assert ("sent-in-pieces" in found(scene, drop=began)) == pieces


@pytest.mark.parametrize(
    ("size", "after_ms", "kinds"),
    [
        (46, 7_000, set()),
        (46, 3_000, {"sent-in-pieces"}),
        (100, 31_000, set()),
        (100, 7_000, {"server-silent"}),
        (500, 16_000, {"server-silent"}),
        (500, 3_000, {"sent-in-pieces"}),
        (5_000, 16_000, {"sent-in-pieces"}),
    ],
)
def test_a_word_of_tls_long_after_an_answer_is_no_piece_of_it(
    scene: Scene, size: int, after_ms: float, kinds: set[str]
) -> None:
    """TLS hides whether the answer was whole: what comes later may be an event, unless it is more than a segment."""
    hello(scene)
    scene.download(6_000)
    tells(scene, size, after_ms)
    assert {"sent-in-pieces", "server-silent"} & found(scene).keys() == kinds


def test_a_word_of_tls_with_which_more_comes_is_a_piece(scene: Scene) -> None:
    hello(scene)
    scene.download(6_000)
    tells(scene, 46, 7_000)
    tells(scene, 9_000, 100)
    assert saved_ms(scene, "sent-in-pieces") > 6_000


@pytest.mark.parametrize(
    ("size", "began", "kind"),
    [(700, BEGUN_BEFORE, "server-silent"), (5_000, BEGUN_BEFORE, "sent-in-pieces"), (700, (), "sent-in-pieces")],
    ids=["a-message", "a-transfer", "a-whole-connection"],
)
def test_a_message_long_after_an_answer_of_a_connection_from_before_the_capture_may_be_an_event(
    scene: Scene, size: int, began: tuple[int, ...], kind: str
) -> None:
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    tells(scene, size, 7_000)
    assert {"sent-in-pieces", "server-silent"} & found(scene, drop=began).keys() == {kind}


@pytest.mark.parametrize(
    ("asked", "said", "kind"),
    [(56, 45, "server-silent"), (400, 45, "server-slow"), (56, 300, "sent-in-pieces")],
    ids=["a-message", "a-request", "a-piece"],
)
def test_what_comes_long_after_two_small_messages_over_tls_may_be_an_event_however_long_it_is(
    scene: Scene, asked: int, said: int, kind: str
) -> None:
    hello(scene)
    scene.wait_ms(2_000)
    asks(scene, asked, said)
    tells(scene, 4_200, 3_000)
    told = found(scene, drop=BEGUN_BEFORE)
    assert {"server-slow", "sent-in-pieces", "server-silent"} & told.keys() == {kind}


@pytest.mark.parametrize(
    ("times_ms", "size", "think_ms", "began", "silent"),
    [
        ((40, 900, 700, 6_800, 1_200), 360, 0, BEGUN_BEFORE, True),
        ((40, 900, 700, 6_800, 1_200), 360, 900, BEGUN_BEFORE, False),
        ((40, 900, 700, 3_800, 1_200), 360, 0, BEGUN_BEFORE, False),
        ((40, 90, 70, 6_800, 120), 360, 0, BEGUN_BEFORE, False),
        ((4_000, 5_900, 4_700, 6_800, 5_200), 360, 0, BEGUN_BEFORE, False),
        ((40, 900, 700, 6_800, 1_200), 360, 0, (), False),
    ],
    ids=["at-any-time", "thought-about", "never-long", "once-late", "alike", "a-whole-connection"],
)
def test_the_same_asked_at_once_over_tls_and_answered_at_any_time_may_be_for_news(
    scene: Scene, times_ms: tuple[float, ...], size: int, think_ms: float, began: tuple[int, ...], silent: bool
) -> None:
    hello(scene)
    for late_ms in times_ms:
        scene.wait_ms(think_ms)
        asks(scene, size, 900, late_ms=late_ms)
    kinds = found(scene, drop=began).keys()
    assert ("server-silent" in kinds and "server-slow" not in kinds) == silent


@pytest.mark.parametrize(
    ("size", "soon", "think_ms", "began", "kind"),
    [
        (700, 1, 0, BEGUN_BEFORE, "server-silent"),
        (700, 5, 0, BEGUN_BEFORE, "server-slow"),
        (700, 1, 900, BEGUN_BEFORE, "server-slow"),
        (30_000, 1, 0, BEGUN_BEFORE, "server-slow"),
        (700, 1, 0, (), "server-slow"),
    ],
    ids=["a-poll", "mostly-soon", "thought-about", "a-transfer", "a-whole-connection"],
)
def test_a_request_over_tls_that_is_answered_after_a_while_may_be_a_long_poll(
    scene: Scene, size: int, soon: int, think_ms: float, began: tuple[int, ...], kind: str
) -> None:
    hello(scene)
    for _ in range(soon):
        asks(scene, size, 900)
    scene.wait_ms(think_ms)
    asks(scene, size, 900, late_ms=25_000)
    assert {"server-slow", "server-silent"} & found(scene, drop=began).keys() == {kind}


@pytest.mark.parametrize(("size", "kind"), [(60, "server-silent"), (400, "server-slow")], ids=["a-reply", "a-request"])
def test_a_reply_to_what_the_server_told_may_want_no_answer(scene: Scene, size: int, kind: str) -> None:
    """Long after an answer the server tells something, the client speaks at once, and the server six seconds later."""
    scene.handshake(rtt_ms=20)
    scene.download(60_000)
    tells(scene, 200, 9_000)
    asks(scene, size, 700, late_ms=6_000)
    assert {"server-slow", "server-silent"} & found(scene).keys() == {kind}


def test_keep_alives_of_a_byte_whose_acks_the_capture_lacks_are_no_loss(scene: Scene) -> None:
    scene.handshake(rtt_ms=20)
    scene.client_sends(86)
    for _ in range(2):
        scene.wait_ms(45_000)
        scene.client_repeats(85, 1)
    packets = len(scene.packets("client"))
    rows = found(scene, drop=tuple(number for number in range(2, packets + 1) if number not in (3, 4, 5, 6)))
    assert "loss" not in rows or not rows["loss"].weight_ns


@pytest.mark.parametrize(
    ("said", "late_ms", "tls", "silent"),
    [(115, 1_700, True, True), (1_300, 1_700, True, False), (115, 700, True, False), (115, 1_700, False, False)],
    ids=["a-whole-message", "a-piece", "sooner", "without-tls"],
)
def test_after_a_short_message_over_tls_a_silence_may_be_before_an_event(
    scene: Scene, said: int, late_ms: float, tls: bool, silent: bool
) -> None:
    if tls:
        hello(scene)
    else:
        scene.handshake(rtt_ms=20)
    scene.download(60_000)
    scene.wait_ms(2_000)
    asks(scene, 300, said, late_ms=40)
    for size in (120, 300, 500):
        tells(scene, size, late_ms)
    assert ("sent-in-pieces" in found(scene)) == (not silent)


@pytest.mark.parametrize(
    ("size", "apart_ms", "slow"),
    [(2, 1_500, False), (2, 300, True), (700, 1_500, True)],
    ids=["a-message-at-a-time", "in-one-go", "in-pieces"],
)
def test_what_comes_a_few_bytes_at_a_time_may_be_typed(scene: Scene, size: int, apart_ms: float, slow: bool) -> None:
    """Somebody at the server types lines, of which the first seems to answer what the client had sent."""
    scene.handshake(rtt_ms=20)
    asks(scene, 9_519, size, late_ms=8_600)
    for number in range(2):
        tells(scene, size, apart_ms + 100 * number)
    kinds = {"server-slow", "server-silent"} & found(scene).keys()
    assert kinds == {"server-slow" if slow else "server-silent"}
