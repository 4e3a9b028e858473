"""`--store S --flow SCAN/FLOW` opens any flow of a store from its captures, and says which of them is gone."""

import gzip
import html
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tcpstall.archive.asking.session import session
from tcpstall.archive.scanning.scan import scan
from tcpstall.archive.storing.store import Store
from tcpstall.cli import main
from tests.archive.here import here
from tests.archive.trees import tar
from tests.conftest import FIXTURES
from tests.properties.frames import Frame
from tests.rotated.cutting import CAPTURES, cut, of_fixture, of_many_flows, write

pytest.importorskip("duckdb", reason="duckdb is not installed")

COMMANDS: dict[str, list[str]] = {
    "analyze": ["--format", "json"],
    "report": ["-o", "made.html"],
    "plot": ["-o", "made.svg"],
    "extract": ["-o", "made.pcap"],
    "annotate": ["-o", "made.pcapng"],
    "whatif": ["--format", "json"],
    "remedies": ["--format", "json"],
}

Said = tuple[int, str, str]
Say = Callable[..., Said]
Row = dict[str, Any]


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Each command in a folder of its own."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def _say(*arguments: object) -> Said:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return _say


def scanned(store: object, *roots: object) -> str:
    scan([str(root) for root in roots], str(store), executor=here)
    return str(store)


def flows(store: str) -> list[Row]:
    with session(Store.open(store)) as asked:
        return asked.rows("SELECT * FROM flows ORDER BY scan, flow")


def opened(say: Say, store: str, flow: Row, *, digits: int = 16) -> Row:
    code, out, err = say("analyze", "--store", store, "--flow", f"{flow['scan'][:digits]}/{flow['flow']}", *_JSON)
    assert (code, err) == (0, "")
    [found] = json.loads(out)["flows"]
    return dict(found)


_JSON = ("--format", "json", "--no-bursts")


def agrees(found: Row, stored: Row) -> bool:
    ends = [(found[end]["address"], found[end]["port"]) for end in ("client", "server")]
    return (
        ends == [(stored[f"{end}_address"], stored[f"{end}_port"]) for end in ("client", "server")]
        and (found["start_ns"], found["end_ns"]) == (stored["start_ns"], stored["end_ns"])
        and (found["lost_ns"], found["segments"]) == (stored["lost_ns"], stored["segments"])
    )


@pytest.fixture
def ring(tmp_path: Path) -> list[str]:
    """Seven files of one capture whose connections cross them, one compressed."""
    folder = tmp_path / "ring"
    folder.mkdir()
    return cut(folder, of_many_flows(), [60, 130, 200, 300, 420, 600], ["pcap", "pcap.gz"])


def in_turn(folder: Path) -> list[str]:
    """Three connections after each other; the first file holds the first, the second one crosses to the last file."""
    frames: list[Frame] = []
    for place, name in enumerate(CAPTURES[:3]):
        own = of_fixture(name)
        shift = 10**18 + place * 1_000 * 10**9 - own[0].time_ns
        frames += [replace(frame, time_ns=frame.time_ns + shift) for frame in own]
    first, second = (len(of_fixture(name)) for name in CAPTURES[:2])
    folder.mkdir()
    return cut(folder, frames, [first, first + second // 2])


def test_each_flow_of_rotated_files_is_opened_as_it_was_scanned(say: Say, tmp_path: Path, ring: Sequence[str]) -> None:
    store = scanned(tmp_path / "store", tmp_path / "ring")
    known = flows(store)
    assert len(known) >= 4
    assert {flow["scan"] for flow in known} == {known[0]["scan"]}
    assert all(agrees(opened(say, store, flow, digits=5), flow) for flow in known)


def test_a_set_that_was_scanned_in_steps_is_opened_whole(say: Say, tmp_path: Path) -> None:
    files = in_turn(tmp_path / "ring")
    later = Path(files[2]).rename(tmp_path / "later")
    store = scanned(tmp_path / "store", tmp_path / "ring")
    later.rename(files[2])
    scanned(store, tmp_path / "ring")
    known = flows(store)
    assert len(known) == 3
    assert len({flow["scan"] for flow in known}) == 2
    assert all(agrees(opened(say, store, flow), flow) for flow in known)


def test_only_the_files_that_hold_the_flow_are_needed(say: Say, tmp_path: Path) -> None:
    files = in_turn(tmp_path / "ring")
    store = scanned(tmp_path / "store", tmp_path / "ring")
    early, _, late = sorted(flows(store), key=lambda flow: int(flow["start_ns"]))
    Path(files[0]).unlink()
    assert agrees(opened(say, store, late), late)
    code, _, err = say("analyze", "--store", store, "--flow", f"{early['scan']}/{early['flow']}")
    assert code == 3
    assert re.fullmatch(
        rf"tcpstall: cannot open {re.escape(files[0])}: No such file or directory; "
        r"it was scanned on \d{4}-\d\d-\d\d at \d\d:\d\d:\d\d UTC\n",
        err,
    )


def test_what_is_cut_out_of_rotated_files_is_what_one_file_holds(say: Say, tmp_path: Path, ring: Sequence[str]) -> None:
    store = scanned(tmp_path / "store", tmp_path / "ring")
    whole = write(tmp_path / "whole.pcap", of_many_flows())
    code, out, _ = say("analyze", whole, *_JSON)
    assert code == 0
    numbers = {(each["client"]["port"], each["start_ns"]): each["id"] for each in json.loads(out)["flows"]}
    for flow in flows(store):
        named = f"{flow['scan']}/{flow['flow']}"
        number = numbers[flow["client_port"], flow["start_ns"]]
        assert say("extract", "--store", store, "--flow", named, "-o", "stored.pcap")[0] == 0
        assert say("extract", whole, "--flow", number, "-o", "plain.pcap")[0] == 0
        assert Path("stored.pcap").read_bytes() == Path("plain.pcap").read_bytes()
        if flow["stalls"]:
            assert say("annotate", "--store", store, "--flow", named, "-o", "stored.pcapng")[0] == 0
            code, out, _ = say("analyze", "stored.pcapng", *_JSON)
            assert code == 0
            assert any(agrees(each, flow) for each in json.loads(out)["flows"])


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_opens_a_flow_over_several_files(
    say: Say, tmp_path: Path, ring: Sequence[str], command: str
) -> None:
    store = scanned(tmp_path / "store", tmp_path / "ring")
    flow = max(flows(store), key=lambda each: int(each["lost_ns"]))
    code, out, err = say(command, "--store", store, "--flow", f"{flow['scan'][:4]}/{flow['flow']}", *COMMANDS[command])
    assert code == 0, err
    if command in ("analyze", "whatif", "remedies"):
        assert str(flow["client_port"]) in out
        assert ring[0] in out or ring[1] in out or command == "remedies"
    else:
        assert Path(COMMANDS[command][1]).stat().st_size > 1_000


def test_the_store_may_be_named_by_the_environment(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = write(tmp_path / "a.pcap", of_fixture("lab/rpc-30k/sender.pcap"))
    monkeypatch.setenv("TCPSTALL_STORE", scanned(tmp_path / "store", capture))
    [flow] = flows(str(tmp_path / "store"))
    assert say("analyze", "--flow", f"{flow['scan']}/0")[0] == 0
    assert say("analyze", capture, "--flow", "0")[0] == 0


def test_a_changed_capture_is_told_and_a_touched_one_is_opened(say: Say, tmp_path: Path) -> None:
    capture = Path(write(tmp_path / "a.pcap", of_fixture("lab/rpc-30k/sender.pcap")))
    store = scanned(tmp_path / "store", capture)
    [flow] = flows(store)
    os.utime(capture, ns=(10**18, 10**18))
    assert agrees(opened(say, store, flow), flow)
    with capture.open("ab") as file:
        file.write(capture.read_bytes()[24:90])
    assert say("analyze", "--store", store, "--flow", f"{flow['scan']}/0")[0] in (0, 5)
    capture.write_bytes(b"\0" * capture.stat().st_size)
    code, out, err = say("analyze", "--store", store, "--flow", f"{flow['scan']}/0")
    assert (code, out) == (3, "")
    assert re.match(rf"tcpstall: {capture} has changed since: it was scanned on 2.* UTC; scan it again", err)
    assert err.count("\n") == 1


def test_a_pipe_in_the_place_of_a_capture_is_never_opened(say: Say, tmp_path: Path) -> None:
    capture = Path(write(tmp_path / "a.pcap", of_fixture("lab/rpc-30k/sender.pcap")))
    store = scanned(tmp_path / "store", capture)
    [flow] = flows(store)
    capture.unlink()
    os.mkfifo(capture)
    code, _, err = say("extract", "--store", store, "--flow", f"{flow['scan']}/0", "-o", "made.pcap")
    assert (code, err) == (3, f"tcpstall: cannot open {capture}: it is no regular file\n")


def test_a_relative_name_says_where_it_is_meant(say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(write(Path("a.pcap"), of_fixture("lab/rpc-30k/sender.pcap")))
    store = scanned(tmp_path / "store", "a.pcap")
    [flow] = flows(store)
    assert agrees(opened(say, store, flow), flow)
    monkeypatch.chdir(tmp_path)
    code, _, err = say("analyze", "--store", store, "--flow", f"{flow['scan']}/0")
    assert code == 3
    assert err.endswith("; its name is relative: give this command where the scan ran\n")


def test_a_prefix_of_two_scans_lists_them(say: Say, tmp_path: Path) -> None:
    for number in range(17):  # one more than there are digits
        content = (FIXTURES / "slowstart-rtt7ms-512k.pcap").read_bytes()
        (tmp_path / f"{chr(97 + number)}.pcap").write_bytes(content + bytes(number))
    store = scanned(tmp_path / "store", *tmp_path.glob("*.pcap"))
    scans = sorted({flow["scan"] for flow in flows(store)})
    [prefix, *_] = [one[0] for one, other in pairwise(scans) if one[0] == other[0]]
    code, out, err = say("analyze", "--store", store, "--flow", f"{prefix}/0")
    assert (code, out) == (2, "")
    meant = [scan for scan in scans if scan.startswith(prefix)]
    assert f"{len(meant)} scans begin with {prefix}: " in err
    assert all(scan in err for scan in meant[:5])
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--flow", "ffffffffffffffff/0"], 7, "no scan of the store begins with ffffffffffffffff"),
        (["--flow", "{scan}/99"], 7, "has no flow 99: its flows are numbered up to 0"),
        (["--flow", "xyz/0"], 2, "write the columns scan and flow as SCAN/FLOW"),
        (["--flow", "{scan}/0", "--flow", "1"], 2, "can be given once"),
        (["--flow", "{scan}/0", "a.pcap"], 2, "leave CAPTURE out"),
        (["--flow", "0", "a.pcap"], 2, "give CAPTURE, or --store with --flow SCAN/FLOW"),
        (["--flow", "0"], 2, "missing argument 'CAPTURE', or --store with --flow SCAN/FLOW"),
        (["--flow", "{scan}/0", "--merge"], 2, "the scan has decided which files are one"),
    ],
)
def test_what_cannot_be_meant_is_refused(say: Say, tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    store = scanned(tmp_path / "store", FIXTURES / "slowstart-rtt7ms-512k.pcap")
    [flow] = flows(store)
    found, out, err = say("analyze", "--store", store, *(word.format(scan=flow["scan"]) for word in arguments))
    assert (found, out) == (code, "")
    assert says in err


def test_a_flow_of_a_store_needs_the_store(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TCPSTALL_STORE", raising=False)
    code, _, err = say("analyze", "--flow", "0f/0")
    assert code == 2
    assert "give --store too" in err


PRINTED = re.compile(r'<code class="filter">(tcpstall [^<]+)</code>')

NAMES = {
    "plain.pcap": "lab/rpc-30k/sender.pcap",
    'it\'s a "$(name)" & more.pcap': "lab/zero-window-6s/sender.pcap",
    "idle.pcap": "lab/idle-restart-on/sender.pcap",
}


@pytest.fixture(params=["folder", "archive", "memory", "s3"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Folders of captures, and of a store of them: names that a shell would take for more than names."""
    held = {name: (FIXTURES / path).read_bytes() for name, path in NAMES.items()}
    held["packed.pcap.gz"] = gzip.compress((FIXTURES / "slowstart-rtt7ms-512k.pcap").read_bytes(), mtime=0)
    held["in it/old.tgz"] = gzip.compress(tar({"a b/c.pcap": (FIXTURES / "lab/edge-14480/sender.pcap").read_bytes()}))
    if request.param == "archive":
        held = {"all of it.tar": tar({name: content for name, content in held.items() if "tgz" not in name})}
    root = {
        "memory": f"memory:/{tmp_path}/caps",
        "s3": f"{request.getfixturevalue('bucket') if request.param == 's3' else ''}/caps",
    }.get(request.param, str(tmp_path / "caps"))
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    for name, content in held.items():
        with (
            fsspec.open(f"{root}/{name}", "wb", auto_mkdir=True)
            if "://" not in root
            else fsspec.open(f"{root}/{name}", "wb") as file
        ):
            file.write(content)
    return root, f"{root.removesuffix('/caps')}/a store"


def commands(page: str) -> Iterator[list[str]]:
    for line in page.splitlines():
        if line.startswith("   tcpstall "):
            yield shlex.split(line)


def test_what_top_prints_runs_as_printed(say: Say, archive: tuple[str, str]) -> None:
    store = scanned(archive[1], archive[0])
    known = {f"{flow['scan']}/{flow['flow']}": flow for flow in flows(store)}
    printed = set()
    for question in ([], ["--by", "service"], ["--by", "cause"]):
        code, out, err = say("top", "--store", store, *question)
        assert code == 0, err
        found = [tuple(words) for words in commands(out)]
        assert len(found) == (1 if question else out.count("\n   see "))
        printed |= set(found)
    assert len(printed) >= 2
    for name, *words in printed:
        assert name == "tcpstall"
        code, out, err = say(*words)
        assert (code, err) == (0, "")
        assert str(known[words[words.index("--flow") + 1]]["client_port"]) in out


def test_what_the_page_prints_runs_as_printed(say: Say, archive: tuple[str, str]) -> None:
    store = scanned(archive[1], archive[0])
    assert say("report", "--store", store, "-o", "archive.html")[0] == 0
    printed = [shlex.split(html.unescape(line)) for line in PRINTED.findall(Path("archive.html").read_text())]
    assert len(printed) >= 4
    code, out, _ = say("top", "--store", store, "--format", "json")
    assert code == 0
    assert {row["example_command"] for row in json.loads(out)} == {shlex.join(words) for words in printed}
    for name, *words in printed:
        assert name == "tcpstall"
        assert say(*words)[::2] == (0, "")
        assert "Plots" in Path(words[-1]).read_text() or "<canvas" in Path(words[-1]).read_text()
