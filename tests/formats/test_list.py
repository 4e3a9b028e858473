"""The list of formats names a test for each of them, and neither it nor the page leaves one out."""

import re

import pytest

from tcpstall import _core
from tests.documents import DOCS, REPOSITORY
from tests.formats.containers import COMPRESSIONS, CONTAINERS
from tests.formats.encapsulation import EXTENSIONS, LINKS, TUNNELS

LIST = REPOSITORY / "tests" / "formats" / "README.md"
PAGE = DOCS / "formats.md"
CORE = "tcpstall/native/core/src"
FOLDERS = {
    "E": "tests/formats/test_encapsulations.py",
    "C": "tests/formats/test_containers.py",
    "L": "tests/formats/test_lies.py",
}

ROW = re.compile(r"^\| (?P<what>[^|]+) \|.* `(?P<path>[^`|]+)::(?P<test>\w+)` \|$", re.MULTILINE)
ROWS = [(row["what"].strip(), row["path"], row["test"]) for row in ROW.finditer(LIST.read_text())]


@pytest.mark.parametrize(("what", "path", "test"), ROWS, ids=[row[0] for row in ROWS])
def test_each_row_names_a_test_that_exists(what: str, path: str, test: str) -> None:
    file = REPOSITORY / FOLDERS.get(path, path.replace("R/", f"{CORE}/"))
    assert re.search(rf"^\s*(def|fn) {test}\(", file.read_text(), re.MULTILINE), f"{what}: {file} has no {test}"


def test_every_table_row_with_a_test_is_understood() -> None:
    assert len(ROWS) == len([line for line in LIST.read_text().splitlines() if re.search(r"::\w+` \|", line)])
    assert len(ROWS) == len({what for what, _, _ in ROWS})


@pytest.mark.parametrize("what", [*CONTAINERS, *COMPRESSIONS, *LINKS, *TUNNELS, *EXTENSIONS])
def test_each_form_that_is_tested_has_its_row(what: str) -> None:
    assert what in {row[0] for row in ROWS}


def test_each_form_that_the_core_knows_has_its_row() -> None:
    lists = _core.vocabulary()
    known = {name for kind in ("formats", "compressions", "link_types", "tunnels") for name in lists[kind]}
    named = {cell.strip() for line in LIST.read_text().splitlines() for cell in line.split("|")}
    assert known - named == set()
    page = PAGE.read_text().replace("the text that tcpdump prints", "tcpdump-text")
    assert {name for name in known if name not in page} == set()
