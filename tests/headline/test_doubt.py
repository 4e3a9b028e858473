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
def test_below_sixty_percent_the_sentence_says_probably(scene: Scene, kind: str, sure: str, unsure: str) -> None:
    act, _ = KINDS[kind]
    act(scene)
    first, *_ = findings(analyze(scene.capture("client")))
    for confidence, opening in ((0.93, sure), (0.6, sure), (0.59, unsure), (None, sure)):
        assert sentence(dataclasses.replace(first, confidence=confidence)).startswith(opening)
