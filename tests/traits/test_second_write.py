"""A short second write that waits for the ACK of the first, while a full one does not."""

import pytest

from tests.causes.triple import fires, look_alike, near_miss
from tests.scene import Scene

LATE_MS = (3, 9, 14, 6, 11)
"""Delays, beyond the path's shortest, of the data that an ACK let go."""

HEAD, BODY, LARGE = 5, 662, 1_460


def answers(scene: Scene, *, bodies: list[int], late_ms: tuple[float, ...]) -> None:
    """Each answer is a status line and a body; a short one comes after the ACK of the line, and the path jitters."""
    scene.handshake(rtt_ms=95, timestamps=False)
    scene.path(rtt_ms=80)
    for body, late in zip(bodies, late_ms, strict=True):
        scene.request(10)
        scene.server_sends(HEAD)
        if body < LARGE:
            scene.wait_ms(45)
            scene.client_acks()
            scene.wait_ms(40 + late)
        scene.server_sends(body)
        scene.client_acks()
        scene.wait_ms(150)


def held(scene: Scene) -> int:
    return sum(stall.cause == "nagle" for stall in scene.stalls("server", "client", over_ms=50))


@fires
def test_short_bodies_wait_and_full_ones_do_not(scene: Scene) -> None:
    answers(scene, bodies=[LARGE, *[BODY] * 5], late_ms=(0, *LATE_MS))
    assert held(scene) == 5


@near_miss
def test_without_a_full_one_it_may_be_the_application(scene: Scene) -> None:
    answers(scene, bodies=[BODY] * 5, late_ms=LATE_MS)
    assert held(scene) < 5


@near_miss
def test_two_short_ones_at_once_show_that_none_has_to_wait(scene: Scene) -> None:
    answers(scene, bodies=[LARGE, *[BODY] * 5], late_ms=(0, *LATE_MS))
    scene.request(10)
    scene.server_sends(HEAD)
    scene.server_sends(BODY)
    scene.client_acks()
    assert held(scene) == 0


@look_alike
@pytest.mark.parametrize("late_ms", [(90, 250, 130, 400, 170)])
def test_an_application_that_takes_its_time_comes_later(scene: Scene, late_ms: tuple[float, ...]) -> None:
    answers(scene, bodies=[LARGE, *[BODY] * 5], late_ms=(0, *late_ms))
    assert held(scene) == 0
