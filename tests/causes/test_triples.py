"""No cause without its three tests."""

import importlib
from pathlib import Path

import pytest

from tcpstall import _core
from tests.causes.triple import PARTS

HERE = Path(__file__).parent


@pytest.mark.parametrize("cause", [info.name for info in _core.causes()])
def test_a_cause_has_its_three_tests(cause: str) -> None:
    name = f"test_{cause.replace('-', '_')}"
    assert (HERE / f"{name}.py").exists(), f"tests/causes/{name}.py is missing"
    module = importlib.import_module(f"tests.causes.{name}")
    parts = {getattr(value, "part", None) for key, value in vars(module).items() if key.startswith("test_")}
    assert set(PARTS) <= parts


def test_no_test_file_is_left_of_a_cause_that_went() -> None:
    files = {path.stem.removeprefix("test_").replace("_", "-") for path in HERE.glob("test_*.py")} - {"triples"}
    assert files == {info.name for info in _core.causes()}
