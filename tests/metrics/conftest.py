"""Metrics as programs read them."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tcpstall.cli import main
from tests.questions.rows import Rows, made

Values = dict[tuple[str, ...], float]
"""Values by a sample's name and the values of its labels."""


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return made(tmp_path_factory.mktemp("rows") / "store")


@pytest.fixture
def rows(_made: Rows, tmp_path: Path) -> Rows:
    """A store of four services, all of whose rows are known; it may be changed."""
    shutil.copytree(_made.folder, tmp_path / "store")
    return replace(_made, folder=tmp_path / "store")


def values(text: str) -> Values:
    """Values of a text in Prometheus' older format."""
    from prometheus_client.parser import text_string_to_metric_families

    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def told(store: Path, folder: Path, *options: str) -> Values:
    """The file that `tcpstall metrics` writes."""
    file = folder / "x.prom"
    assert main(["metrics", "--store", str(store), "--output", str(file), *options]) == 0
    return values(file.read_text())


def counters(found: Values) -> Iterator[tuple[tuple[str, ...], float]]:
    """Without gauges."""
    return ((name, value) for name, value in found.items() if len(name) > 1)


def expect_no_step_back(before: Values, after: Values) -> None:
    """Every counter that was there is there, and no less."""
    less = {name: (value, after[name]) for name, value in counters(before) if after[name] < value}
    assert not less
