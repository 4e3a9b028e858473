"""A store behind a URL answers as one on the disk does, and nothing beside it is read."""

from pathlib import Path

import pytest

from tcpstall.archive.asking.questions import top
from tcpstall.archive.asking.session import session
from tcpstall.archive.asking.where import Chosen
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotAnswer
from tests.questions.rows import Rows, made, stored

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return made(tmp_path_factory.mktemp("archive") / "store")


@pytest.fixture(params=["memory", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"memory:/{tmp_path}" if request.param == "memory" else str(request.getfixturevalue("bucket"))


@pytest.fixture
def url(rows: Rows, folder: str) -> str:
    """The same rows in a store there."""
    stored(Rows(f"{folder}/store", rows.flows[:-1], rows.stalls, rows.exchanges, rows.findings, rows.captures))
    return f"{folder}/store"


def test_it_answers_as_a_local_one(rows: Rows, url: str) -> None:
    with session(Store.open(url)) as there, session(Store.open(str(rows.folder))) as here:
        for table in ("flows", "stalls", "exchanges", "findings", "captures"):
            sql = f"SELECT count(*) AS n, min(scan) AS least FROM {table}"
            assert there.rows(sql) == here.rows(sql)
        assert there.rows("SELECT * FROM errors") == here.rows("SELECT * FROM errors")
        assert top(there, "service", Chosen(), 10) == top(here, "service", Chosen(), 10)


def test_what_lies_beside_it_is_refused(url: str, folder: str) -> None:
    files, path = fsspec.url_to_fs(f"{folder}/secret.csv")
    files.pipe_file(path, b"a\nsecret\n")
    with session(Store.open(url)) as asked:
        for name in (f"{folder}/secret.csv", f"{url}/../secret.csv", f"{url}/store.json", "/etc/passwd"):
            with pytest.raises(CannotAnswer):
                asked.rows(f"SELECT * FROM read_text('{name}')")
