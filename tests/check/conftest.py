"""The command, for every test here."""

import pytest

from tests.check.flows import Told


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Told:
    return Told(capfd)
