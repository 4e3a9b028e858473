"""Layers of the native core point down; files everywhere stay short, and their names say something."""

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "tcpstall" / "native"
CORE = NATIVE / "core" / "src"
TESTS = Path(__file__).parents[1]
LONGEST = 400
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}

FLOOR = {"seq", "time", "packet_no", "state", "few", "vec_growth", "vec_chunks", "traits", "words", "json"}
BELOW_CAUSES = ["pause", "sender", "flow", "anonymise", "wire", "capture"]
"""From top to bottom; each may use those after it, and the floor."""

MAY_USE: dict[str, set[str]] = {layer: set(BELOW_CAUSES[i + 1 :]) | FLOOR for i, layer in enumerate(BELOW_CAUSES)}
MAY_USE |= {name: set() for name in FLOOR}
MAY_USE["causes"] = {*BELOW_CAUSES, *FLOOR}
MAY_USE["exchange"] = {"causes", *BELOW_CAUSES, *FLOOR}
MAY_USE["results"] = {"causes", "exchange", *BELOW_CAUSES, *FLOOR}
MAY_USE["copy"] = {"anonymise", "wire", "capture", *FLOOR}
MAY_USE["replay"] = {"causes", "exchange", "results", *BELOW_CAUSES, *FLOOR}
MAY_USE["engine"] = {"replay", "causes", "exchange", "results", *BELOW_CAUSES, *FLOOR}
MAY_USE["pair"] = {"engine", "results", "wire", "capture", *FLOOR}

USED = re.compile(r"\bcrate::(?:\{([^}]*)\}|(\w+))")
COMMENT = re.compile(r"//[^\n]*")

sources = pytest.mark.parametrize(
    "path", [pytest.param(path, id=str(path.relative_to(CORE))) for path in sorted(CORE.rglob("*.rs"))]
)
everything = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=str(path.relative_to(NATIVE)))
        for crate in ("core", "py")
        for path in sorted((NATIVE / crate).rglob("*.rs"))
    ],
)


def layer_of(path: Path) -> str:
    return path.relative_to(CORE).parts[0].removesuffix(".rs")


def used_layers(text: str) -> set[str]:
    """The modules that stand right after `crate::`, in use lines and in paths alike."""
    names: set[str] = set()
    for group, single in USED.findall(COMMENT.sub("", text)):
        names |= {single} if single else {re.split(r"\W", part.strip())[0] for part in group.split(",")}
    return {name for name in names if name in MAY_USE}


def test_a_group_after_crate_is_read_too() -> None:
    assert used_layers("use crate::{seq::SeqNo, time};\nlet x = crate::wire::decode(b); // crate::engine") == {
        "seq",
        "time",
        "wire",
    }


@sources
def test_arrows_only_point_down(path: Path) -> None:
    layer = layer_of(path)
    if layer == "lib":
        return
    assert layer in MAY_USE, f"{layer} has no place among the layers"
    upwards = used_layers(path.read_text()) - MAY_USE[layer] - {layer}
    assert not upwards, f"{path.relative_to(CORE)} uses {', '.join(sorted(upwards))}"


@everything
def test_a_file_stays_on_a_few_screens(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize("folder", [NATIVE.parent, TESTS], ids=["tcpstall", "tests"])
def test_a_file_of_python_stays_on_a_few_screens(folder: Path) -> None:
    files = sorted(folder.rglob("*.py"))
    assert files
    assert not [path for path in files if len(path.read_text().splitlines()) > LONGEST]


@pytest.mark.parametrize("folder", [CORE, NATIVE.parent, TESTS], ids=["core", "tcpstall", "tests"])
def test_no_file_is_named_after_nothing(folder: Path) -> None:
    files = [path for kind in ("*.rs", "*.py") for path in folder.rglob(kind) if "target" not in path.parts]
    assert not [path for path in files if EMPTY_NAMES & {path.stem, path.parent.name}]


@sources
def test_a_file_opens_with_its_purpose(path: Path) -> None:
    assert path.read_text().startswith("//!")
