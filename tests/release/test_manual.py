"""Each command has a man page that formatters accept, and each shell its completions."""

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from tcpstall.cli import main
from tests.cli.test_documented import COMMANDS

COMPLETIONS = {
    "bash": "bash-completion/completions/tcpstall",
    "zsh": "zsh/site-functions/_tcpstall",
    "fish": "fish/vendor_completions.d/tcpstall.fish",
}


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "share"
    assert main(["man", "--output", str(folder)]) == 0
    return folder


def _page(share: Path, name: str) -> str:
    return (share / "man" / "man1" / f"{name.replace(' ', '-')}.1").read_text()


def test_there_is_a_page_for_each_command_and_no_other(share: Path) -> None:
    pages = {path.name for path in (share / "man" / "man1").iterdir()}

    assert pages == {"tcpstall.1", *(f"tcpstall-{name.replace(' ', '-')}.1" for name in COMMANDS)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option(share: Path, name: str) -> None:
    page = _page(share, f"tcpstall {name}").replace("\\-", "-")

    told = set(re.findall(r"^\.B (?:-\w, )?(--[\w-]+)", page, re.MULTILINE))

    options = {max(each.opts, key=len) for each in COMMANDS[name].params if isinstance(each, click.Option)}
    assert told == {*options, "--help"}


def test_examples_keep_their_lines(share: Path) -> None:
    shown = '\n.nf\ntcpstall query \\-\\-store archive \\e\n    "SELECT cause, '
    assert shown in _page(share, "tcpstall query")


def test_formatters_accept_every_page(share: Path) -> None:
    pages = sorted((share / "man" / "man1").iterdir())
    if mandoc := shutil.which("mandoc"):
        done = subprocess.run([mandoc, "-Tlint", "-Wwarning", *pages], capture_output=True, text=True, check=False)
        complaints = [line for line in done.stdout.splitlines() if "missing date" not in line]
    elif groff := shutil.which("groff"):
        done = subprocess.run(
            [groff, "-man", "-Kutf8", "-Tutf8", "-ww", "-z", *pages], capture_output=True, text=True, check=False
        )
        complaints = [*done.stderr.splitlines(), *([] if done.returncode == 0 else ["it failed"])]
    else:
        pytest.skip("neither mandoc nor groff is installed")
    assert not complaints


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_a_shell_finds_its_completions(share: Path, shell: str) -> None:
    script = share / COMPLETIONS[shell]
    assert f"_TCPSTALL_COMPLETE={shell}_complete" in script.read_text()
    if program := shutil.which(shell):
        subprocess.run([program, "-n", script], check=True, timeout=30)


def test_a_page_is_written_again_over_an_older_one(share: Path) -> None:
    page = share / "man" / "man1" / "tcpstall.1"
    whole = page.read_text()
    page.write_text("old")

    assert main(["man", "--output", str(share)]) == 0

    assert page.read_text() == whole


def test_a_place_that_cannot_be_written_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "share").write_text("a file")

    assert main(["man", "--output", str(tmp_path / "share" / "below")]) == 1

    assert "cannot write" in capsys.readouterr().err
