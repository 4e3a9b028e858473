"""Goldens: texts of this folder that tests compare with, and that `--update-goldens` writes anew."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tcpstall.units import counted

Golden = Callable[[str, str], None]


@pytest.fixture(scope="session")
def golden(pytestconfig: pytest.Config) -> Golden:
    """Compares a text with the golden of that name; with `--update-goldens` writes it instead."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).with_name(name)
        if pytestconfig.getoption("--update-goldens"):
            path.write_text(text, "utf-8")
        expected = path.read_text("utf-8").splitlines() if path.is_file() else []
        moved = [f"{was}\n  now: {line}" for was, line in zip(expected, text.splitlines(), strict=False) if was != line]
        advice = "if that is meant: pytest tests/goldens --update-goldens"
        told = [f"{name}: {counted(len(moved), 'line')} moved; {advice}", *moved]
        assert text.splitlines() == expected, "\n".join(told)

    return compare
