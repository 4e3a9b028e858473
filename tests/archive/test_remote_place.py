"""A store's folder behind a URL: whole files or none, and one writer."""

import json
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.captures import remote
from tcpstall.archive.storing import lease as leases
from tcpstall.archive.storing.remote_storage import RemotePlace
from tcpstall.archive.storing.storage import Place, at
from tcpstall.archive.storing.store import Store
from tcpstall.errors import CannotOpen, CannotWrite, StoreInUse


@pytest.fixture(params=["memory", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return f"memory:/{tmp_path}/store"
    return f"{request.getfixturevalue('bucket')}/some/store"


@pytest.fixture
def place(url: str) -> Place:
    return at(url)


def test_what_is_put_is_read_listed_and_removed(place: Place) -> None:
    assert place.read("a/b.json") is None
    assert place.names("a") == []
    place.put("a/b.json", b"one")
    place.put("a/b.json", b"two")
    place.put("c", b"three")
    assert place.read("a/b.json") == b"two"
    assert place.names("a") == ["a/b.json"]
    assert place.names("") == ["a/b.json", "c"]
    place.remove(["a/b.json", "a/gone", "c"])
    assert place.names("") == []


def test_a_file_is_taken_from_scratch(place: Place) -> None:
    file = place.scratch / "x.parquet"
    file.write_bytes(bytes(1 << 20))
    place.take("flows/day=2026-11-21/x.parquet", file)
    assert not file.exists()
    assert place.read("flows/day=2026-11-21/x.parquet") == bytes(1 << 20)
    assert place.names("") == ["flows/day=2026-11-21/x.parquet"]


def test_paths_lead_back(place: Place, url: str) -> None:
    place.put("a/b", b"x")
    assert place.path("a/b") == f"{url}/a/b"
    files, path = remote.filesystem(place.path("a/b"))
    assert files.cat_file(path) == b"x"


def test_a_second_writer_is_refused_while_the_first_lives(url: str) -> None:
    one, other = at(url), at(url)
    with one.writing():
        with pytest.raises(StoreInUse, match="another scan is writing"), other.writing():
            pass
        one.put("x", b"")
    with other.writing():
        other.put("x", b"")
    assert other.names("lock") == []


def test_a_killed_writer_keeps_others_out_until_its_lease_ends(url: str) -> None:
    place = at(url)
    told = {"owner": "process 1 of nowhere", "until_ns": time.time_ns() + 60_000_000_000}
    place.put("lock/dead.json", json.dumps(told).encode())
    with pytest.raises(StoreInUse, match=r"process 1 of nowhere.*ends in (60|59|61) s"), place.writing():
        pass
    place.put("lock/dead.json", json.dumps(told | {"until_ns": time.time_ns() - 1}).encode())
    with place.writing():
        assert "lock/dead.json" not in place.names("lock")


@pytest.mark.skipif(not Path("/proc/self/ns/pid").is_symlink(), reason="/proc does not tell processes here")
def test_a_writer_killed_on_this_machine_keeps_nobody_out(bucket: str) -> None:
    program = (
        "import sys, time\nfrom tcpstall.archive.storing.storage import at\n"
        "with at(sys.argv[1]).writing():\n    print('holds it', flush=True)\n    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", program, bucket]
    place = at(bucket)
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"holds it\n"
        with pytest.raises(StoreInUse, match=f"process {writer.pid}"), place.writing():
            pass
        writer.kill()
    with place.writing():
        assert len(place.names("lock")) == 1


def test_a_lease_is_renewed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEWED_NS", 1_000_000)
    place = at(url)
    with place.writing():
        (name,) = place.names("lock")
        first = place.read(name)
        until = time.monotonic() + 30
        while place.read(name) == first and time.monotonic() < until:
            time.sleep(0.002)
        assert place.read(name) != first


def test_who_lost_the_lease_writes_no_more(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = at(url)
    with place.writing():
        true = time.time_ns
        monkeypatch.setattr(time, "time_ns", lambda: true() + leases.LASTS_NS)
        with pytest.raises(CannotWrite, match="another may write"):
            place.put("x", b"")


def test_a_lease_that_is_being_written_counts(url: str) -> None:
    place = at(url)
    place.put("lock/half.json", b'{"owner": "proc')
    with pytest.raises(StoreInUse), place.writing():
        pass


def test_what_another_left_unfinished_is_swept(url: str) -> None:
    place = at(url)
    place.put(f"unfinished/{uuid.uuid4().hex}", b"half")
    place.put("unfinished/a strangers file", b"whole")
    with place.writing():
        assert place.names("unfinished") == ["unfinished/a strangers file"]


def test_a_store_lives_there(url: str) -> None:
    with pytest.raises(CannotOpen, match="no store is here"):
        Store.open(url)
    with Store.writing(url) as store:
        assert store.files("flows") == []
    assert Store.open(url).recent("captures") == []


def test_a_folder_of_other_things_is_refused(url: str) -> None:
    at(url).put("photo.jpg", b"x")
    with pytest.raises(CannotOpen, match="other files"), Store.writing(url):
        pass


class Broken:
    """A filesystem whose every call fails, as drivers do: with errors of their own, over several lines."""

    def __getattr__(self, name: str) -> Any:
        def failing(*_: Any, **__: Any) -> None:
            raise RuntimeError("the share is gone\nTraceback: at line 5")

        return failing


def test_a_vanished_share_is_one_clear_line(tmp_path: Path) -> None:
    place = RemotePlace(f"memory:/{tmp_path}/store")
    place._files = Broken()
    for act in (lambda: place.read("a"), lambda: place.names("a")):
        with pytest.raises(CannotOpen, match=r"the share is gone$"):
            act()
    file = tmp_path / "file"
    file.write_bytes(b"")
    with pytest.raises(CannotWrite, match=r"the share is gone$"):
        place.put("a", b"")
    with pytest.raises(CannotWrite, match=r"the share is gone$"):
        place.take("a", file)
    with pytest.raises(CannotWrite, match=r"the share is gone$"):
        place.remove(["a"])
    with pytest.raises(CannotWrite, match=r"the share is gone$"), place.writing():
        pass


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("gs://bucket/x", r"pip install 'tcpstall\[gcs\]'"),
        ("abfs://container/x", r"pip install 'tcpstall\[azure\]'"),
        ("sftp://host/x", r"pip install 'tcpstall\[sftp\]'"),
        ("nonsense://x/y", "install a driver"),
        ("s3://me:secret@bucket/x", "no passwords in URLs"),
    ],
)
def test_what_is_missing_is_said(given: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def without_drivers(url: str) -> Any:
        if url.startswith("nonsense"):
            raise ValueError("Protocol not known: nonsense")
        raise ImportError("No module named 'x'")

    monkeypatch.setattr(fsspec.core, "url_to_fs", without_drivers)
    with pytest.raises(CannotOpen, match=said) as raised:
        at(given)
    assert "secret" not in str(raised.value)
