"""The command, for every test here."""

import pytest

from tests.check.flows import Told


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setenv("COLUMNS", "1000")  # names of temporary folders fold no line
    return Told(capfd)
