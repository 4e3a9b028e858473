"""What a scene's capture leads to."""

from tcpstall import analyze
from tcpstall.findings import Finding, findings
from tests.scene import Scene
from tests.scene.network import Tap

__all__ = ["found"]


def found(scene: Scene, tap: Tap = "server") -> dict[str, Finding]:
    """The findings by their kind, the most important first."""
    return {row.kind: row for row in findings(analyze(scene.capture(tap)))}
