"""`tcpstall pair` as a user calls it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, capture, cut_capture, here, picture
from tests.documents import DOCS
from tests.pair.stage import captured
from tests.scene import Scene

__all__ = ["capture", "cut_capture", "here", "picture"]

LAB = Path(__file__).parents[2] / "fixtures" / "lab"
SCHEMA = DOCS / "pair.md"


@pytest.fixture
def lossy(scene: Scene) -> tuple[Path, Path]:
    scene.handshake()
    scene.client_sends(100)
    scene.server_transfers(200_000, lose=(43_440,))
    scene.closes()
    return captured(scene, "client"), captured(scene, "server")


def test_the_first_line_says_who_waited_for_what_and_what_was_lost(here: Run, lossy: tuple[Path, Path]) -> None:
    first = here("pair", *lossy, COLUMNS="400").stdout.splitlines()[0]
    assert first.startswith("10.0.0.1:40000 → 10.0.0.2:80: the server waited ")
    assert "of it the network's time" in first
    assert "1 packet of the server lost between the taps" in first
    assert "at least 10.000 ms to the server, 10.000 ms back" in first


def test_the_lost_packet_stands_in_a_table_with_its_repair(here: Run, lossy: tuple[Path, Path]) -> None:
    text = here("pair", *lossy, COLUMNS="200").stdout
    (row,) = [line for line in text.splitlines() if " lost " in line and "43,441" in line]
    assert "sent again as" in row
    assert "arrived as" in row
    assert "waits by both views" in text


def test_nothing_is_said_to_be_lost_where_nothing_was(here: Run) -> None:
    done = here("pair", LAB / "slowstart-512k" / "receiver.pcap", LAB / "slowstart-512k" / "sender.pcap", COLUMNS="300")
    assert done.returncode == 0
    assert "nothing lost between the taps" in done.stdout.splitlines()[0]
    assert "both views give all" in done.stdout


def test_the_other_order_is_noticed(here: Run) -> None:
    text = here("pair", LAB / "slowstart-512k" / "sender.pcap", LAB / "slowstart-512k" / "receiver.pcap").stdout
    assert "the captures were given in the other order" in text


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in ("evidence", "level_bytes", "mean_time_ns"):
                yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def test_json_has_a_schema_whose_keys_are_all_documented(here: Run, lossy: tuple[Path, Path]) -> None:
    report = json.loads(here("pair", *lossy, "--format", "json").stdout)
    assert report["schema"] == "tcpstall.pair/1"
    (event,) = report["flows"][0]["events"]
    assert (event["kind"], event["seq"], event["bytes"]) == ("lost", 43_441, 1_448)
    assert report["flows"][0]["flow_in_capture"] == [0, 0]
    documented = SCHEMA.read_text()
    assert not {key for key in _keys(report) if f"`{key}`" not in documented}


def test_captures_without_a_common_flow_are_refused_in_a_line(here: Run, capture: Path) -> None:
    done = here("pair", capture, LAB / "rpc-30k" / "sender.pcap")
    assert (done.returncode, done.stdout) == (7, "")
    assert "no flow in common" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_rewritten_numbers_are_given_as_the_reason(here: Run, scene: Scene) -> None:
    scene.handshake()
    scene.download(20_000)
    done = here("pair", captured(scene, "client"), scene.capture("server", seq_offset=99_999))
    assert done.returncode == 7
    assert "sequence numbers differ" in done.stderr


def test_unreadable_inputs_have_their_exit_codes(here: Run, capture: Path, cut_capture: Path, picture: Path) -> None:
    assert here("pair", capture, "nowhere.pcap").returncode == 3
    assert here("pair", capture, picture).returncode == 4
    assert here("pair", capture, "-").returncode == 2
    done = here("pair", capture, cut_capture)
    assert done.returncode == 5
    assert done.stdout
    assert len(done.stderr.splitlines()) == 1


def test_one_capture_with_itself_is_one_place(here: Run, capture: Path) -> None:
    done = here("pair", capture, capture, COLUMNS="300")
    assert done.returncode == 0
    assert "nothing lost between the taps; at least 0 ns to the server, 0 ns back" in done.stdout.splitlines()[0]


@pytest.mark.parametrize("columns", ["80", "132", "200"])
def test_no_line_is_cut(here: Run, lossy: tuple[Path, Path], columns: str) -> None:
    text = here("pair", *lossy, COLUMNS=columns).stdout
    assert not any(line.endswith("…") for line in text.splitlines())
    assert "\x1b" not in text
