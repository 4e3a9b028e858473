"""A scene of its own for each test."""

from pathlib import Path

import pytest

from tests.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)
