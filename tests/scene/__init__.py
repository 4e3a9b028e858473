"""A small language in which tests write TCP dialogues that become real capture files."""

from tests.scene.plan import Plan, Reader
from tests.scene.scene import Scene
from tests.scene.verdict import Between, Stall, between

__all__ = ["Between", "Plan", "Reader", "Scene", "Stall", "between"]
