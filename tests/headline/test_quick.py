"""Answers that take little time each are not called slow, however many there are."""

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.scene import Scene


def told(here: Run, scene: Scene, command: str = "analyze") -> list[str]:
    """The lines of the answer to the server's capture of the scene."""
    return here(command, scene.capture("server"), COLUMNS="300").stdout.splitlines()


@pytest.mark.parametrize("think_ms", [2.0, 40.0])
def test_many_quick_answers_are_many_and_not_slow(here: Run, scene: Scene, think_ms: float) -> None:
    scene.handshake(rtt_ms=1)
    for _ in range(40):
        scene.download(5_000, think_ms=think_ms)
    scene.closes()
    first, *page = told(here, scene)
    if think_ms == 2.0:
        assert first == "10.0.0.2:80 took 39.8 ms for 40 answers of 1 flow, 995 µs each"
        assert any("quick answers: 10.0.0.2:80" in line for line in page)
        assert any("→ send fewer requests, or several at once: each answer was quick" in line for line in page)
    else:
        assert first.startswith("10.0.0.2:80 is slow to answer: 1.56 s in 40 answers of 1 flow")


@pytest.mark.parametrize(
    ("rtt_ms", "think_ms", "quick"), [(60.0, 90.0, True), (1.0, 30.0, False), (200.0, 340.0, False)]
)
def test_an_answer_within_its_round_trip_is_quick_up_to_a_tenth_of_a_second(
    here: Run, scene: Scene, rtt_ms: float, think_ms: float, quick: bool
) -> None:
    scene.handshake(rtt_ms=rtt_ms)
    for _ in range(5):
        scene.download(1_000, think_ms=think_ms)
    scene.closes()
    assert (" took " in told(here, scene)[0]) == quick


@pytest.mark.parametrize(("most_ms", "slow"), [(450.0, True), (9.0, False)])
def test_one_slow_answer_among_many_quick_ones_is_slow(here: Run, scene: Scene, most_ms: float, slow: bool) -> None:
    scene.handshake(rtt_ms=1)
    for number in range(60):
        scene.download(1_000, think_ms=most_ms if number == 30 else 1.1)
    scene.closes()
    first = told(here, scene)[0]
    assert first.endswith("nearly all in one") == slow
    assert (" is slow to answer: " in first) == slow
