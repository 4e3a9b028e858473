"""Whatever stands on the command line, the answer is a plain line with its exit code, never a defect."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tcpstall.cli import main
from tcpstall.errors import ExitCode
from tests.cli.test_documented import COMMANDS
from tests.live import tcpdumps
from tests.scene import Scene

NONSENSE = (
    "",
    "-1",
    "nan",
    "1e400",
    "²",
    str(2**63),
    str(2**64),
    "9" * 5_000,
    "x" * 5_000,
    "a\0b",
    "a\n\x1b[31mb",
    "caf\udce9",
    "+9999999999999d",
    "9" * 30 + "Gbit",
    "[::1]:99999",
    "9999-12-31T23:59:59Z",
    "initcwnd=99999999999999999999",
    "rtt=nan",
)
"""Too large, too small, empty, no numbers, no text, not for the eyes."""

BASE: dict[str, tuple[str, ...]] = {
    "analyze": ("{capture}",),
    "live": ("eth0",),
    "report": ("{capture}", "-o", "x.html"),
    "plot": ("{capture}", "--terminal"),
    "explain": (),
    "annotate": ("{capture}", "-o", "x.pcapng"),
    "wireshark": ("{capture}", "-o", "x.tcpstall"),
    "extract": ("{capture}", "-o", "x.pcap"),
    "diff": ("{capture}", "{capture}"),
    "check": ("{capture}", "--max", "lost=1h"),
    "pair": ("{capture}", "{capture}"),
    "convert": ("{capture}", "-o", "x.pcap"),
    "query": ("--store", "{store}"),
    "top": ("--store", "{store}"),
    "trend": ("--store", "{store}"),
    "scan": ("{capture}", "--store", "{store}"),
    "store": ("info", "--store", "{store}"),
    "store info": ("--store", "{store}"),
    "store prune": ("--older-than", "90000d", "--store", "{store}"),
    "store forget": ("--capture", "*", "--dry-run", "--store", "{store}"),
    "store compact": ("--store", "{store}"),
    "store check": ("--store", "{store}"),
    "store publish": ("out", "--store", "{store}"),
    "serve": ("--root", "{capture}"),
    "metrics": ("--store", "{store}"),
    "remedies": ("{capture}",),
    "man": ("-o", "share"),
    "whatif": ("{capture}",),
    "help": (),
}
"""Arguments that each command needs to run at all."""

FEW = ("", str(2**64), "x" * 5_000, "a\0b", "a\n\x1b[31mb", "caf\udce9")
DEAR = {("report", "--output"), ("report", "argument"), ("scan", "--store"), ("report", "--key")}
"""Parameters that take a second and make a page or a store of every name."""

NOT_ALONE = {"--dask"}
"""Options that would look for other machines."""

PLAIN = {int(code) for code in ExitCode}
DEFECT = re.compile(r"defect|Traceback|Error: '|Exception ignored")


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short one."""
    scene = Scene(tmp_path_factory.mktemp("capture"))
    scene.handshake(rtt_ms=20)
    scene.client_sends(100)
    scene.wait_ms(300)
    scene.server_acks()
    return scene.capture()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, capture: Path) -> Path:
    """A store of it."""
    folder = tmp_path_factory.mktemp("stores") / "store"
    assert main(["scan", str(capture), "--store", str(folder), "--jobs", "1"]) == 0
    return folder


@pytest.fixture(scope="module", autouse=True)
def nothing_is_captured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whatever interfaces there are, and whoever runs this."""
    refusing = tcpdumps.refusing(tmp_path_factory.mktemp("bin"), "tcpdump: no\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", refusing["PATH"])
        yield


def options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.is_flag and not parameter.count:
            yield max(parameter.opts, key=len)


CASES = [
    pytest.param(name, option, id=f"{name} {option}")
    for name, command in COMMANDS.items()
    for option in (*options(command), "argument")
    if option not in NOT_ALONE
]


@pytest.mark.parametrize(("name", "option"), CASES)
def test_nonsense_is_a_plain_error(
    name: str,
    option: str,
    capture: Path,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    base = [part.format(capture=capture, store=store) for part in BASE[name]]
    for value in FEW if (name, option) in DEAR else NONSENSE:
        given = [f"{option}={value}"] if option != "argument" else [value]
        code = main([*name.split(), *base, *given])
        said = capsys.readouterr().err
        assert code in PLAIN, (value, said)
        assert not DEFECT.search(said), (value, said)
        assert "\x1b" not in said
        for made in tmp_path.iterdir():
            shutil.rmtree(made) if made.is_dir() else made.unlink()


def test_every_command_has_its_turn() -> None:
    assert set(BASE) == set(COMMANDS)
