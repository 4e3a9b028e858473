"""The three tests that each cause owes: it fires, it stays silent just short of that, it is not fooled."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from tests.scene import Scene
from tests.scene.network import Side, Tap

Part = Literal["fires", "near miss", "look-alike"]
PARTS: tuple[Part, ...] = ("fires", "near miss", "look-alike")

Test = TypeVar("Test", bound=Callable[..., Any])

NOT_A_STALL_MS = 5
"""Scenes have round trips of 20 ms; waits far shorter than that are not what they are about."""

SYNS = range(1, 4)
"""Packets of a scene's handshake, which some captures lack."""


def _part(name: Part) -> Callable[[Test], Test]:
    def mark(test: Test) -> Test:
        test.__dict__["part"] = name
        return test

    return mark


fires = _part("fires")
near_miss = _part("near miss")
look_alike = _part("look-alike")


def causes(scene: Scene, tap: Tap | None = None, *, sender: Side = "server", **how: Any) -> list[str]:
    """The causes of a sender's waits in order of time, a cause that goes on named once."""
    found = [stall.cause for stall in scene.stalls(sender, tap, over_ms=NOT_A_STALL_MS, **how)]
    return [cause for i, cause in enumerate(found) if i == 0 or cause != found[i - 1]]


def share(scene: Scene, cause: str, tap: Tap | None = None, *, sender: Side = "server", **how: Any) -> float:
    """The part of a sender's waiting, handshake aside, that a cause has; 0 where it never waited."""
    lost = scene.lost_ms(sender, tap, **how)
    lost.pop("handshake", None)
    return lost[cause] / total if (total := sum(lost.values())) else 0.0
