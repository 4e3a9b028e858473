"""A finding that rests on unsure labels is said to be probable."""

import dataclasses

import pytest

from tcpstall import analyze
from tcpstall.findings import findings, sentence
from tests.headline.captures import KINDS
from tests.scene import Scene


@pytest.mark.parametrize(
    ("kind", "sure", "unsure"),
    [
        ("server-slow", "10.0.0.2:80 is slow to answer: ", "10.0.0.2:80 is probably slow to answer: "),
        ("sent-in-pieces", "server slow to send at 10.0.0.2:80 ", "probably server slow to send at 10.0.0.2:80 "),
        ("loss", "loss at 10.0.0.2:80 took ", "loss at 10.0.0.2:80 took "),
    ],
)
def test_below_eighty_percent_the_sentence_says_probably(scene: Scene, kind: str, sure: str, unsure: str) -> None:
    act, _ = KINDS[kind]
    act(scene)
    first, *_ = findings(analyze(scene.capture("client")))
    for confidence, opening in ((0.93, sure), (0.8, sure), (0.79, unsure), (None, sure)):
        assert sentence(dataclasses.replace(first, confidence=confidence)).startswith(opening)


@pytest.mark.parametrize("acks", [True, False])
def test_labels_more_likely_wrong_than_right_blame_nobody(scene: Scene, acks: bool) -> None:
    """Without the ACKs of a path that nothing measures, a pause may as well be a window's."""
    scene.handshake(rtt_ms=20)
    scene.client_sends(46)
    for number in range(12):
        scene.server_sends(1_448 * (2 + number % 3), push=False)
        scene.client_acks()
        scene.wait_ms(30 + 7 * number)
    said = enumerate((packet for _, packet in scene.packets("client")), 1)
    acked = [number for number, packet in said if packet.source == scene.client.endpoint and not packet.payload]
    missing = sorted({1, 2, 3, *acked})
    rows = {row.kind for row in findings(analyze(scene.capture("client", drop=[] if acks else missing)))}
    assert ("sent-in-pieces" in rows) == acks
    assert ("unexplained" in rows) == (not acks)
