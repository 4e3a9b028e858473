"""The fixtures that every test may ask for."""

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile("gate", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("gate")

FIXTURES = Path(__file__).parent.parent / "fixtures"

LONGEST = (
    "cost/test_growth.py",
    "archive/test_cluster.py",
    "archive/test_faults.py",
    "tools/lab/test_pairs.py",
    "crowd/test_memory.py",
    "archive/test_stored_flows.py",
    "questions/test_hours.py",
    "cli/test_nonsense.py",
    "archive/test_damage.py",
    "formats/test_encapsulations.py",
    "archive/test_repair.py",
    "questions/test_filters.py",
    "packets/test_wireshark.py",
    "questions/test_page.py",
    "archive/test_interrupted.py",
    "archive/test_environment.py",
    "archive/test_rings.py",
    "archive/test_drill_down.py",
    "properties/test_form.py",
    "headline/test_page.py",
    "archive/test_remote_answers.py",
    "questions/test_query.py",
    "packets/test_annotate.py",
    "headline/test_width.py",
)
"""Files of tests that take longest, the longest first; the others follow by their number of tests.

A file is one process's: were a long one begun last, the other processors would wait for its end.
"""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts files of tests in the order in which the gate begins them."""
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(LONGEST)}
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (ranks.get(item.path, len(LONGEST)), -tests[item.path], item.path))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-goldens`: see tests/goldens/conftest.py."""
    parser.addoption("--update-goldens", action="store_true", help="Write the goldens of tests/goldens anew.")


def pytest_configure() -> None:
    """What starts the run in the background, or by nohup, has signals ignored, and programs inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """An empty stage: 20 ms of round trip, the tap at the server."""
    return Scene(tmp_path)


@pytest.fixture(params=["server", "client"])
def tap(request: pytest.FixtureRequest) -> str:
    """Both ends: where the server sends, its own tap and the receiver's."""
    return str(request.param)


@pytest.fixture(
    params=[
        pytest.param(path, id=path.name)
        for path in sorted(FIXTURES.glob("**/*"))
        if path.suffix in {".pcap", ".pcapng", ".cap", ".txt"}
    ]
)
def fixture_capture(request: pytest.FixtureRequest) -> Path:
    """Every capture in fixtures/."""
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """A browser, or the reason why there is none.

    It ends with its file: while it lives, its event loop runs in this thread, where others would have none of theirs.
    """
    pytest.importorskip("playwright", reason="playwright is not installed")
    from tests.page.chromium import browser, program

    executable = program()
    if executable is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with browser(executable) as started:
        yield started
