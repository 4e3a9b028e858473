"""Captures of several flows, each played by a few words, and what the command says of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcpstall.cli import main
from tests.scene import Scene
from tests.scene.packet import Endpoint

Play = Callable[[Scene], None]


def played(folder: Path, *plays: Play, port: int = 80) -> Path:
    """A flow a play, ten seconds apart, taken at the client; all go to one port."""
    folder.mkdir(exist_ok=True)
    scenes = []
    for number, play in enumerate(plays):
        scene = Scene(folder, client_port=40_000 + number, start_ns=1_700_000_000_000_000_000 + number * 10**10)
        scene.server.endpoint = Endpoint("10.0.0.2", port)
        scene.client.isn += number * 1_000
        play(scene)
        scenes.append(scene)
    return scenes[0].capture("client", beside=scenes[1:])


def thinking(*pauses_ms: float) -> Play:
    """A connection with an answer after each pause of the server."""

    def play(scene: Scene) -> None:
        scene.handshake(rtt_ms=20)
        for pause in pauses_ms:
            scene.download(3_000, think_ms=pause)
        scene.closes()

    return play


def lossy(scene: Scene) -> None:
    """A download of which a segment is lost."""
    scene.handshake(rtt_ms=20)
    scene.download(300_000, lose=(144_800,))
    scene.closes()


def large(scene: Scene) -> None:
    """The same without a loss."""
    scene.handshake(rtt_ms=20)
    scene.download(300_000)
    scene.closes()


def refused(scene: Scene) -> None:
    """A connection that a RST answers."""
    scene.handshake(rtt_ms=20, refused=True)


def unreachable(scene: Scene) -> None:
    """Four SYNs without an answer."""
    scene.handshake(rtt_ms=20, lost_syns=3, answered=False)


class Told:
    """Output of `tcpstall check`, run in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd
        self.error = ""

    def run(self, *arguments: object) -> tuple[int, str]:
        """Its exit code and what it prints."""
        code = main(["check", *map(str, arguments)])
        shown = self._capfd.readouterr()
        self.error = shown.err
        return code, shown.out

    def report(self, *arguments: object) -> dict[str, Any]:
        """Its JSON."""
        code, text = self.run(*arguments, "--format", "json")
        found: dict[str, Any] = json.loads(text)
        assert found["exit_code"] == code
        return found

    def state(self, *arguments: object) -> str:
        """Verdict on the only rule."""
        (rule,) = self.report(*arguments)["rules"]
        return str(rule["state"])

    def value(self, *arguments: object) -> float:
        """Value that the only rule measured."""
        (rule,) = self.report(*arguments)["rules"]
        return float(rule["value"])
