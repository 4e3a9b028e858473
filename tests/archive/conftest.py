"""A small archive, scans of it, and a server on the loopback interface that speaks S3."""

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest

from tcpstall.archive.planning import plan, to_do
from tcpstall.archive.scanning.scan import scan
from tests.archive.here import here
from tests.cli.conftest import environment
from tests.tools.bench.archive import BROKEN, Rotating
from tests.tools.bench.captures import Capture, mixed, short

FILE_BYTES = 60_000

EXHAUSTIVE = os.environ.get("TCPSTALL_EXHAUSTIVE") == "1"
"""All kills and all damages, not those of the gate alone."""


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Its endpoint; this process and those that it starts find it through the environment."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = pytest.importorskip("moto.server", reason="moto's server is not installed")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    added = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield added["AWS_ENDPOINT_URL"]
    finally:
        running.stop()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture
def bucket(s3_server: str, request: pytest.FixtureRequest) -> str:
    """A new one, as a URL."""
    import s3fs

    name = f"b{abs(hash(request.node.nodeid)):x}"
    files = s3fs.S3FileSystem()
    files.mkdir(name)
    return f"s3://{name}"


@cache
def written(kind: Callable[[int], Capture], flows: int, packets: int) -> bytes:
    """Such a capture; most tests ask for the same few."""
    out = BytesIO()
    kind(flows).write(out, packets)
    return out.getvalue()


def rotated(seconds: int, packets: int = 700) -> list[bytes]:
    """Files of one capture whose connections cross them."""
    rotating = Rotating(FILE_BYTES, seconds)
    rotating.write(written(mixed, 1, packets))
    rotating.close()
    return [content for _, content in rotating.files]


def single(seconds: int, packets: int = 1_300) -> bytes:
    """Short connections in one file."""
    rotating = Rotating(1 << 30, seconds)
    rotating.write(written(short, 50, packets))
    rotating.close()
    return rotating.files[0][1]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rotated, compressed, packed and broken captures in folders; not to be changed."""
    folder = tmp_path_factory.mktemp("archive")
    for host, day in (("web", 0), ("db", 86_400)):
        (folder / host).mkdir()
        for number, content in enumerate(rotated(day)):
            (folder / host / f"eth0.pcap{number}").write_bytes(content)
    (folder / "single").mkdir()
    for number in range(4):
        (folder / "single" / f"{'abcd'[number]}.pcap").write_bytes(single(number * 3_600))
    (folder / "single" / "packed.pcap.gz").write_bytes(gzip.compress(single(40_000)))
    with tarfile.open(folder / "old.tar", "w") as tar:
        (folder / "member.pcap").write_bytes(single(50_000))
        tar.add(folder / "member.pcap", "2025/member.pcap")
    (folder / "member.pcap").unlink()
    (folder / "broken").mkdir()
    for how, damage in BROKEN.items():
        ending = ".pcap.gz" if how.endswith(".gz") else ".pcap"
        (folder / "broken" / f"{how.removesuffix('.gz')}{ending}").write_bytes(damage(single(60_000)))
    (folder / "notes.txt").write_text("nothing that a capture is\n")
    return folder


@pytest.fixture
def archive(made: Path, tmp_path: Path) -> Path:
    """A copy of that archive, to be changed."""
    return Path(shutil.copytree(made, tmp_path / "captures"))


@pytest.fixture(scope="session")
def undisturbed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the archive, which must not be changed; captures are named as they are in `made`."""
    store = tmp_path_factory.mktemp("stores") / "undisturbed"
    scan([str(made)], str(store), executor=here)
    return store


@pytest.fixture
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit a set."""
    for module in (plan, to_do):
        monkeypatch.setattr(module, "TASK_BYTES", 1)


def command(archive: Path, store: Path, *options: str) -> subprocess.Popen[bytes]:
    """`tcpstall scan`, started in a process group of its own.

    A signal may come between the opening of a file and its `with`, which Python can tell as ResourceWarning only.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "tcpstall", "scan", str(archive), "--store", str(store), *options],
        stderr=subprocess.PIPE,
        env=environment(PYTHONWARNINGS="error,ignore::ResourceWarning"),
        start_new_session=True,
    )


def in_turn(folder: Path) -> list[Path]:
    """Rotated files, by their numbers."""
    return sorted(folder.iterdir(), key=lambda file: int(file.suffix.removeprefix(".pcap")))
