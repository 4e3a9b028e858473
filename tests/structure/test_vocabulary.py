"""Each word of the core is spelled once: Python and the pages take it from `_core`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcpstall import Cause, _core
from tcpstall.causes import Detail
from tcpstall.report.whatif.words import REFUSALS
from tcpstall.whatif import NAMES
from tests.documents import DOCS, REPOSITORY

OTHER_MEANINGS = {"half-open", "acked-unseen", "left-out"}
"""Details that are an outcome, a note or a key of advice, too."""

OWN = {detail.value for detail in Detail if "-" in detail} - OTHER_MEANINGS


def spelled(path: Path) -> Iterator[str]:
    """Details that a Python file writes as a text of its own."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in OWN:
            yield f"{path.name}:{node.lineno} {node.value}"


def test_a_detail_is_found_where_it_is_spelled(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""slow-reader"""\nif detail == "slow-reader":\n    pass\n')
    assert list(spelled(tmp_path / "a.py")) == ["a.py:1 slow-reader", "a.py:2 slow-reader"]


def test_no_python_file_spells_a_detail() -> None:
    files = (path for path in (REPOSITORY / "tcpstall").rglob("*.py") if "native" not in path.parts)
    assert [word for path in files for word in spelled(path)] == []


@pytest.mark.parametrize("cause", list(Cause))
def test_explain_names_each_detail_of_a_cause(cause: Cause) -> None:
    assert [detail for detail in cause.details if f"`{detail}`" not in cause.documentation] == []


def test_every_detail_is_one_of_a_cause() -> None:
    assert {detail.value for detail in Detail} == {detail for cause in Cause for detail in cause.details}


def test_whatif_takes_the_changes_that_the_core_replays() -> None:
    assert list(NAMES) == _core.vocabulary()["changes"]


def test_the_page_on_whatif_names_each_change_and_each_refusal_has_words() -> None:
    page = (DOCS / "whatif.md").read_text()
    assert [name for name in _core.vocabulary()["changes"] if f"`{name}" not in page] == []
    assert _core.vocabulary()["refusals"] == list(REFUSALS)
