"""Where all changes together would give back next to nothing, the answer says so before it names the largest."""

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import here as here
from tests.scene import Scene


@pytest.mark.parametrize(("think_ms", "little"), [(3, True), (30, False)], ids=["milliseconds", "more"])
def test_milliseconds_are_little(here: Run, scene: Scene, think_ms: float, little: bool) -> None:
    scene.handshake(rtt_ms=1)
    scene.download(5_000, think_ms=think_ms)
    scene.closes()
    line = here("analyze", scene.capture("server"), COLUMNS="300").stdout.splitlines()[0]
    assert line.startswith("Little to repair: ") == little
    assert ("10.0.0.2:80 took " if little else "10.0.0.2:80 is slow to answer: ") in line


def test_a_failure_is_never_little(here: Run, scene: Scene) -> None:
    scene.handshake(rtt_ms=1)
    scene.download(5_000, think_ms=3)
    scene.client_sends(300)
    scene.server_acks()
    scene.server_resets()
    line = here("analyze", scene.capture("server"), COLUMNS="300").stdout.splitlines()[0]
    assert "Little" not in line
