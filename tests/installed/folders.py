"""Folders that people start tcpstall in."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.rotated.cutting import cut, of_fixture

__all__ = ["FOLDERS"]

REPOSITORY = Path(__file__).parents[2]
FIXTURES = REPOSITORY / "fixtures"

_NAMES = {
    "transfer.pcap": "slowstart-rtt7ms-512k.pcap",
    "office.pcap": "slowstart-rtt7ms-512k.pcap",
    "ticket-4711.txt": "slowstart-rtt7ms-512k.txt",
    "yesterday.pcap": "lab/initcwnd-100/sender.pcap",
    "today.pcap": "lab/slowstart-512k/sender.pcap",
    "client.pcap": "lab/sndbuf-16k/receiver.pcap",
    "server.pcap": "lab/sndbuf-16k/sender.pcap",
    "server.txt": "ss/sndbuf-16k/sender.ss",
}
"""Names of the examples, and the fixtures that stand for them."""

_STRANGERS = (
    "json",
    "struct",
    "socket",
    "pickle",
    "signal",
    "click",
    "rich",
    "duckdb",
    "polars",
    "numpy",
    "matplotlib",
)
"""Modules that tcpstall and its libraries load, or try to load."""


def _clone(folder: Path) -> None:
    """A checkout: a folder `tcpstall` without the native module lies in it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (REPOSITORY / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, folder / name)


def _elsewhere(folder: Path) -> None:
    (folder / "fixtures").symlink_to(FIXTURES)


def _hostile(folder: Path) -> None:
    """A folder of strangers' files, each of which tells that it was run."""
    _elsewhere(folder)
    trace = "import os\nopen(os.environ['TRACE'], 'a').write(__file__ + '\\n')\n"
    for name in (*_STRANGERS, "sitecustomize", "usercustomize"):
        (folder / f"{name}.py").write_text(trace)
    (folder / "tcpstall").mkdir()
    (folder / "tcpstall" / "__init__.py").write_text(trace)


def _with_captures(fill: Callable[[Path], None]) -> Callable[[Path], None]:
    def filled(folder: Path) -> None:
        folder.mkdir()
        fill(folder)
        for name, fixture in _NAMES.items():
            shutil.copyfile(FIXTURES / fixture, folder / name)
        frames = of_fixture(_NAMES["transfer.pcap"])
        for number, part in enumerate(cut(folder, frames, [len(frames) // 2])):
            Path(part).rename(folder / f"ring.pcap{number}")

    return filled


FOLDERS: Mapping[str, Callable[[Path], None]] = {
    "a clone": _with_captures(_clone),
    "another folder": _with_captures(_elsewhere),
    "a folder of strangers' files": _with_captures(_hostile),
}
"""By name; each is made where it is told to be."""
